//! The third test binary: false claims of agents, each with ralph's correct response.
//!
//! There is one file for each attack, in a directory for each promise that it attacks
//! (`tests/lies/<promise>/<name>.yaml`). [`Lie`] gives the keys of such a file. The files of `tests/reports` have the
//! same form: cases that users reported, of this program or of others, each with the right answer.

#[cfg(test)]
#[path = "../cli/project.rs"]
#[expect(dead_code, reason = "another test binary uses all of it")]
mod project;

fn main() {
    let mut arguments = libtest_mimic::Arguments::from_args();
    // Each test waits for processes.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    arguments.test_threads.get_or_insert(2 * cores);
    libtest_mimic::run(&arguments, lie::tests()).exit();
}

#[cfg(test)]
mod lie {
    use crate::project::Project;
    use libtest_mimic::{Failed, Trial};
    use serde::Deserialize;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    /// An attack. The texts of `before`, `agent`, `between` and `holds` are shell scripts in the workspace.
    ///
    /// The only package is `src/app`, and `ralph` is on their PATH.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Lie {
        /// The action of the attacker, a sentence.
        #[serde(alias = "report")]
        attack: String,
        /// tasks.md, by default with `1.` and `2.`.
        #[serde(default = "two_tasks")]
        tasks: String,
        /// Further configuration.
        #[serde(default)]
        config: String,
        /// Variables of ralph's own environment. No output holds a value that begins with `canary-`.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Preparation before ralph starts.
        #[serde(default)]
        before: String,
        /// The agent's actions in the attempts `<task>/<attempt>`. In all others it works correctly.
        agent: BTreeMap<String, String>,
        /// Actions after the first run, before ralph runs again.
        between: Option<String>,
        /// The exit code of the last run.
        exit: i32,
        /// The result of each iteration, as in progress.txt (`1.=ACCEPTED`), or the first words of it.
        story: Vec<String>,
        /// Parts of the last run's output or of progress.txt.
        #[serde(default)]
        says: Vec<String>,
        /// A script that succeeds if the final state is right.
        #[serde(default)]
        holds: String,
    }

    fn two_tasks() -> String {
        "- [ ] 1. One\n- [ ] 2. Two\n".to_owned()
    }

    impl Lie {
        fn tell(&self) -> Result<(), Failed> {
            let project = Project::new(&self.tasks);
            project.config(&self.config);
            project.tool(
                "ralph",
                &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_ralph")),
            );
            let cases: Vec<String> = self
                .agent
                .iter()
                .map(|(attempt, deed)| format!("{attempt}) {deed}\n;;\n"))
                .collect();
            project.agent(&cases.concat());
            shell(&project, "before", &self.before)?;
            let run = || {
                let mut run = project.command(&["run"]);
                run.envs(&self.env);
                Project::finish(run)
            };
            let mut done = run();
            if let Some(between) = &self.between {
                shell(&project, "between", between)?;
                done = run();
            }
            let story = project.story();
            let progress = if project.has("progress.txt") {
                project.read("progress.txt")
            } else {
                String::new()
            };
            let said = format!("{}\n{}\n{progress}", done.out, done.err);
            let same = story.len() == self.story.len()
                && story
                    .iter()
                    .zip(&self.story)
                    .all(|(is, must)| is.starts_with(must));
            if done.code != self.exit || !same {
                return Err(format!(
                    "{}\nexit {}, story {story:#?}\n{said}",
                    self.attack, done.code
                )
                .into());
            }
            if done.out.contains("canary-") || done.err.contains("canary-") {
                return Err(format!("{}\nit tells a secret:\n{said}", self.attack).into());
            }
            if let Some(words) = self.says.iter().find(|words| !said.contains(*words)) {
                return Err(format!("{}\nit does not say {words:?}:\n{said}", self.attack).into());
            }
            shell(&project, "holds", &self.holds)
        }
    }

    /// Runs a script of the file in the workspace.
    fn shell(project: &Project, part: &str, script: &str) -> Result<(), Failed> {
        let mut shell = project.program("sh");
        shell.args(["-euc", script]).current_dir(project.path(""));
        let done = Project::finish(shell);
        if done.code == 0 {
            return Ok(());
        }
        Err(format!("{part}: exit {}\n{}{}", done.code, done.out, done.err).into())
    }

    /// Returns the files below a directory.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| {
                if path.is_dir() {
                    files(&path)
                } else {
                    vec![path]
                }
            })
            .collect()
    }

    /// Returns one test for each file.
    pub(crate) fn tests() -> Vec<Trial> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let (lies, reports) = (root.join("lies"), root.join("reports"));
        let trial = |path: PathBuf| {
            let shown = path
                .strip_prefix(&lies)
                .or_else(|_| path.strip_prefix(&root))
                .unwrap();
            let name = shown.with_extension("").display().to_string();
            Trial::test(name.replace('/', "::"), move || {
                let lie: Lie = serde_yaml::from_str(&fs_err::read_to_string(&path)?)?;
                lie.tell()
            })
        };
        let is_lie = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        };
        [files(&lies), files(&reports)]
            .concat()
            .into_iter()
            .filter(is_lie)
            .map(trial)
            .collect()
    }
}
