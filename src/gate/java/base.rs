//! A module as it was before the family's first attempt.
//!
//! A base that could not be checked out is distinguished from one that did not exist and from one that
//! does not compile.

use super::maven::{Built, Maven, TroubleKind, home};
use super::package::PackageContext;
use crate::gate::GateAbort;
use crate::gate::scope::{BuildTool, Module};

/// What became of the base of a module.
pub(crate) enum Base<'a> {
    /// There is none: the gate works in place, or the module was not there.
    Absent,
    /// It could not be checked out; a whole sentence.
    Unreachable(String),
    /// It does not compile.
    Broken,
    /// It compiled.
    Built(Box<(Maven<'a>, Built)>),
}

/// Checks the base out and builds a module of it.
pub(crate) fn base<'a>(context: &'a PackageContext<'a>, module: &'a Module) -> Result<Base<'a>, GateAbort> {
    let root = match context.ports.checkouts.base(&context.package.name) {
        Ok(Some(root)) => root,
        Ok(None) => return Ok(Base::Absent),
        Err(why) => return Ok(Base::Unreachable(why)),
    };
    let home = home(&root, &module.dir);
    if !home.join("pom.xml").is_file() && (module.tool == BuildTool::Maven || !home.is_dir()) {
        return Ok(Base::Absent);
    }
    let label = context.label(&module.dir);
    (context.ports.progress)(&format!("Compiling {label} as it was before the task"));
    let maven = Maven::find(context, &root, module)?;
    match maven.build()? {
        Ok((built, _)) => Ok(Base::Built(Box::new((maven, built)))),
        Err(trouble) if trouble.kind == TroubleKind::Passing => Err(GateAbort::passing(
            format!("{label} as it was before the task could not be built: {}", trouble.sentence()),
            "Check the network and the space on the disk.",
        )),
        Err(_) => Ok(Base::Broken),
    }
}
