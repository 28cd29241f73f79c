//! cosmic-ray (8.4 and later) over Python, for `ralph mutation-test`; no gate uses it.
//!
//! It changes the copy itself, one mutant after the other. It counts every end but 0 as killed: a
//! time-out, a mutant that does not compile, a pytest that found no test. So the tests run below a
//! script of ralph's own, and ralph counts the end that the script prints. Its incompetent mutants,
//! which it counts as killed, are suspicious here.

use super::{
    Mutmut, PYTHON, check_version, failed_tests, find_python, last_line, run_command, write_driver,
};
use crate::gate::GateAbort;
use crate::gate::commands::FinishedCall;
use crate::gate::files::{EngineMeasurement, FileEngine, FileLanguage, FileMutant, Work};
use crate::machine::facts::ProcessEnd;
use crate::mutation::MutantStatus;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const ENGINE: &str = "cosmic-ray";
/// Older versions were never tried.
const OLDEST: (u32, u32) = (8, 4);
/// Runs the tests; the last line of its output names their end.
///
/// Runs without the folder of the script on the path.
const TESTS: &str = "import sys
import driver
del sys.path[0]
import pytest
try:
    for file in FILES:
        compile(open(file, 'rb').read(), file, 'exec')
except (SyntaxError, ValueError):
    end = 'no code'
else:
    end = driver.neutral(pytest.main)(['-q', '-x'])
print(f'\\nralph: {end}', flush=True)
sys.exit(end if end == 0 else 1)
";
/// Makes the mutants, tests them and leaves what became of each: a line of JSON, in the last file.
const DRIVER: &str = "import sys
sys.path[:] = filter(None, sys.path)
from cosmic_ray.cli import main
from cosmic_ray.plugins import operator_names
config, session, results = sys.argv[1:]
if not operator_names() or main(['init', config, session]) or main(['exec', config, session]):
    sys.exit(1)
with open(results, 'w', encoding='utf-8') as sys.stdout:
    code = main(['dump', session])
sys.exit(code)
";
/// Time limit of a mutant's tests.
///
/// It is a multiple of the time without a mutant, plus these seconds.
const PATIENCE: (u32, Duration) = (4, Duration::from_secs(5));

pub(crate) struct CosmicRay;

impl FileEngine for CosmicRay {
    fn file_language(&self) -> &'static FileLanguage {
        &PYTHON
    }

    fn measure_work(&self, work: &Work<'_>) -> Result<EngineMeasurement, GateAbort> {
        let python = find_python(work)?;
        check_version(work, &python, ENGINE, OLDEST, "'cosmic-ray>=8.7' pytest")?;
        let [script, config, session, results] =
            ["tests.py", "cosmic-ray.toml", "session.sqlite", "results"]
                .map(|name| work.output.join(name).display().to_string());
        write_driver(work)?;
        fs_err::write(
            &script,
            TESTS.replace("FILES", &Value::from(work.files.clone()).to_string()),
        )?;
        let first = run_command(work, "pytest", &[&python, &script], "src:.")?;
        match end_message(&first.output) {
            Some("0") => {}
            Some("5") => return Ok(EngineMeasurement::NoTests),
            Some("1" | "2") => return Ok(EngineMeasurement::Red(failed_tests(&first.output))),
            _ => return Err(no_verdict(work, &first)),
        }
        let limit = Duration::from_millis(first.millis) * PATIENCE.0 + PATIENCE.1;
        let command = Value::from(format!("{} {}", quote_word(&python), quote_word(&script)));
        let files = Value::from(work.files.clone());
        fs_err::write(
            &config,
            format!(
                "[cosmic-ray]\nmodule-path = {files}\ntimeout = {:.1}\nexcluded-modules = []\ntest-command = {command}\n\
                 [cosmic-ray.distributor]\nname = \"local\"\n",
                limit.as_secs_f64()
            ),
        )?;
        let call = run_command(
            work,
            ENGINE,
            &[&python, "-c", DRIVER, &config, &session, &results],
            "src:.",
        )?;
        if call.end != (ProcessEnd::Exited { code: 0 }) {
            return Err(no_verdict(work, &call));
        }
        let left = work.read_results(ENGINE, results.as_ref())?;
        let left = left.ok_or_else(|| work.unclear_result(ENGINE, "it left no results"))?;
        read_mutants(&left)
            .map(EngineMeasurement::Mutants)
            .map_err(|why| work.unclear_result(ENGINE, why))
    }

    fn engine_name(&self) -> &'static str {
        ENGINE
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        Mutmut.is_green(work)
    }
}

