//! The state of a module on which its tests depend, as digests that a coverage map is compared with.
//!
//! Where the gate works in place there is no state, since files that no commit holds could change what tests do.

use super::class_file;
use super::classes::ClassFiles;
use super::context::ModuleContext;
use super::coverage_map::{ModuleState, top_level};
use super::maven::digest_parts;
use super::reach::References;
use std::collections::BTreeMap;

/// Raised when a state changes its meaning.
const VERSION: &str = "4";

/// A module as it was compiled.
pub(crate) struct CompiledModule {
    /// Its classes and conditions.
    pub(crate) state: ModuleState,
    /// The names in the class files of its tests.
    pub(crate) references: References,
    /// The names in those of its production classes.
    pub(crate) production_references: References,
}

impl ModuleContext<'_> {
    /// The module as it is now; `None` in place.
    pub(crate) fn read_state(&self) -> Option<CompiledModule> {
        let checkouts = self.context.ports.checkouts;
        let files = checkouts.other_files(&self.context.package.root)?;
        let settings = self.context.settings;
        let mut parts = vec![
            VERSION.to_owned(),
            self.built.key.clone(),
            settings.pit_version.clone(),
            files,
        ];
        parts.extend(settings.jvm_args.iter().cloned());
        let (production, production_references) = summarize_classes(self.production());
        let (tests, references) = summarize_classes(self.tests());
        let state = ModuleState {
            conditions: digest_parts(parts),
            production,
            tests,
        };
        Some(CompiledModule {
            state,
            references,
            production_references,
        })
    }
}

/// The digests of classes with those nested in them, and what their files name.
fn summarize_classes(files: &ClassFiles) -> (BTreeMap<String, String>, References) {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut references = References::new();
    for (name, bytes) in files {
        let class = dotted_name(name);
        let named = class_file::named_classes(bytes);
        let names = references.entry(class.clone()).or_default();
        names.extend(named.iter().map(|name| dotted_name(name)));
        parts
            .entry(class)
            .or_default()
            .extend([name.clone(), digest_parts([bytes])]);
    }
    let digests = parts
        .into_iter()
        .map(|(class, all)| (class, digest_parts(all)));
    (digests.collect(), references)
}

/// The dotted name of the top-level class of an internal name.
fn dotted_name(internal: &str) -> String {
    top_level(internal).replace('/', ".")
}
