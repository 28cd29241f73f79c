//! Results of an engine that look like a pass but are not.
//!
//! Scripts replace mutmut and `StrykerJS`, each with one such result.

use super::direct_spawn::DirectSpawn;
use super::project::{Project, error, reasons};
use crate::support::needs::tests;
use ralph::gate::{Checkouts, GatePorts, run_gate};
use ralph::mutation::{GateReport, Verdict};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

tests! {
    nothing: [
        what_mutmut_leaves_is_a_verdict_only_where_each_mutant_has_one,
        python_that_asks_whether_it_is_mutated_and_a_mutmut_that_is_old_give_no_verdict,
        what_stryker_leaves_is_a_verdict_only_where_each_mutant_has_one,
        an_engine_works_in_a_repository_in_which_the_package_has_its_place,
    ]
}

/// The gate's verdict on an engine's results.
enum Said {
    Pass,
    /// There is nothing to mutate.
    Skip,
    /// The first words of the reasons.
    Fail(&'static str),
    /// Part of the reason.
    Error(&'static str),
}
use Said::{Error, Fail, Pass, Skip};

/// Returns the gate's verdict if it is not the expected one.
fn differs(report: &GateReport, said: &Said, of: &str) -> Option<String> {
    let is_said = match (&report.verdict, said) {
        (Verdict::Pass, Pass) | (Verdict::Skip { .. }, Skip) => true,
        (Verdict::Fail { reasons }, Fail(words)) => reasons[0].starts_with(words),
        (Verdict::Error { why, .. }, Error(words)) => why.contains(words),
        _ => false,
    };
    (!is_said).then(|| format!("{of}: {:?} {:?}", report.verdict, report.remarks))
}

fn script(project: &Project, path: &str, text: &str) {
    project.write(path, text);
    let executable = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(project.root().join(path), executable).unwrap();
}

/// The results of an earlier run, in which every mutant was killed.
const OLD: &str = r#"{"exit_code_by_key": {"shop.price.x_net__mutmut_1": 1}}"#;

/// Returns a package whose mutmut has this version and runs this script.
///
/// `meta 1,null` writes two mutants with these codes.
fn mutmut(version: &str, does: &str) -> Project {
    let mut project = Project::new();
    project.request.name = "MUTMUT".to_owned();
    project.write(
        "src/shop/price.py",
        "def net(gross):\n    return gross - 1\n",
    );
    project
        .write("src/shop/[id].py", "")
        .write("tests/test_price.py", "def test_net():\n    pass\n");
    project
        .write("mutants/src/shop/price.py.meta", OLD)
        .write("mutants/tests/test_price.py", "");
    project.changed(&["src/shop/price.py", "tests/test_price.py"]);
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = -c ] && echo mutmut {version} && exit 0\n[ -e mutants ] && exit 9\n\
         meta() {{ mkdir -p mutants/src/shop; n=0; for code in $(echo $1 | tr , ' '); do n=$((n + 1))\n\
         [ $n = 1 ] || printf ,; printf '\"shop.price.x_net__mutmut_%s\": %s' $n $code; done > mutants/keys\n\
         echo \"{{\\\"exit_code_by_key\\\": {{$(cat mutants/keys)}}}}\" > mutants/src/shop/price.py.meta; rm mutants/keys; }}\n{does}\n"
    );
    script(&project, ".venv/bin/python", &text);
    project
}

fn what_mutmut_leaves_is_a_verdict_only_where_each_mutant_has_one() {
    let unchecked = "some mutants were not checked";
    let table = [
        ("meta 1,3", Pass),
        (
            "meta 0,0",
            Fail("The mutation score of file src/shop/price.py of package p is 0% (0/2)"),
        ),
        (
            "meta 1,0",
            Fail("The mutation score of file src/shop/price.py of package p is 50% (1/2)"),
        ),
        (
            "meta 33,5",
            Fail("No test reaches any of the 2 mutants of file src/shop/price.py"),
        ),
        (
            "meta 36,24",
            Fail(
                "No test kills a mutant of file src/shop/price.py of package p: all 2 kills are time-outs.",
            ),
        ),
        // An interrupted and an unchecked mutant: mutmut exits with 0.
        ("meta 1,2", Error(unchecked)),
        ("meta 1,null", Error(unchecked)),
        // Its process died under the mutant, or ended with an unknown code.
        ("meta 1,-11,-9,77", Error("ended in an error")),
        ("meta ''", Skip),
        ("exit 0", Error("it left no results of src/shop/price.py")),
        (
            "meta 1; echo '{\"exit_code_by_key\": {' > mutants/src/shop/price.py.meta",
            Error("its results cannot be read"),
        ),
        (
            "meta 1; exit 1",
            Error("mutmut gave no verdict on p (exited with code 1)"),
        ),
        ("meta 1; kill -9 $$", Error("mutmut gave no verdict on p")),
        (
            "meta null; echo 'Stopping early, because we could not find any test case for any mutant.'; exit 1",
            Fail("No test reaches the only mutant of file src/shop/price.py"),
        ),
        (
            "meta ''; echo 'Stopping early, because we could not find any test case for any mutant.'; exit 1",
            Skip,
        ),
        (
            "meta 33; echo 'Stopping early, because tests recorded trampoline hits but none match any mutant key.'; exit 1",
            Error("none match any mutant key"),
        ),
        (
            "meta 1; echo 'failed to collect stats. runner returned 1'; exit 1",
            Fail("The tests of p fail without any mutation"),
        ),
        (
            "meta 1; echo 'failed to collect stats. runner returned 2'; exit 1",
            Fail("The tests of p fail without any mutation"),
        ),
        (
            "meta 1; echo 'failed to collect stats. runner returned 5'; exit 1",
            Fail("No test of p ran"),
        ),
        (
            "meta 1; echo 'Failed to run clean test'; exit 1",
            Fail("The tests of p fail without any mutation"),
        ),
        // The engine causes the failure of tests that pass without it.
        (
            "case $2 in pytest) exit 0;; esac; echo 'FAILED tests/a.py::b - Failed trampoline hit'; echo 'failed to collect stats. runner returned 1'; exit 1",
            Error(
                "mutmut calls tests of p failing that pass without it: FAILED tests/a.py::b - Failed trampoline hit.",
            ),
        ),
        (
            "case $2 in pytest) exit 0;; esac; echo 'ralph: the run failed, and no test did'; echo 'failed to collect stats. runner returned 77'; exit 1",
            Error(
                "mutmut calls tests of p failing that pass without it: failed to collect stats. runner returned 77.",
            ),
        ),
        // A run that failed without a test is no kill.
        ("meta 77,78", Error("ended in an error")),
        (
            "meta null; echo 'ralph: tests ran in other processes'; echo 'failed to collect stats. runner returned 78'; exit 1",
            Error("The tests of p run its code in other processes than pytest's own"),
        ),
        (
            "meta null; echo 'ralph: tests started processes'; echo 'Stopping early, because we could not find any test case for any mutant.'; exit 1",
            Error("The tests of p run its code in other processes than pytest's own"),
        ),
        // Tests may also start processes where they reach mutants.
        ("echo 'ralph: tests started processes'; meta 1,1", Pass),
        // An unreadable file is an error of its own, since mutmut would skip it silently.
        (
            "meta ''; case $PYTHONWARNINGS in *'error:Unsupported syntax in:SyntaxWarning'*) exit 1;; esac",
            Error("mutmut gave no verdict on p (exited with code 1)"),
        ),
    ];
    let mut wrong: Vec<String> = table
        .iter()
        .filter_map(|(does, said)| differs(&mutmut("3.8.1", does).run(), said, does))
        .collect();
    let mut odd = mutmut(
        "3.8.1",
        "grep -qF 'only_mutate = [\"src/shop/[[]id[]].py\"]' pyproject.toml && exit 7",
    );
    odd.request.no_tests_written = true;
    odd.changed(&["src/shop/[id].py"]);
    wrong.extend(differs(
        &odd.run(),
        &Error("(exited with code 7)"),
        "a name that is a pattern",
    ));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn python_that_asks_whether_it_is_mutated_and_a_mutmut_that_is_old_give_no_verdict() {
    // These versions find no test for any mutant, or keep no results, and exit with 0.
    for old in ["3.0.5", "3.1.0", "3.4.0", "2.5.1"] {
        let why = error(&mutmut(old, "meta 1").run()).0;
        assert_eq!(
            why,
            format!("mutmut {old} is too old for a verdict; 3.5 is the oldest.")
        );
    }
    let project = mutmut("3.8.1", "meta 1");
    project.write(
        "tests/test_price.py",
        "import os\nassert not os.environ['MUTANT_UNDER_TEST']\n",
    );
    let asks = reasons(&project.run());
    assert!(
        asks.starts_with("tests/test_price.py names `MUTANT_UNDER_TEST`"),
        "{asks}"
    );
}

/// Returns a package whose Stryker runs this script. `report STATUS…` writes a mutant of each status in
/// `src/calc.ts`.
fn stryker(does: &str) -> Project {
    let mut project = Project::new();
    project.request.name = "STRYKER".to_owned();
    project
        .write("package.json", "{}")
        .write("src/calc.ts", "export const add = (a: number) => a + 1;\n");
    project.write("test/calc.test.ts", "");
    let killed = r#"{"files": {"src/calc.ts": {"source": "", "mutants": [{"id": "1", "mutatorName": "M",
        "location": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 2}}, "status": "Killed"}]}}}"#;
    project
        .write("reports/mutation/mutation.json", killed)
        .write("reports/stryker-incremental.json", killed);
    project.changed(&["src/calc.ts", "test/calc.test.ts"]);
    let text = format!(
        "#!/bin/sh\nfor word in '\"incremental\":false' '\"ignoreStatic\":false' '\"break\":null'; do grep -qF \"$word\" \"$2\" || exit 9; done\n\
         out=$(grep -o '[^\"]*mutation.json' \"$2\")\n[ -e \"$out\" ] && exit 9\n\
         report() {{ all=; n=0; for status in \"$@\"; do n=$((n + 1)); [ $n = 1 ] || all=\"$all,\"\n\
         all=\"$all{{\\\"id\\\":\\\"$n\\\",\\\"mutatorName\\\":\\\"M\\\",\\\"status\\\":\\\"$status\\\",\\\"location\\\":{{\\\"start\\\":{{\\\"line\\\":1,\\\"column\\\":1}},\\\"end\\\":{{\\\"line\\\":1,\\\"column\\\":2}}}}}}\"; done\n\
         echo \"{{\\\"files\\\":{{\\\"src/calc.ts\\\":{{\\\"source\\\":\\\"x\\\",\\\"mutants\\\":[$all]}}}}}}\" > \"$out\"; }}\n{does}\n"
    );
    script(&project, "node_modules/.bin/stryker", &text);
    project
}

