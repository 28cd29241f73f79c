//! Ralph's own plugin for PIT, compiled once for each version of PIT.
//!
//! A folder of compiled classes is used only as long as it is what was compiled; a name that could break a line of its input
//! is refused; what it wrote is read bounded, and a line that cannot be read is skipped.

use super::super::classes::files_digest;
use super::super::context::ModuleContext;
use super::super::coverage_map::Coverage;
use super::super::maven::digest;
use super::super::report::{Control, Controls, MutantId, Reached, Reaching};
use super::output::described;
use crate::gate::GateAbort;
use crate::gate::commands::{fresh_folder, read_text};
use crate::gate::disk_cache::DiskCache;
use crate::source::text;
use std::path::{Path, PathBuf};

const SOURCE: &str = include_str!("../../../../templates/pit/RalphPlugin.java");
/// What `META-INF/services` must say, by interface.
const SERVICES: [(&str, &[&str]); 9] = [
    (
        "org.pitest.mutationtest.build.MutationInterceptorFactory",
        &[
            "ralph.pit.RalphPlugin$KeepFactory",
            "ralph.pit.RalphPlugin$WrittenFactory",
        ],
    ),
    (
        "org.pitest.mutationtest.build.TestPrioritiserFactory",
        &["ralph.pit.RalphPlugin$PrioritiserFactory"],
    ),
    (
        "org.pitest.mutationtest.build.ProjectMutationInterceptorFactory",
        &["ralph.pit.RalphPlugin$ControlsFactory"],
    ),
    (
        "org.pitest.mutationtest.MutationEngineFactory",
        &["ralph.pit.RalphPlugin$EngineFactory"],
    ),
    (
        "org.pitest.mutationtest.MutationResultInterceptor",
        &["ralph.pit.RalphPlugin$Results"],
    ),
    (
        "org.pitest.mutationtest.MutationResultListenerFactory",
        &["ralph.pit.RalphPlugin$TestsFactory"],
    ),
    (
        "org.pitest.coverage.TestStatListenerFactory",
        &["ralph.pit.RalphPlugin$MapFactory"],
    ),
    (
        "org.pitest.testapi.TestPluginFactory",
        &["ralph.pit.RalphPlugin$JUnit3Factory"],
    ),
    (
        "org.pitest.mutationtest.environment.TransformationPlugin",
        &["ralph.pit.RalphPlugin$Records"],
    ),
];
/// PIT's engine with controls, by the name that the plugin gives it.
pub(super) const ENGINE: &str = "ralph";
/// The files that the plugin writes beside the report.
const REACHING: &str = "reaching-tests.tsv";
const CONTROLS: &str = "controls.tsv";
const TOUCHED: &str = "touched.tsv";
const FOUND: &str = "found.txt";
/// How the line begins on which it says how many mutants will be run.
pub(super) const TOTAL: &str = "ralph: mutants ";
/// Bytes that are read of what the plugin wrote.
const MAX_BYTES: u64 = 64 << 20;

