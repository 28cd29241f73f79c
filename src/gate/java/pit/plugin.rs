//! Ralph's own plugin for PIT, compiled once for each version of PIT.
//!
//! A directory of compiled classes is used only while it holds what was compiled. A name that could break a line of its input
//! is refused.

use super::super::classes::files_digest;
use super::super::context::ModuleContext;
use super::super::maven::digest_parts;
use super::super::report::{Aim, Owners, SealKey};
use super::PitRun;
use crate::gate::GateAbort;
use crate::gate::scope::TargetClass;
use crate::source::text::line;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SOURCE: &str = include_str!("../../../../templates/pit/RalphPlugin.java");
/// The interfaces of `org.pitest` in `META-INF/services`, each with the parts of the plugin that implement it.
const SERVICES: [(&str, &[&str]); 8] = [
    ("coverage.TestStatListenerFactory", &["Tests"]),
    ("mutationtest.MutationEngineFactory", &["EngineFactory"]),
    ("mutationtest.MutationResultInterceptor", &["Results"]),
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
    ("testapi.TestPluginFactory", &["TestUnits"]),
];
/// All lines of a file.
const ALL_LINES: &[(u32, u32)] = &[(0, i32::MAX.unsigned_abs())];
/// PIT's engine with controls, by the name that the plugin gives it.
pub(super) const ENGINE: &str = "ralph";
/// The folder of the compiled plugin. Compiles it if its files are not those of the last compilation.
pub(super) fn compiled_plugin(
    module: &ModuleContext<'_>,
    java: &Path,
    pit: &[String],
) -> Result<PathBuf, GateAbort> {
    let made_of = [SOURCE.to_owned(), java.display().to_string()];
    let key = digest_parts(made_of.iter().chain(pit));
    let known = module.context.disk_cache("plugins");
    if let Some((folder, digest)) = known.recall::<(PathBuf, String)>(&key)
        && folder_content(&folder).is_ok_and(|found| found == digest)
    {
        return Ok(folder);
    }
    let compiler = java.with_file_name("javac");
    let work = module.context.call_folder("pit-plugin-")?;
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
            "Set JAVA_HOME to a JDK 11 or newer, and gates.<NAME>.pit_version to its default.",
        ));
    }
    known.remember(&key, &(&output, folder_content(&output)?))?;
    let _ = work.keep();
    Ok(output)
}

fn folder_content(folder: &Path) -> Result<String, GateAbort> {
    files_digest(&[folder], &|_| true)
}

/// The plugin's input for a run: it mutates `classes` only, on the lines of the `targets` if one of these is judged by lines, and
/// ends where a test of an `accountable` class fails without a mutation.
pub(super) fn plugin_input(
    run: &PitRun,
    key: &SealKey,
    accountable: &BTreeSet<String>,
    classes: &Owners,
    targets: &[TargetClass],
) -> Result<String, GateAbort> {
    let mut extents = targets.iter().map(|target| &target.extent);
    let is_by_lines = extents.any(|extent| extent.line_ranges().is_some());
    let options = [
        ("alone", run.alone),
        ("count", run.aim == Aim::Count),
        ("search", run.aim == Aim::Search),
        ("map", run.makes_map),
        ("lines", is_by_lines),
        ("mutants", run.mutants.is_some()),
    ];
    let mut input = make_row(&["K", key.key_text()])?;
    for (option, _) in options.iter().filter(|(_, is_on)| *is_on) {
        input += &make_row(&["O", option])?;
    }
    for class in accountable {
        input += &make_row(&["A", class])?;
    }
    for class in classes.keys() {
        input += &make_row(&["C", class])?;
    }
    if is_by_lines {
        for target in targets {
            let file = format!("{}.java", target.class.replace('.', "/"));
            for (first, last) in target.extent.line_ranges().unwrap_or(ALL_LINES) {
                input += &make_row(&["L", &file, &format!("{first}-{last}")])?;
            }
        }
    }
    for id in run.mutants.iter().flatten() {
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
        input += &make_row(&row)?;
    }
    Ok(input)
}

/// A line of the input. Errors: a field that would end it or begin another field.
fn make_row(fields: &[&str]) -> Result<String, GateAbort> {
    if let Some(odd) = fields
        .iter()
        .find(|field| field.contains(['\t', '\n', '\r']))
    {
        let why = format!("The name {} cannot be given to PIT.", line(odd, 200));
        return Err(GateAbort::setup(why, "Set tests: all and scope: class."));
    }
    Ok(fields.join("\t") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::java::report::MutantId;
    use crate::gate::scope::MutationExtent;
    use crate::source::RepoPath;

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
        let text = |mutants: &[MutantId], lines: &[(u32, u32)], aim| {
            let run = PitRun {
                aim,
                makes_map: true,
                mutants: (!mutants.is_empty()).then(|| mutants.to_vec()),
                ..PitRun::new("own", BTreeSet::new())
            };
            let own = BTreeSet::from(["a.FooTest".to_owned()]);
            let classes = Owners::from([("a.Foo".to_owned(), "a.Foo".to_owned())]);
            let target = TargetClass {
                package: "p".to_owned(),
                path: RepoPath::parse("src/main/java/a/Foo.java"),
                class: "a.Foo".to_owned(),
                tests: BTreeSet::new(),
                extent: MutationExtent::Lines(lines.to_vec()),
            };
            plugin_input(&run, &SealKey::for_test("ab"), &own, &classes, &[target])
                .map(|text| text.replace('\t', "|"))
        };
        let lines = [(3, 5)];
        insta::assert_snapshot!(text(&[id("sum")], &lines, Aim::Search).unwrap(), @r"
        K|ab
        O|search
        O|map
        O|lines
        O|mutants
        A|a.FooTest
        C|a.Foo
        L|a/Foo.java|3-5
        M|a.Foo|sum|(I)V|m.Math|4,9
        ");
        assert_eq!(
            text(&[], &[], Aim::Count).unwrap(),
            "K|ab\nO|count\nO|map\nO|lines\nA|a.FooTest\nC|a.Foo\n"
        );
        let error = text(&[id("a\nM\tb")], &[], Aim::Judge).unwrap_err();
        let why = "The name a M b cannot be given to PIT.";
        assert!(matches!(error, GateAbort::Error { why: given, .. } if given == why));
    }
}
