//! The machine (being written).

pub mod facts;
