//! The one test binary: what needs the real binary, real tools or real files; a module for each area.

#[cfg(test)]
mod cli;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod example;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod git;
#[cfg(test)]
mod support;
#[cfg(test)]
mod sys;
#[cfg(test)]
mod taskfiles;