fn no_verdict(work: &Work<'_>, call: &FinishedCall) -> GateAbort {
    work.no_verdict(ENGINE, call, &last_line(call), "python -m pytest")
}

/// A word of a command, as a shell's rules have it.
fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// Returns the end of the tests that the script printed.
fn end_message(output: &str) -> Option<&str> {
    output
        .trim_end()
        .lines()
        .next_back()?
        .strip_prefix("ralph: ")
}

#[derive(Deserialize)]
struct Job(WorkItem, Option<FinishedItem>);

#[derive(Deserialize)]
struct WorkItem {
    mutations: Vec<Mutation>,
}

#[derive(Deserialize)]
struct Mutation {
    module_path: String,
    operator_name: String,
    occurrence: u32,
    /// The line counts from 1, the column from 0.
    start_pos: (u32, u32),
    definition_name: Option<String>,
}

#[derive(Deserialize)]
struct FinishedItem {
    worker_outcome: String,
    test_outcome: Option<String>,
    output: Option<String>,
    diff: Option<String>,
}

/// Returns the mutants of each file, or the reason why none can be read.
fn read_mutants(left: &[u8]) -> Result<BTreeMap<String, Vec<FileMutant>>, &'static str> {
    let mut files: BTreeMap<String, Vec<FileMutant>> = BTreeMap::new();
    for line in left
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let Job(WorkItem { mutations }, outcome) =
            serde_json::from_slice(line).map_err(|_| "its results cannot be read")?;
        let outcome = outcome.ok_or("some mutants were not tested")?;
        let [mutation] =
            <[Mutation; 1]>::try_from(mutations).map_err(|_| "its results cannot be read")?;
        files
            .entry(mutation.module_path.clone())
            .or_default()
            .push(mutation.into_file_mutant(&outcome));
    }
    Ok(files)
}

impl FinishedItem {
    fn mutant_status(&self) -> MutantStatus {
        let output = self.output.as_deref().unwrap_or_default();
        match (
            self.worker_outcome.as_str(),
            self.test_outcome.as_deref(),
            end_message(output),
        ) {
            ("skipped" | "no-test", _, _) => MutantStatus::Unjudged,
            ("normal", Some("killed"), None) if output == "timeout" => MutantStatus::TimedOut,
            ("normal", Some("killed"), Some("1" | "2")) => MutantStatus::Killed,
            ("normal", Some("killed"), Some("no code")) => MutantStatus::NonViable,
            ("normal", Some("survived"), Some("0")) => MutantStatus::Survived,
            _ => MutantStatus::RunError,
        }
    }

    /// The first line that differs, before and after.
    fn first_change(&self) -> String {
        let diff = self.diff.as_deref().unwrap_or_default();
        let (old, new) = (first_signed(diff, '-'), first_signed(diff, '+'));
        format!("replaced `{old}` by `{new}`")
    }
}

/// Returns the first line of a diff's hunks with this sign, without it.
fn first_signed(diff: &str, sign: char) -> &str {
    let mut lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
    lines
        .find_map(|line| line.strip_prefix(sign))
        .map_or("nothing", str::trim)
}