/// The folder of the compiled plugin; compiles it if it is not there as it was compiled.
pub(super) fn classes(module: &ModuleContext<'_>, pit: &[String]) -> Result<PathBuf, GateAbort> {
    let text = |path: &Path| path.display().to_string();
    let (java, cache) = (module.java()?, &module.context.request.cache);
    let made_of = [SOURCE.to_owned(), text(&java)];
    let key = digest(made_of.iter().chain(pit));
    let (folder, known) = (
        cache.join(format!("pit-plugin-{key}")),
        DiskCache::of(cache, "plugins"),
    );
    let found = content(&folder).ok();
    if found.is_some() && found == known.recall(&key) {
        return Ok(folder);
    }
    let compiler = java.with_file_name("javac");
    fs_err::create_dir_all(cache)?;
    let work = tempfile::Builder::new()
        .prefix("pit-plugin-")
        .tempdir_in(cache)?;
    let (source, output) = (
        work.path().join("RalphPlugin.java"),
        work.path().join("classes"),
    );
    fs_err::write(&source, SOURCE)?;
    let services = output.join("META-INF/services");
    fs_err::create_dir_all(&services)?;
    for (interface, classes) in SERVICES {
        fs_err::write(services.join(interface), classes.join("\n"))?;
    }
    let argv = [
        text(&compiler),
        "-J-XX:TieredStopAtLevel=1".to_owned(),
        "-proc:none".to_owned(),
        "-nowarn".to_owned(),
        "-encoding".to_owned(),
        "UTF-8".to_owned(),
        "-cp".to_owned(),
        pit.join(":"),
        "-d".to_owned(),
        text(&output),
        text(&source),
    ];
    let call = module
        .context
        .commands
        .run("javac-plugin", argv.to_vec(), work.path(), &[])?;
    if !call.end.is_success() {
        let first = call
            .output
            .lines()
            .find(|line| line.contains("error:"))
            .unwrap_or("it gave no reason");
        return Err(GateAbort::setup(
            format!(
                "Ralph's plugin for PIT does not compile: javac {}: {}.",
                call.end,
                text::line(first, 300)
            ),
            "Set JAVA_HOME to a JDK 11 or newer, and gates.<NAME>.pit_version to a version that ralph knows.",
        ));
    }
    known.keep(&key, &put_in_place(&output, &folder)?)?;
    Ok(folder)
}

fn content(folder: &Path) -> Result<String, GateAbort> {
    files_digest(&[folder], &|_| true)
}

/// Moves what was compiled to its folder. Another gate may have made that meanwhile, and be using it: what is right stays. Its
/// digest.
fn put_in_place(compiled: &Path, folder: &Path) -> Result<String, GateAbort> {
    let wanted = content(compiled)?;
    let is_right = || content(folder).is_ok_and(|found| found == wanted);
    if !is_right() && fs_err::rename(compiled, folder).is_err() && !is_right() {
        fresh_folder(folder)?;
        fs_err::rename(compiled, folder)?;
    }
    Ok(wanted)
}

/// Which mutants a run keeps; both kinds together narrow twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct MutantFilter {
    /// First and last line, 1-based, by `folder/File.java` below the source root; `None` keeps all files.
    pub(crate) lines: Option<Vec<(String, u32, u32)>>,
    /// These mutants; `None` keeps all.
    pub(crate) mutants: Option<Vec<MutantId>>,
}

impl MutantFilter {
    /// True when nothing is narrowed.
    pub(crate) fn is_all(&self) -> bool {
        self.lines.is_none() && self.mutants.is_none()
    }

