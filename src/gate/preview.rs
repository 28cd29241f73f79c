//! What a gate would judge, without judging it: no process is started, nothing is written.

use super::files::{self, FileEngine};
use super::java;
use super::scope::{Extent, Scope, Target};
use super::{FILE_ENGINES, GateAbort, GateRequest};
use crate::config::GateSettings;
use crate::mutation::LeftOut;
use serde::Serialize;

/// What a gate would judge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Preview {
    /// What is mutated; empty for a gate that is a command.
    pub targets: Vec<PreviewTarget>,
    /// Changed files that are not judged, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Why there would be no verdict but ERROR or FAIL: whole sentences.
    pub refused: Vec<String>,
}

/// A file or class that would be mutated.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewTarget {
    /// `<package>/<path>`.
    pub file: String,
    /// Test files that belong to it, paths in the package.
    pub tests: Vec<String>,
    /// Lines whose mutants count, first and last of each range; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<(u32, u32)>>,
}

/// Looks at the packages where the request has them.
pub fn preview(request: &GateRequest, settings: &GateSettings) -> Preview {
    let of_files = |engine: &dyn FileEngine| files::scope_of(request, settings, engine);
    let scopes = match request.name.as_str() {
        _ if settings.run.is_some() => Vec::new(),
        "MUTATION" => {
            let files = FILE_ENGINES.iter().map(|engine| of_files(*engine));
            std::iter::once(java::scope_of(request, settings).0).chain(files).collect()
        }
        name => match FILE_ENGINES.iter().find(|engine| engine.gate() == Some(name)) {
            Some(engine) => vec![of_files(*engine)],
            None => vec![java::scope_of(request, settings).0],
        },
    };
    let mut preview = Preview::default();
    for Scope { modules, left_out, aborts } in scopes {
        preview.targets.extend(modules.iter().flat_map(|module| &module.targets).map(PreviewTarget::of));
        preview.left_out.extend(left_out);
        for abort in aborts {
            match abort {
                GateAbort::Fail { reasons } => preview.refused.extend(reasons),
                GateAbort::Error { why, .. } => preview.refused.push(why),
            }
        }
    }
    preview
}

impl PreviewTarget {
    fn of(target: &Target) -> Self {
        let lines = match &target.extent {
            Extent::Class => None,
            Extent::Lines(lines) | Extent::Change(lines) => Some(lines.clone()),
        };
        Self { file: target.full_path(), tests: target.tests.iter().cloned().collect(), lines }
    }
}