fn what_stryker_leaves_is_a_verdict_only_where_each_mutant_has_one() {
    let table = [
        ("report Killed Killed", Pass),
        (
            "report Survived Survived",
            Fail("The mutation score of file src/calc.ts of package p is 0% (0/2)"),
        ),
        (
            "report Killed NoCoverage",
            Fail("The mutation score of file src/calc.ts of package p is 50% (1/2)"),
        ),
        (
            "report NoCoverage",
            Fail("No test reaches the only mutant of file src/calc.ts"),
        ),
        (
            "report Timeout",
            Fail("No test kills a mutant of file src/calc.ts of package p: its only kill"),
        ),
        (
            "report Killed RuntimeError RuntimeError",
            Error("ended in an error"),
        ),
        (
            "report Ignored Ignored Ignored Ignored",
            Fail("4 mutants of file src/calc.ts of package p without a verdict"),
        ),
        ("report CompileError", Skip),
        (
            "report Killed Pending",
            Error("some mutants were not tested"),
        ),
        (
            "report Killed Vanished",
            Error("its results cannot be read"),
        ),
        // Lines that hold no code.
        ("echo '{\"files\": {}}' > \"$out\"", Skip),
        (
            "report Killed; truncate -s 40 \"$out\"",
            Error("its results cannot be read"),
        ),
        ("exit 0", Error("it left no report")),
        (
            "report Killed; exit 1",
            Error("StrykerJS gave no verdict on p (exited with code 1)"),
        ),
        (
            "report Killed; echo 'ERROR Stryker There were failed tests in the initial test run.'; exit 1",
            Fail("The tests of p fail without any mutation"),
        ),
        (
            "echo 'ERROR Stryker No tests were executed. Stryker will exit prematurely.'; exit 1",
            Fail("No test of p ran"),
        ),
        // A file with only types has no mutant, and no test that imports it at run time.
        (
            "echo 'Instrumented 1 source file(s) with 0 mutant(s)'; echo 'ERROR Stryker No tests were executed.'; exit 1",
            Skip,
        ),
        (
            "echo 'Instrumented 1 source file(s) with 0 mutant(s)'; if [ \"$3\" ]; then echo 'There were failed tests in the initial test run'\n\
             else echo 'No tests were executed'; fi; exit 1",
            Fail("The tests of p fail without any mutation"),
        ),
        (
            "echo 'ERROR Stryker Unexpected token'; exit 1",
            Error("Unexpected token"),
        ),
        (
            "[ \"$3\" ] && exit 0; echo 'There were failed tests in the initial test run'; exit 1",
            Error("StrykerJS calls tests of p failing that pass without it"),
        ),
    ];
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(does, said)| differs(&stryker(does).run(), said, does))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Commits of packages in this directory of their repository.
struct Committed(&'static str);

impl Checkouts for Committed {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn in_repository(&self, _root: &Path) -> PathBuf {
        self.0.into()
    }

    fn add_repository(&self, _root: &Path, copy: &Path) -> io::Result<()> {
        fs_err::create_dir(copy.join(".git"))
    }
}

fn an_engine_works_in_a_repository_in_which_the_package_has_its_place() {
    let table = [
        (
            "",
            "[ -d .git ] && grep -qx 'gitdir: ../.git' mutants/.git && ! grep also_copy pyproject.toml | grep git",
        ),
        (
            "apps/p",
            "[ -d ../../.git ] && [ ! -e mutants ] && case $PWD in *apps/p) ;; *) exit 1;; esac",
        ),
    ];
    for (inside, is_right) in table {
        let project = mutmut("3.8.1", "");
        let does = format!(
            "#!/bin/sh\n[ \"$1\" = -c ] && echo mutmut 3.8.1 && exit 0\n{is_right} || exit 9\n\
             mkdir -p mutants/src/shop\necho '{OLD}' > mutants/src/shop/price.py.meta\n"
        );
        script(&project, ".venv/bin/python", &does);
        let ports = GatePorts {
            spawn: &DirectSpawn,
            progress: &|_| {},
            checkouts: &Committed(inside),
        };
        let report = run_gate(&project.request, &project.settings, &ports);
        assert_eq!(report.verdict, Verdict::Pass, "{inside}: {report:?}");
    }
}