    /// The plugin's input, for the mutants of these `classes` if any are named. An error is a name that holds a tab or a
    /// line end.
    pub(super) fn text(&self, classes: &[&String]) -> Result<String, String> {
        let mut rows: Vec<Vec<String>> = classes
            .iter()
            .map(|class| vec!["C".to_owned(), (*class).clone()])
            .collect();
        let line = |file: &str, first: u32, last: u32| {
            vec![
                "L".to_owned(),
                file.to_owned(),
                first.to_string(),
                last.to_string(),
            ]
        };
        if let Some(lines) = &self.lines {
            // A list of lines that keeps none must not look like no list.
            rows.push(line("", 0, 0));
            rows.extend(
                lines
                    .iter()
                    .map(|(file, first, last)| line(file, *first, *last)),
            );
        }
        for MutantId {
            class,
            method,
            descriptor,
            mutator,
            indexes,
        } in self.mutants.iter().flatten()
        {
            let indexes = indexes.join(",");
            rows.push(
                ["M", class, method, descriptor, mutator, &indexes]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
        match rows
            .iter()
            .flatten()
            .find(|field| field.contains(['\t', '\n', '\r']))
        {
            Some(odd) => Err(text::line(odd, 200)),
            None => Ok(rows.iter().map(|row| row.join("\t") + "\n").collect()),
        }
    }
}

/// True if the plugin came to its end and saw no mutant before any test ran.
pub(super) fn found_nothing(report: &Path) -> bool {
    read_text(&report.join(FOUND), MAX_BYTES) == "0\n"
}

/// Reads what became of the controls; of those of one class the worst counts.
pub(super) fn controls(report: &Path) -> Controls {
    let mut controls = Controls::new();
    // A class that is missing here has no control: a file that cannot be read makes no pass.
    for line in read_text(&report.join(CONTROLS), MAX_BYTES).lines() {
        let [class, status, failed] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let control = match (status, described(failed)) {
            ("SURVIVED", None) => Control::Passed,
            ("KILLED", Some(test)) => Control::Failed(test),
            _ => Control::Unclear,
        };
        let worst = controls.entry(class.to_owned()).or_insert(Control::Passed);
        *worst = control.max(worst.clone());
    }
    controls
}

/// Reads what the plugin wrote beside a report.
pub(super) fn reaching(report: &Path) -> Reaching {
    // Names for people: without them a survivor is shown without its tests.
    read_text(&report.join(REACHING), MAX_BYTES)
        .lines()
        .filter_map(reaching_line)
        .collect()
}

fn reaching_line(line: &str) -> Option<(MutantId, Reached)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        class,
        method,
        descriptor,
        mutator,
        indexes,
        count,
        tests,
        initial,
    ] = fields[..]
    else {
        return None;
    };
    let id = MutantId {
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: descriptor.to_owned(),
        mutator: mutator.to_owned(),
        indexes: indexes.split(',').map(str::to_owned).collect(),
    };
    let names = tests
        .split(',')
        .filter(|name| !name.is_empty())
        .take(5)
        .map(|name| text::line(name, 200));
    let is_initial = initial == "initial";
    Some((
        id,
        Reached {
            names: names.collect(),
            count: count.parse().ok()?,
            is_initial,
        },
    ))
}

