//! Variables that reach an engine.
//!
//! They are a list of names, those that toolchains need, and those that the caller names in
//! `MUTATION_RUNNER_FORWARD_ENV`.

use crate::source::is_named;
use std::collections::BTreeSet;
use std::path::Path;

/// Names more variables, separated by commas.
pub const FORWARD: &str = "MUTATION_RUNNER_FORWARD_ENV";

/// Names that pass; a `*` at the end matches all names with that prefix.
const PASSED: &str = "PATH HOME USER LOGNAME SHELL TMPDIR TMP TEMP LANG LC_* TERM PWD OLDPWD PYTHONPATH PYTHONHOME \
    VIRTUAL_ENV JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME MAVEN_OPTS MAVEN_ARGS MAVEN_USER_HOME NODE_PATH NVM_DIR NVM_BIN \
    FNM_DIR VOLTA_HOME PNPM_HOME COREPACK_HOME CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN PYENV_ROOT PYENV_VERSION";

/// The environment of an engine.
pub fn engine_environment(all: &[(String, String)]) -> Vec<(String, String)> {
    let forwarded = all
        .iter()
        .find(|(name, _)| name == FORWARD)
        .map_or("", |(_, names)| names.as_str());
    let mut passed = Vec::new();
    for (name, value) in all {
        let is_passed = PASSED.split(' ').any(|one| is_named(name, one))
            || forwarded.split(',').any(|one| one.trim() == name);
        if is_passed && name != WRITE_NOTHING {
            passed.push((name.clone(), value.clone()));
        }
    }
    passed.push((WRITE_NOTHING.to_owned(), "1".to_owned()));
    passed
}

/// The names of variables that do not reach an engine.
pub fn withheld_variables(all: &[(String, String)]) -> Vec<String> {
    let passed = engine_environment(all);
    all.iter()
        .map(|(name, _)| name)
        .filter(|name| !passed.iter().any(|(passed, _)| passed == *name))
        .cloned()
        .collect()
}

/// Names the variables that tests miss, with the call that passes them; `None` if the output names none.
pub(super) fn missing_variable_advice(printed: &str, withheld: &[String]) -> Option<String> {
    // Python's error for a variable that is not set.
    let asked = printed
        .split("KeyError: '")
        .skip(1)
        .filter_map(|rest| rest.split('\'').next());
    let words = printed
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| withheld.iter().any(|name| name == word));
    let names: BTreeSet<&str> = asked
        .chain(words)
        .filter(|word| is_variable_name(word))
        .collect();
    let list = names.into_iter().take(5).collect::<Vec<_>>().join(",");
    (!list.is_empty()).then(|| {
        format!("The tests ask for {list}, which an engine does not get: call again with {FORWARD}={list} in the environment.")
    })
}

