//! Ralph's own plugin for PIT, compiled once for each version of PIT.
//!
//! A directory of compiled classes is used only while it holds what was compiled. A name that could break a line of its input
//! is refused.

use super::super::classes::files_digest;
use super::super::context::ModuleContext;
use super::super::maven::digest_parts;
use super::super::report::{Aim, MutantId, SealKey};
use super::PitRun;
use crate::gate::GateAbort;
use crate::source::text::line;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SOURCE: &str = include_str!("../../../../templates/pit/RalphPlugin.java");
/// The interfaces of `org.pitest` in `META-INF/services`, each with the parts of the plugin that implement it.
const SERVICES: [(&str, &[&str]); 9] = [
    ("coverage.TestStatListenerFactory", &["Tests"]),
    ("mutationtest.MutationEngineFactory", &["EngineFactory"]),
    (
        "mutationtest.MutationResultInterceptor",
        &["ControlResults"],
    ),
    ("mutationtest.MutationResultListenerFactory", &["Mutants"]),
    (
        "mutationtest.build.MutationInterceptorFactory",
        &["Keep", "Written"],
    ),
    (
        "mutationtest.build.ProjectMutationInterceptorFactory",
        &["Controls"],
    ),
    (
        "mutationtest.build.TestPrioritiserFactory",
        &["PrioritiserFactory"],
    ),
    (
        "mutationtest.environment.TransformationPlugin",
        &["Records"],
    ),
    ("testapi.TestPluginFactory", &["JUnit3Factory"]),
];
/// PIT's engine with controls, by the name that the plugin gives it.
pub(super) const ENGINE: &str = "ralph";
/// The folder of the compiled plugin; compiles it if it is not there as it was compiled.
pub(super) fn compiled_plugin(
    module: &ModuleContext<'_>,
    pit: &[String],
) -> Result<PathBuf, GateAbort> {
    let (java, cache) = (module.find_java()?, &module.context.request.cache);
    let made_of = [SOURCE.to_owned(), java.display().to_string()];
    let key = digest_parts(made_of.iter().chain(pit));
    let known = module.context.disk_cache("plugins");
    if let Some((folder, digest)) = known.recall::<(PathBuf, String)>(&key)
        && folder_content(&folder).is_ok_and(|found| found == digest)
    {
        return Ok(folder);
    }
    let compiler = java.with_file_name("javac");
    fs_err::create_dir_all(cache)?;
    // Another gate may compile it at the same time, so each has its own.
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
    for (interface, parts) in SERVICES {
        let classes: Vec<String> = parts
            .iter()
            .map(|part| format!("ralph.pit.RalphPlugin${part}"))
            .collect();
        fs_err::write(
            services.join(format!("org.pitest.{interface}")),
            classes.join("\n"),
        )?;
    }
    let argv = vec![
        compiler.display().to_string(),
        "-J-XX:TieredStopAtLevel=1".to_owned(),
        "-proc:none".to_owned(),
        "-nowarn".to_owned(),
        "-encoding".to_owned(),
        "UTF-8".to_owned(),
        "-cp".to_owned(),
        pit.join(":"),
        "-d".to_owned(),
        output.display().to_string(),
        source.display().to_string(),
    ];
    let call = module
        .context
        .commands
        .run_program("javac-plugin", argv, work.path(), &[])?;
    if !call.end.is_success() {
        return Err(GateAbort::setup(
            format!(
                "Ralph's plugin for PIT does not compile: javac {}.",
                call.end
            ),
            "Set JAVA_HOME to a JDK 11 or newer, and gates.<NAME>.pit_version to a version that ralph knows.",
        ));
    }
    known.remember(&key, &(&output, folder_content(&output)?))?;
    let _ = work.keep();
    Ok(output)
}

fn folder_content(folder: &Path) -> Result<String, GateAbort> {
    files_digest(&[folder], &|_| true)
}

/// The mutants that a run keeps; both kinds together narrow twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct MutantFilter {
    /// First and last line, 1-based, by `folder/File.java` below the source root; `None` keeps all files.
    pub(crate) lines: Option<Vec<(String, u32, u32)>>,
    /// These mutants; `None` keeps all.
    pub(crate) mutants: Option<Vec<MutantId>>,
}