/// Reads which tests executed what; `None` if the file is not whole.
pub(super) fn coverage(report: &Path) -> Option<Coverage> {
    let text = read_text(&report.join(TOUCHED), MAX_BYTES);
    let mut coverage = Coverage::default();
    for line in text.strip_suffix("\nE\n")?.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["T", test, color] => coverage.tests.push((test.to_owned(), color == "green")),
            ["X", class, tests] => {
                let tests = tests
                    .split(',')
                    .map(str::parse)
                    .collect::<Result<_, _>>()
                    .ok()?;
                coverage.classes.insert(class.to_owned(), tests);
            }
            _ => return None,
        }
    }
    Some(coverage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::java::report::FailingTest;

    fn id(method: &str) -> MutantId {
        let text = |text: &str| text.to_owned();
        MutantId {
            class: text("a.Foo"),
            method: text(method),
            descriptor: text("(I)V"),
            mutator: text("m.Math"),
            indexes: vec![text("4"), text("9")],
        }
    }

    #[test]
    fn a_plugin_that_another_gate_has_made_meanwhile_stays_and_another_one_is_replaced() {
        use std::os::unix::fs::MetadataExt as _;
        let cache = tempfile::tempdir().unwrap();
        let (compiled, folder) = (cache.path().join("compiled"), cache.path().join("plugin"));
        let put = |text: &str| {
            fs_err::create_dir_all(&compiled).unwrap();
            fs_err::write(compiled.join("A.class"), text).unwrap();
            put_in_place(&compiled, &folder).unwrap();
            (
                fs_err::read_to_string(folder.join("A.class")).unwrap(),
                fs_err::metadata(&folder).unwrap().ino(),
            )
        };
        let first = put("one");
        assert_eq!(first.0, "one");
        assert_eq!(put("one"), first, "the very folder");
        let second = put("two");
        assert!(second.0 == "two" && second.1 != first.1);
    }

    #[test]
    fn what_is_kept_is_written_a_line_each_and_an_empty_list_of_lines_keeps_nothing() {
        let keep = MutantFilter {
            lines: Some(vec![("a/Foo.java".to_owned(), 3, 5)]),
            mutants: Some(vec![id("sum")]),
        };
        insta::assert_snapshot!(keep.text(&[&"a.Foo".to_owned()]).unwrap().replace('\t', "|"), @r"
        C|a.Foo
        L||0|0
        L|a/Foo.java|3|5
        M|a.Foo|sum|(I)V|m.Math|4,9
        ");
        let none = MutantFilter {
            lines: Some(Vec::new()),
            mutants: None,
        };
        assert_eq!(none.text(&[]).unwrap(), "L\t\t0\t0\n");
        let odd = MutantFilter {
            lines: None,
            mutants: Some(vec![id("a\nM\tb")]),
        };
        assert_eq!(odd.text(&[]).unwrap_err(), "a M b");
    }

    #[test]
    fn of_a_class_with_several_controls_the_worst_counts_and_odd_lines_are_no_controls() {
        let folder = tempfile::tempdir().unwrap();
        let failed = "KILLED\tDescription [testClass=a.FooTest, name=[engine:junit-jupiter]/[class:a.FooTest]/[method:x()]]";
        let text = format!(
            "a.Good\tSURVIVED\t\na.Good\tSURVIVED\t\na.Late\tSURVIVED\t\na.Late\tTIMED_OUT\t\na.Bad\t{failed}\na.Bad\tRUN_ERROR\t\n\
             a.Bad\tSURVIVED\t\na.Odd\tKILLED\t\na.New\tPASSED\t\na.Lost\n\n"
        );
        fs_err::write(folder.path().join(CONTROLS), text).unwrap();
        let test = FailingTest {
            class: "a.FooTest".to_owned(),
            name: "a.FooTest.x".to_owned(),
        };
        let expected = [
            ("a.Bad", Control::Failed(test)),
            ("a.Good", Control::Passed),
            ("a.Late", Control::Unclear),
            ("a.New", Control::Unclear),
            ("a.Odd", Control::Unclear),
        ];
        let expected: Controls = expected
            .map(|(class, control)| (class.to_owned(), control))
            .into();
        assert_eq!(controls(folder.path()), expected);
        assert!(controls(&folder.path().join("none")).is_empty());
    }

    #[test]
    fn what_tests_executed_is_read_only_if_the_file_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs_err::write(folder.path().join(TOUCHED), text).unwrap();
            coverage(folder.path())
        };
        let whole = "T\ta.FooTest\tgreen\nT\ta.BarTest\tred\nX\ta.Foo\t0,1\nE\n";
        let expected = Coverage {
            tests: vec![
                ("a.FooTest".to_owned(), true),
                ("a.BarTest".to_owned(), false),
            ],
            classes: [("a.Foo".to_owned(), [0, 1].into())].into(),
        };
        assert_eq!(read(whole), Some(expected));
        for cut in [
            &whole[..whole.len() - 2],
            &whole[..whole.len() - 1],
            "",
            "E\n",
            "X\nE\n",
            "X\ta\tb\nE\n",
        ] {
            assert_eq!(read(cut), None, "{cut:?}");
        }
    }

    #[test]
    fn the_tests_that_reach_a_survivor_are_read_and_odd_lines_tell_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a.Foo\tsum\t(I)V\tm.Math\t4,9\t2\ta.FooTest,b.\u{1b}[31mBarTest\tinitial\nodd\na\tb\tc\td\t1\tx\ty\n";
        fs_err::write(folder.path().join(REACHING), text).unwrap();
        let read = reaching(folder.path());
        assert_eq!(read.len(), 1);
        let names = vec!["a.FooTest".to_owned(), "b.BarTest".to_owned()];
        assert_eq!(
            read[&id("sum")],
            Reached {
                names,
                count: 2,
                is_initial: true
            }
        );
        assert!(reaching(&folder.path().join("none")).is_empty());
    }
}
