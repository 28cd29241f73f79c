//! Tests of the real binary, of real git, processes and files; a module for each area.

#[cfg(test)]
mod cli;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod example;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod git;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod sys;
#[cfg(test)]
mod taskfiles;
