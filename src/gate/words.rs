//! Foreign words made fit for a message.
//!
//! Owns: what text from Maven, PIT, reports and file names becomes before anybody reads it.
//!
//! Promises: those of [`crate::source::text`].
//!
//! Refuses to know: who reads it.

pub(crate) use crate::source::text::{count, line, names};