impl Mutation {
    fn into_file_mutant(self, outcome: &FinishedItem) -> FileMutant {
        let Self {
            module_path,
            operator_name,
            occurrence,
            start_pos: (line, column),
            ..
        } = &self;
        FileMutant {
            id: format!(
                "{module_path}:{line}:{} {operator_name} {occurrence}",
                column + 1
            ),
            line: *line,
            function: self.definition_name.clone().unwrap_or_default(),
            mutator: operator_name.clone(),
            description: outcome.first_change(),
            status: outcome.mutant_status(),
            tests: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(outcome: &str) -> String {
        let item = r#"{"job_id": "1", "mutations": [{"module_path": "src/a.py", "operator_name": "core/NumberReplacer",
            "occurrence": 2, "start_pos": [3, 4], "end_pos": [3, 5], "operator_args": {}, "definition_name": "one"}]}"#;
        format!("[{}, {outcome}]\n", item.replace('\n', " "))
    }

    fn outcome(worker: &str, test: &str, output: &str) -> String {
        serde_json::json!({"worker_outcome": worker, "test_outcome": (!test.is_empty()).then_some(test), "output": output,
            "diff": "--- mutation diff ---\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,3 @@\n def one():\n-    return 1\n+    return 2"})
        .to_string()
    }

    #[test]
    fn only_a_test_that_failed_is_a_kill() {
        use MutantStatus::{Killed, NonViable, RunError, Survived, TimedOut, Unjudged};
        for (worker, test, output, status) in [
            ("normal", "killed", "1 failed\n\nralph: 1\n", Killed),
            (
                "normal",
                "killed",
                "an error in an import\n\nralph: 2\n",
                Killed,
            ),
            ("normal", "killed", "timeout", TimedOut),
            ("normal", "killed", "\nralph: no code\n", NonViable),
            ("normal", "survived", ".\n\nralph: 0\n", Survived),
            ("no-test", "", "", Unjudged),
            ("skipped", "", "", Unjudged),
            // Counted as killed by the engine: no test was found, pytest broke, the process died, the engine itself failed.
            ("normal", "killed", "\nralph: 5\n", RunError),
            ("normal", "killed", "\nralph: 3\n", RunError),
            ("normal", "killed", "Segmentation fault", RunError),
            ("normal", "killed", "ralph: 1\nand then it died", RunError),
            ("normal", "incompetent", "Traceback", RunError),
            ("exception", "incompetent", "Traceback\nralph: 1", RunError),
            ("abnormal", "", "", RunError),
            // A process that ends with 0 before the tests did.
            ("normal", "survived", "", RunError),
        ] {
            let files = read_mutants(line(&outcome(worker, test, output)).as_bytes()).unwrap();
            let [mutant] = files["src/a.py"].as_slice() else {
                panic!("{files:?}")
            };
            assert_eq!(mutant.status, status, "{worker} {test} {output}");
            assert_eq!(mutant.id, "src/a.py:3:5 core/NumberReplacer 2");
            assert_eq!(mutant.description, "replaced `return 1` by `return 2`");
            assert_eq!((mutant.line, mutant.function.as_str()), (3, "one"));
        }
    }

    #[test]
    fn results_that_are_cut_or_of_a_mutant_that_was_not_tested_are_none() {
        let one = line(&outcome("normal", "killed", "ralph: 1"));
        let of = |text: &str| read_mutants(text.as_bytes()).map(|files| files.len());
        assert_eq!(of(""), Ok(0));
        assert_eq!(of(&format!("{one}{one}")), Ok(1));
        assert_eq!(
            of(&(one.clone() + &line("null"))),
            Err("some mutants were not tested")
        );
        for bad in [
            &one[..one.len() - 3],
            "[1]",
            "{}",
            "[{\"mutations\": []}, null]",
            "\u{0}",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert_eq!(
            of(&one.replace("[{\"module_path", "[{}, {\"module_path")),
            Err("its results cannot be read")
        );
    }
}
