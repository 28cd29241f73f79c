//! A module as it was before the family's first attempt.
//!
//! A base that could not be checked out is distinguished from one that did not exist and from one that
//! does not compile.

use super::context::PackageContext;
use super::maven::{BuildError, Built, Maven, Trouble, display_dir, home};
use crate::gate::GateAbort;
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
pub(crate) fn base<'a>(context: &PackageContext<'a>, dir: &str) -> Result<Base<'a>, GateAbort> {
    let checkouts = context.ports.checkouts;
    let root = match checkouts.base(&context.package.name) {
        Ok(Some(root)) => root,
        Ok(None) => return Ok(Base::Absent),
        Err(why) => return Ok(Base::Unreachable(why)),
    };
    if !home(&root, dir).join("pom.xml").is_file() {
        return Ok(Base::Absent);
    }
    let label = format!("{}/{}", context.package.name, display_dir(dir));
    (context.ports.progress)(&format!("Compiling {label} as it was before the task"));
    let maven = context.maven(&root)?;
    match maven.build(context.commands, dir, checkouts) {
        Ok((built, _)) => Ok(Base::Built(Box::new(BuiltBase { root, maven, built }))),
        Err(BuildError::Abort(abort)) => Err(abort),
        Err(BuildError::Trouble(Trouble::Passing(what))) => Err(GateAbort::passing(
            format!("{label} as it was before the task could not be built: {what}."),
            "Check the network and the space on the disk.",
        )),
        Err(BuildError::Trouble(_)) => Ok(Base::Broken),
    }
}
