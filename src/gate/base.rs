//! A module as it was before the family's first attempt.
//!
//! Owns: the way from the commit to its class files.
//!
//! Promises: a base that nobody could look at is told apart from one that was not there and from one that
//! does not compile.
//!
//! Refuses to know: what the base is asked for.

use super::Stop;
use super::maven::{Built, Maven, Trouble, Unbuilt, shown};
use super::module::{Bench, home};
use std::path::PathBuf;

/// What became of the base of a module.
pub(crate) enum Base<'a> {
    /// There is none: the gate works in place, or the module was not there.
    Absent,
    /// It could not be checked out; a whole sentence.
    Unreachable(String),
    /// It does not compile.
    Broken,
    /// It compiled.
    Built(Box<BuiltBase<'a>>),
}

/// A base that compiled.
pub(crate) struct BuiltBase<'a> {
    /// The package's folder in the checkout.
    pub(crate) root: PathBuf,
    /// Maven in that folder.
    pub(crate) maven: Maven<'a>,
    /// What it built.
    pub(crate) built: Built,
}

/// Checks the base out and builds a module of it.
pub(crate) fn base<'a>(bench: &Bench<'a>, dir: &str) -> Result<Base<'a>, Stop> {
    let trees = bench.hands.trees;
    let root = match trees.base(&bench.package.name) {
        Ok(Some(root)) => root,
        Ok(None) => return Ok(Base::Absent),
        Err(why) => return Ok(Base::Unreachable(why)),
    };
    if !home(&root, dir).join("pom.xml").is_file() {
        return Ok(Base::Absent);
    }
    let label = format!("{}/{}", bench.package.name, shown(dir));
    (bench.hands.progress)(&format!("Compiling {label} as it was before the task"));
    let maven = bench.maven(&root)?;
    match maven.build(bench.calls, dir, trees) {
        Ok((built, _)) => Ok(Base::Built(Box::new(BuiltBase { root, maven, built }))),
        Err(Unbuilt::Stop(stop)) => Err(stop),
        Err(Unbuilt::Trouble(Trouble::Passing(what))) => Err(Stop::passing(
            format!("{label} as it was before the task could not be built: {what}."),
            "Check the network and the space on the disk.",
        )),
        Err(Unbuilt::Trouble(_)) => Ok(Base::Broken),
    }
}
