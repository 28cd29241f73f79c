//! Variables that the settings of builds read, and that gates and checks do not get of ralph's environment.

use super::{CONFIG, Inspection, InspectionFinding, Package};
use crate::source::environment_for;
use crate::source::text::names;
use crate::sys::disk::read_beginning;
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// So much of a file is looked through, bytes.
const LONGEST: u64 = 1 << 20;

/// The settings of a build in a package and at home, and how they name a variable.
const SETTINGS: [(&str, &str, &str); 2] = [
    ("pom.xml", ".m2/settings.xml", r"\$\{env\.(\w{1,60})"),
    (".npmrc", ".npmrc", r"\$\{(\w{1,60})"),
];

/// One finding for each `env:` that lacks variables which a build reads.
pub(super) fn not_passed(inspection: &Inspection<'_>) -> Vec<InspectionFinding> {
    let read = named_variables(inspection.packages.as_deref().unwrap_or_default());
    let settings = &inspection.opened.workspace.settings;
    let gates = settings
        .gates
        .iter()
        .map(|(name, gate)| (format!("gates.{name}.env"), &gate.env));
    let checks =
        Some(&settings.checks).filter(|checks| checks.red.is_some() || checks.green.is_some());
    let lists = gates.chain(checks.map(|checks| ("checks.env".to_owned(), &checks.env)));
    let mut findings = Vec::new();
    for (key, named) in lists {
        let lacking = read.iter().filter(|name| {
            let variable = [(String::clone(name), String::new())];
            environment_for(&variable, named).is_empty()
        });
        let lacking = names(lacking, 20);
        if lacking.is_empty() {
            continue;
        }
        let what = format!("the build's settings read variables that are not passed: {lacking}");
        let hint = format!("`{key}: [{lacking}]` passes them");
        let finding = InspectionFinding::new_error("program", CONFIG, what, hint);
        findings.push(finding.into_warning().with_key(&*key));
    }
    findings
}

/// The variables that the settings of these packages name, and those at home for the same builds.
fn named_variables(packages: &[Package]) -> BTreeSet<String> {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let mut found = BTreeSet::new();
    for (own, of_home, pattern) in SETTINGS {
        let all = packages
            .iter()
            .flat_map(|package| package.files.iter().map(|path| package.root.join(path)));
        let mut files: Vec<PathBuf> = all.filter(|path| path.ends_with(own)).collect();
        files.extend((!files.is_empty()).then(|| home.join(of_home)));
        let Ok(pattern) = Regex::new(pattern) else {
            continue;
        };
        for file in files {
            let bytes = read_beginning(&file, LONGEST)
                .ok()
                .flatten()
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let names = pattern.captures_iter(&text).filter_map(|name| name.get(1));
            found.extend(names.map(|name| name.as_str().to_owned()));
        }
    }
    found
}
