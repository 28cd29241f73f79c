//! The one binary of integration tests.

mod gate;
mod support;