/// Returns true for a word of at least four capitals, digits and `_`.
fn is_variable_name(word: &str) -> bool {
    let is_upper = word
        .chars()
        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    word.len() >= 4 && is_upper && word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Names the setting that replaces parts of `PYTHONPATH` inside the folder, where modules were not found.
pub(super) fn python_path_advice(
    printed: &str,
    env: &[(String, String)],
    folder: &Path,
) -> Option<String> {
    let value = env
        .iter()
        .find(|(name, _)| name == "PYTHONPATH")
        .map(|(_, value)| value)?;
    let inside = value
        .split(':')
        .filter(|part| !part.is_empty())
        .filter_map(|part| {
            let path = Path::new(part);
            let inside = if path.is_absolute() {
                path.strip_prefix(folder).ok()?
            } else {
                path
            };
            Some(format!("{:?}", inside.to_string_lossy()))
        });
    let inside: Vec<String> = inside.collect();
    let is_missed = printed.contains("ModuleNotFoundError") || printed.contains("ImportError");
    (is_missed && !inside.is_empty()).then(|| {
        format!(
            "PYTHONPATH leads into the folder, and an engine works in a copy: set `pythonpath = [{}]` under [tool.pytest.ini_options] in pyproject.toml.",
            inside.join(", ")
        )
    })
}

/// Keeps Python from writing files next to the sources.
const WRITE_NOTHING: &str = "PYTHONDONTWRITEBYTECODE";

/// The caller's `PYTHONPATH`, which engines replace, without what leads into the folder: the copy has that.
pub(super) fn python_path(env: &[(String, String)], folder: &Path) -> Option<(String, String)> {
    let (name, value) = env.iter().find(|(name, _)| name == "PYTHONPATH")?;
    let parts: Vec<&str> = value
        .split(':')
        .filter(|part| Path::new(part).is_absolute() && !Path::new(part).starts_with(folder))
        .collect();
    (!parts.is_empty()).then(|| (name.clone(), parts.join(":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_gets_what_the_list_or_the_caller_names_and_nothing_else() {
        let of = |names: &[(&str, &str)]| -> Vec<(String, String)> {
            names
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let all = of(&[
            ("PATH", "/bin"),
            ("LC_TIME", "C"),
            ("JAVA_HOME", "/jdk"),
            ("CARGO_HOME", "/cargo"),
            ("NODE_PATH", "/node"),
            ("OPENAI_API_KEY", "sk"),
            ("DATABASE_URL", "x"),
            ("LCX", "x"),
            ("PYTHONDONTWRITEBYTECODE", "0"),
        ]);
        let plain = engine_environment(&all);
        let names: Vec<&str> = plain.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "PATH",
            "LC_TIME",
            "JAVA_HOME",
            "CARGO_HOME",
            "NODE_PATH",
            "PYTHONDONTWRITEBYTECODE",
        ];
        assert_eq!(names, expected);
        assert_eq!(plain.last().unwrap().1, "1");
        let mut more = all;
        more.extend(of(&[(FORWARD, "DATABASE_URL, ABSENT")]));
        let forwarded = engine_environment(&more);
        assert!(forwarded.contains(&("DATABASE_URL".to_owned(), "x".to_owned())));
        assert!(
            !forwarded
                .iter()
                .any(|(name, _)| name == FORWARD || name == "OPENAI_API_KEY")
        );
    }

    #[test]
    fn a_variable_that_is_missed_is_named_with_the_list_that_forwards_it() {
        let withheld = ["DATABASE_URL", "REDIS_URL", "HOST"].map(str::to_owned);
        let printed =
            "E   KeyError: 'STRIPE_KEY'\nE  RuntimeError: set DATABASE_URL; KeyError: 'lower'";
        let told = missing_variable_advice(printed, &withheld).unwrap();
        assert!(
            told.contains("MUTATION_RUNNER_FORWARD_ENV=DATABASE_URL,STRIPE_KEY "),
            "{told}"
        );
        assert_eq!(
            missing_variable_advice("KeyError: 'id'\nGHOST XREDIS_URL", &withheld),
            None
        );
        let env = [("PYTHONPATH".to_owned(), "/w/lib:src:/else".to_owned())];
        let told = python_path_advice(
            "ModuleNotFoundError: No module named 'shop'",
            &env,
            Path::new("/w"),
        )
        .unwrap();
        assert!(told.contains(r#"pythonpath = ["lib", "src"]"#), "{told}");
        assert_eq!(
            python_path_advice("assert 1 == 2", &env, Path::new("/w")),
            None
        );
    }

    #[test]
    fn a_python_path_leads_no_test_back_into_the_folder() {
        let path = |value: &str| {
            let env = [("PYTHONPATH".to_owned(), value.to_owned())];
            python_path(&env, Path::new("/w")).map(|(_, value)| value)
        };
        assert_eq!(path("/w/src:/lib:src:"), Some("/lib".to_owned()));
        assert_eq!(path("/w"), None);
        assert_eq!(python_path(&[], Path::new("/w")), None);
    }
}