/// The plugin's input for a run: it mutates `classes` only, and ends where a test of an `accountable` class fails without a
/// mutation.
pub(super) fn plugin_input<'a>(
    run: &PitRun<'_>,
    key: &SealKey,
    accountable: &BTreeSet<String>,
    classes: impl Iterator<Item = &'a String>,
) -> Result<String, GateAbort> {
    let mut rows = vec![make_row(&["K", key.key_text()])];
    match run.aim {
        Aim::Count => rows.push(make_row(&["O", "count"])),
        Aim::Search => rows.push(make_row(&["O", "search"])),
        Aim::Judge => {}
    }
    rows.extend(run.makes_map.then(|| make_row(&["O", "map"])));
    rows.extend(accountable.iter().map(|class| make_row(&["A", class])));
    rows.extend(classes.map(|class| make_row(&["C", class])));
    if let Some(lines) = &run.filter.lines {
        rows.push(make_row(&["O", "lines"]));
        for (file, first, last) in lines {
            rows.push(make_row(&["L", file, &format!("{first}-{last}")]));
        }
    }
    if let Some(mutants) = &run.filter.mutants {
        rows.push(make_row(&["O", "mutants"]));
        for id in mutants {
            let indexes: Vec<String> = id.indexes.iter().map(u32::to_string).collect();
            let indexes = indexes.join(",");
            let row = [
                "M",
                &id.class,
                &id.method,
                &id.descriptor,
                &id.mutator,
                &indexes,
            ];
            rows.push(make_row(&row));
        }
    }
    let mut fields = rows.iter().flatten();
    if let Some(odd) = fields.find(|field| field.contains(['\t', '\n', '\r'])) {
        let why = format!("The name {} cannot be given to PIT.", line(odd, 200));
        return Err(GateAbort::setup(why, "Set tests: all and scope: class."));
    }
    Ok(rows.iter().map(|row| row.join("\t") + "\n").collect())
}

fn make_row(fields: &[&str]) -> Vec<String> {
    fields.iter().map(|field| (*field).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(method: &str) -> MutantId {
        let text = |text: &str| text.to_owned();
        MutantId {
            class: text("a.Foo"),
            method: text(method),
            descriptor: text("(I)V"),
            mutator: text("m.Math"),
            indexes: vec![4, 9],
        }
    }

    #[test]
    fn the_input_has_a_line_each_and_an_empty_list_of_lines_keeps_nothing() {
        let tests = BTreeSet::new();
        let text = |filter: &MutantFilter, aim| {
            let run = PitRun {
                aim,
                makes_map: true,
                ..PitRun::new("own", &tests, filter)
            };
            let own = BTreeSet::from(["a.FooTest".to_owned()]);
            let classes = ["a.Foo".to_owned()];
            plugin_input(&run, &SealKey::for_test("ab"), &own, classes.iter())
                .map(|text| text.replace('\t', "|"))
        };
        let keep = MutantFilter {
            lines: Some(vec![("a/Foo.java".to_owned(), 3, 5)]),
            mutants: Some(vec![id("sum")]),
        };
        insta::assert_snapshot!(text(&keep, Aim::Search).unwrap(), @r"
        K|ab
        O|search
        O|map
        A|a.FooTest
        C|a.Foo
        O|lines
        L|a/Foo.java|3-5
        O|mutants
        M|a.Foo|sum|(I)V|m.Math|4,9
        ");
        let none = MutantFilter {
            lines: Some(Vec::new()),
            mutants: None,
        };
        let input = text(&none, Aim::Count).unwrap();
        assert_eq!(
            input,
            "K|ab\nO|count\nO|map\nA|a.FooTest\nC|a.Foo\nO|lines\n"
        );
        let odd = MutantFilter {
            lines: None,
            mutants: Some(vec![id("a\nM\tb")]),
        };
        let error = text(&odd, Aim::Judge).unwrap_err();
        let why = "The name a M b cannot be given to PIT.";
        assert!(matches!(error, GateAbort::Error { why: given, .. } if given == why));
    }
}
