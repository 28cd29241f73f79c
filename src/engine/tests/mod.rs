//! The engine with a disk that can stop at any write, and a world in memory.

mod crash;
mod double;
mod film;
mod night;
mod power;
