//! `StrykerJS` (9.6 and later) over JavaScript and TypeScript.
//!
//! Settings are ralph's own: a project's stryker.config cannot leave code out, reuse an earlier result or lower a threshold. The
//! test runner is the one whose plugin is installed, else the command `npm test`.

mod report;

use crate::gate::GateAbort;
use crate::gate::commands::Call;
use crate::gate::files::{FileEngine, Language, Measured, Work};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use serde_json::{Value, json};

/// Test runners with a plugin, the preferred one first.
const RUNNERS: [&str; 6] = ["vitest", "jest", "mocha", "jasmine", "karma", "tap"];
/// Lines of the output that name tests or causes.
const TOLD: usize = 5;

const JAVASCRIPT: Language = Language {
    name: "JavaScript",
    extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"],
    builds: &["package.json"],
    tests: &["{}.test", "{}.spec", "{}-test", "{}_test", "{}-spec", "{}"],
    installed: &["node_modules"],
    outputs: &[".stryker-tmp"],
    hides: &[("Stryker disable", "Stryker_disable"), ("Stryker restore", "Stryker_restore")],
    tells: &["__stryker__", "__STRYKER_ACTIVE_MUTANT__", "__stryker2__"],
};

/// `StrykerJS`.
pub(crate) struct Stryker;

impl FileEngine for Stryker {
    fn gate(&self) -> &'static str {
        "STRYKER"
    }

    fn language(&self) -> &'static Language {
        &JAVASCRIPT
    }

    fn measure(&self, work: &Work<'_>) -> Result<Measured, GateAbort> {
        let json = work.report.join("mutation.json");
        let settings = json!({
            "mutate": work.files.iter().map(|file| literally(file)).collect::<Vec<_>>(),
            "reporters": ["json", "html"],
            "jsonReporter": { "fileName": json },
            "htmlReporter": { "fileName": work.report.join("index.html") },
        });
        let call = run(work, "stryker", settings, &[])?;
        if let Some(ended) = not_green(work, &call)? {
            return Ok(ended);
        }
        report::read(&json, work).map(Measured::Mutants)
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let call = run(work, "stryker-tests", json!({ "reporters": [] }), &["--dryRunOnly"])?;
        match not_green(work, &call)? {
            Some(Measured::Red(_)) => Ok(false),
            _ => Ok(true),
        }
    }
}

/// Runs Stryker with these settings added to those of every run.
fn run(work: &Work<'_>, name: &str, settings: Value, arguments: &[&str]) -> Result<Call, GateAbort> {
    let Some(stryker) = work.installed(&["node_modules/.bin/stryker"]) else {
        return Err(GateAbort::setup(
            format!("StrykerJS is not installed in {}.", work.label),
            "Run `npm install --save-dev @stryker-mutator/core` there, with the plugin of its test runner (`@stryker-mutator/vitest-runner`), and commit package.json and the lock file.",
        ));
    };
    let runner = runner(work);
    let mut all = json!({
        "testRunner": runner.unwrap_or("command"),
        "coverageAnalysis": if runner.is_some() { "perTest" } else { "off" },
        "concurrency": work.jobs(),
        "incremental": false,
        "ignoreStatic": false,
        "thresholds": { "high": 80, "low": 60, "break": null },
        "allowConsoleColors": false,
        "tempDirName": work.output.join("sandbox"),
        "cleanTempDir": "always",
    });
    if let (Some(all), Value::Object(settings)) = (all.as_object_mut(), settings) {
        all.extend(settings);
    }
    let file = work.output.join("stryker.json");
    fs_err::write(&file, all.to_string())?;
    let mut argv = vec![stryker.display().to_string(), "run".to_owned(), file.display().to_string()];
    argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    work.commands.run(name, argv, &work.folder, &[])
}

/// The runner whose plugin is installed; with several, one that the module's package.json names.
fn runner(work: &Work<'_>) -> Option<&'static str> {
    let named = crate::gate::commands::read_text(&work.folder.join("package.json"), 1 << 20);
    let has_plugin = |runner: &&&str| {
        work.installed(&[&format!("node_modules/@stryker-mutator/{runner}-runner")]).is_some()
    };
    let installed: Vec<&&str> = RUNNERS.iter().filter(has_plugin).collect();
    let is_named = |runner: &&&&str| named.contains(&format!("\"{runner}\""));
    installed.iter().find(is_named).or(installed.first()).map(|runner| **runner)
}

/// How a run ended that left no mutants to count; `None` if it came to its end.
fn not_green(work: &Work<'_>, call: &Call) -> Result<Option<Measured>, GateAbort> {
    match &call.end {
        ProcessEnd::Exited { code: 0 } => return Ok(None),
        ProcessEnd::TimedOut { .. } => return Err(work.commands.over_limit()),
        _ => {}
    }
    if call.output.contains("There were failed tests in the initial test run") {
        return Ok(Some(Measured::Red(failed_tests(&call.output))));
    }
    if call.output.contains("No tests were executed") || call.output.contains("No tests were found") {
        return Ok(Some(Measured::NoTests));
    }
    let told: Vec<String> = call
        .output
        .lines()
        .filter(|line| line.contains("ERROR"))
        .take(TOLD)
        .map(|line| text::line(line, 300))
        .collect();
    let told = if told.is_empty() { "its output names no error".to_owned() } else { told.join(" ") };
    Err(GateAbort::setup(
        format!(
            "StrykerJS gave no verdict on {} ({}): {told}.",
            work.label,
            text::line(&call.end.to_string(), 100)
        ),
        "Run `npx stryker run` in the package by hand.",
    ))
}

/// The tests that Stryker's log names as failed: a line with one tab each, below a sentence that says so.
fn failed_tests(output: &str) -> Vec<String> {
    let below = output.lines().skip_while(|line| !line.contains("failed in the initial test run")).skip(1);
    let is_name = |line: &&str| line.starts_with('\t') && !line.starts_with("\t\t");
    below.filter(is_name).take(TOLD).map(|line| text::line(line, 200)).collect()
}

/// A path as a pattern that matches it alone.
fn literally(path: &str) -> String {
    let mut pattern = String::new();
    for c in path.chars() {
        if "*?[]{}()!+@".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
