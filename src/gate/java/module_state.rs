//! What a module's tests depend on, as digests that a map of who touches what is compared with.
//!
//! A file that cannot be read is an error; where the gate works in place there is no state, since files that no commit
//! holds could change what tests do.

use super::class_file;
use super::classes::{class_names, files_digest, read};
use super::context::ModuleContext;
use super::coverage_map::{Bodies, ClassDigests, ModuleState, top_level};
use super::maven::digest;
use super::reach::References;
use crate::gate::GateAbort;
use crate::machine::facts::Oid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Raised when a state changes its meaning.
const VERSION: &str = "2";

/// A module as it was compiled.
pub(crate) struct CompiledModule {
    /// Its classes and conditions.
    pub(crate) state: ModuleState,
    /// The code of its production classes.
    pub(crate) bodies: Bodies,
    /// What the class files of its tests name.
    pub(crate) references: References,
    /// What those of its production classes name.
    pub(crate) production_references: References,
}

impl ModuleContext<'_> {
    /// The module as it is now; `None` in place. Reads every class file.
    pub(crate) fn state(&self) -> Result<Option<CompiledModule>, GateAbort> {
        let Some(files) = self.context.ports.checkouts.other_files(&self.context.package.root) else {
            return Ok(None);
        };
        let settings = self.context.settings;
        let folders = self.built.class_folders();
        let (own, others) = folders.split_at(2);
        let is_other = |inside: &Path| inside.extension().is_none_or(|extension| extension != "class");
        let mut parts = vec![VERSION.to_owned(), self.built.key.clone(), settings.pit_version.clone(), files];
        parts.push(files_digest(own, &is_other)?);
        parts.push(files_digest(others, &|_| true)?);
        parts.extend(settings.jvm_args.iter().cloned());
        let (production, bodies, production_references) =
            class_files(Path::new(&self.built.project.classes))?;
        let (tests, _, references) = class_files(Path::new(&self.built.project.test_classes))?;
        let commit = self.context.package.head.as_ref().map(Oid::to_string).unwrap_or_default();
        let state = ModuleState { conditions: digest(parts), commit, production, tests };
        Ok(Some(CompiledModule { state, bodies, references, production_references }))
    }
}

/// The digests of the classes in a folder, those of their code, and what their files name.
fn class_files(folder: &Path) -> Result<(BTreeMap<String, ClassDigests>, Bodies, References), GateAbort> {
    let mut parts: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    let (mut bodies, mut references) = (Bodies::new(), References::new());
    let names: BTreeSet<String> = class_names(folder).collect();
    for name in names {
        let bytes = read(&folder.join(format!("{name}.class")))?;
        let whole = digest([&bytes]);
        let of_file = class_file::bodies(&bytes);
        let interface = class_file::interface(&bytes).filter(|_| of_file.is_some());
        let named = |(method, body)| ((name.replace('/', "."), method), body);
        bodies.extend(of_file.into_iter().flatten().map(named));
        let class = dotted(&name);
        references
            .entry(class.clone())
            .or_default()
            .extend(class_file::names(&bytes).iter().map(|name| dotted(name)));
        let (all, outside) = parts.entry(class).or_default();
        outside.extend([name.clone(), interface.unwrap_or_else(|| whole.clone())]);
        all.extend([name, whole]);
    }
    let digests = |(class, (all, outside))| {
        (class, ClassDigests { whole: digest(all), outside_bodies: digest(outside) })
    };
    Ok((parts.into_iter().map(digests).collect(), bodies, references))
}

/// The dotted name of the top-level class of an internal name.
fn dotted(internal: &str) -> String {
    top_level(internal).replace('/', ".")
}
