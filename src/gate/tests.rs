//! What the gate's unit tests share, and tests of the gate without Maven.

use crate::config::{GateEngine, GateSettings};
use crate::mutation::{NoCoverage, Per};
use std::time::Duration;

/// The default settings of PITEST.
pub(super) fn settings() -> GateSettings {
    GateSettings {
        engine: GateEngine::Direct,
        threshold: 70,
        per: Per::Class,
        no_coverage: NoCoverage::Survived,
        jobs: 2,
        maven_args: Vec::new(),
        limit: Duration::from_secs(600),
        pit_version: "1.25.9".to_owned(),
        test_names: ["{}Test", "Test{}", "{}Tests", "{}TestCase"].map(str::to_owned).to_vec(),
        jvm_args: Vec::new(),
    }
}
