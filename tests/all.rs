//! The one binary of integration tests.

#[cfg(test)]
mod gate;
#[cfg(test)]
mod support;
