//! Which outside tools are there.

use std::path::Path;

/// True when these programs are there; says why not, and fails where they must be (`CI=true`).
pub(crate) fn has(programs: &[&str]) -> bool {
    let path = std::env::vars().find(|(name, _)| name == "PATH").map(|(_, value)| value).unwrap_or_default();
    let there = |program: &str| path.split(':').any(|folder| Path::new(folder).join(program).is_file());
    let missing: Vec<&str> = programs.iter().copied().filter(|program| !there(program)).collect();
    if missing.is_empty() {
        return true;
    }
    let why = format!("skipped: {} not on the PATH", missing.join(", "));
    assert!(std::env::vars().all(|(name, value)| (name.as_str(), value.as_str()) != ("CI", "true")), "{why}");
    eprintln!("{why}");
    false
}
