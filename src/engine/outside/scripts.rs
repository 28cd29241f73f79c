//! The files of a project that a configured command runs: its program, the script of an interpreter, a module of `-m`, and the
//! same inside of `sh -c`.
//!
//! Promise: an argument that a program only reads is not among them, so a task may write what a gate judges.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Programs that run a script, the first argument that is no option.
const INTERPRETERS: [&str; 21] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "node", "deno", "bun", "ruby",
    "perl", "php", "lua", "Rscript", "tsx", "ts-node", "source", ".", "pwsh",
];
/// Programs that run the program among their arguments.
const WRAPPERS: [&str; 18] = [
    "env", "nice", "ionice", "timeout", "nohup", "setsid", "stdbuf", "xargs", "sudo", "busybox",
    "uv", "poetry", "pipenv", "pdm", "hatch", "npx", "pnpm", "yarn",
];
/// Options of theirs whose value is the next argument and no script.
const VALUES: [&str; 9] = [
    "-W",
    "-X",
    "-o",
    "+o",
    "-O",
    "+O",
    "-I",
    "--import-map",
    "--conditions",
];
/// Options of theirs whose value is a script, too.
const LOADED: [&str; 6] = [
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--rcfile",
];
/// Words of a shell in front of a command.
const KEYWORDS: [&str; 11] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "time", "exec", "command",
];
/// Commands inside of commands that are followed.
const MAX_DEPTH: usize = 4;

/// Scripts, as absolute paths; they may not be there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scripts {
    /// Files that are run.
    pub(super) files: BTreeSet<PathBuf>,
    /// Files that would be run as modules if they were there.
    pub(super) modules: BTreeSet<PathBuf>,
}

impl Scripts {
    /// Adds the scripts of a command that runs in a folder.
    pub(super) fn add_command(&mut self, folder: &Path, argv: &[String]) {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        self.read_command(folder, &words, 0);
    }

    fn read_command(&mut self, folder: &Path, words: &[&str], depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if let Some(program) = words.first().filter(|program| program.contains('/')) {
            self.add_file(folder, program);
        }
        let is_wrapper = words
            .first()
            .is_some_and(|word| WRAPPERS.contains(&base_name(word)));
        let last = if is_wrapper { words.len() } else { 1 };
        let Some(at) = words
            .iter()
            .take(last)
            .position(|word| is_interpreter(word))
        else {
            return;
        };
        let (program, mut rest) = (base_name(words[at]), words[at + 1..].iter());
        while let Some(word) = rest.next() {
            match *word {
                "-m" if program.starts_with("python") => {
                    return rest
                        .next()
                        .into_iter()
                        .for_each(|name| self.add_module(folder, name));
                }
                option if is_shell(program) && is_text_option(option) => {
                    // In a shell's text a quoted one is several words.
                    let most = if depth == 0 { 1 } else { usize::MAX };
                    let text: Vec<&str> = rest.take(most).copied().collect();
                    return self.read_shell(folder, &text.join(" "), depth + 1);
                }
                option if LOADED.contains(&option) => {
                    rest.next()
                        .into_iter()
                        .for_each(|name| self.add_file(folder, name));
                }
                option if VALUES.contains(&option) => _ = rest.next(),
                option if option.starts_with('-') => {}
                "run" | "test" if matches!(program, "deno" | "bun") => {}
                script => return self.add_file(folder, script),
            }
        }
    }

    /// The commands of a text that a shell runs. `cd` counts for those behind it.
    fn read_shell(&mut self, folder: &Path, text: &str, depth: usize) {
        let mut folder = folder.to_owned();
        for command in text.split(['\n', ';', '&', '|', '(', ')', '`', '{', '}']) {
            let words: Vec<&str> = command.split_whitespace().map(strip_quotes).collect();
            let start = words
                .iter()
                .position(|word| !KEYWORDS.contains(word) && !is_assignment(word))
                .unwrap_or(words.len());
            match &words[start..] {
                ["cd", to, ..] => folder = plain_path(&folder.join(to)),
                words => self.read_command(&folder, words, depth),
            }
        }
    }

    fn add_file(&mut self, folder: &Path, name: &str) {
        self.files.insert(plain_path(&folder.join(name)));
    }

    fn add_module(&mut self, folder: &Path, name: &str) {
        let module = folder.join(name.replace('.', "/"));
        self.modules
            .insert(plain_path(&module.with_extension("py")));
        self.modules
            .extend(["__init__.py", "__main__.py"].map(|file| plain_path(&module.join(file))));
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// True for an interpreter, with or without a version.
fn is_interpreter(word: &str) -> bool {
    let name = base_name(word);
    INTERPRETERS.contains(&name)
        || INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

fn is_shell(program: &str) -> bool {
    program.ends_with("sh")
}

/// `-c`, also behind other letters.
fn is_text_option(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn strip_quotes(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

/// Without `.` and `..`.
pub(super) fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(argv: &[&str]) -> Vec<String> {
        let mut found = Scripts::default();
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        found.add_command(Path::new("/w/src/app"), &argv);
        found
            .files
            .iter()
            .chain(&found.modules)
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn what_a_command_runs_is_found_and_what_it_reads_is_not() {
        for (argv, expected) in [
            (
                &["python3", "tools/lint.py", "src/a.py"][..],
                &["/w/src/app/tools/lint.py"][..],
            ),
            (
                &["python3.12", "-W", "error", "-B", "lint.py"],
                &["/w/src/app/lint.py"],
            ),
            (&["./gradlew", "test"], &["/w/src/app/gradlew"]),
            (&["mvn", "-q", "test"], &[]),
            (
                &["sh", "-ec", "sh ../../ci/check.sh && true"],
                &["/w/ci/check.sh"],
            ),
            (
                &["sh", "-c", "cd ../.. && A=1 exec ci/run \"$@\""],
                &["/w/ci/run"],
            ),
            (
                &["sh", "-c", "for t in tests/*.sh; do sh $t || exit 1; done"],
                &["/w/src/app/$t"],
            ),
            (
                &[
                    "bash",
                    "-o",
                    "pipefail",
                    "-c",
                    "if ! timeout 9 node 'a/b.js'; then exit 1; fi",
                ],
                &["/w/src/app/a/b.js"],
            ),
            (
                &["env", "A=1", "node", "-r", "./setup.js", "run.js"],
                &["/w/src/app/run.js", "/w/src/app/setup.js"],
            ),
            (&["sh", "-c", "sh -c 'sh x.sh'"], &["/w/src/app/x.sh"]),
            (&["test", "-e", "out/done"], &[]),
            (&["grep", "sh", "data.txt"], &[]),
            (&["uv", "run", "python", "x.py"], &["/w/src/app/x.py"]),
            (
                &["python3", "-m", "tools.mod", "x"],
                &[
                    "/w/src/app/tools/mod.py",
                    "/w/src/app/tools/mod/__init__.py",
                    "/w/src/app/tools/mod/__main__.py",
                ],
            ),
        ] {
            let mut found = scripts(argv);
            found.sort();
            assert_eq!(found, expected, "{argv:?}");
        }
    }
}
