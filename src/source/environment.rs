//! Selects the environment variables for programs that ralph starts, other than agents.
//!
//! These are gates, builds, checks and hooks. A variable that is not known to be harmless and needed is withheld,
//! unless the configuration names it (`env:`).

/// The variables that builds and tests need, with the purpose of each group.
///
/// A name that ends in `*` covers all names with that beginning, except those that look secret.
const PASSED: [(&str, &str); 12] = [
    (
        "who runs it, and where",
        "PATH HOME USER LOGNAME SHELL HOSTNAME XDG_*",
    ),
    ("temporary files", "TMPDIR TMP TEMP TEMPDIR"),
    (
        "language and time",
        "TZ TZDIR LANG LANGUAGE LC_* LOCALE_ARCHIVE",
    ),
    (
        "how output looks",
        "TERM COLORTERM COLUMNS NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR",
    ),
    (
        "windows that tests open",
        "DISPLAY WAYLAND_DISPLAY XAUTHORITY",
    ),
    (
        "no one can answer questions",
        "CI CONTINUOUS_INTEGRATION GITHUB_ACTIONS GITLAB_CI TF_BUILD DEBIAN_FRONTEND",
    ),
    (
        "the way to the network",
        "http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY \
         SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS NIX_SSL_CERT_FILE \
         GIT_SSL_CAINFO GIT_SSL_CAPATH",
    ),
    (
        "tests that make commits, with a git that does not ask and looks nowhere else",
        "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_CONFIG_NOSYSTEM \
         GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CEILING_DIRECTORIES GIT_TERMINAL_PROMPT GIT_EXEC_PATH",
    ),
    (
        "the JDK and its build tools",
        "JAVA_HOME JAVA_HOME_* JDK_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH \
         MAVEN_HOME M2_HOME M2 M2_REPO MAVEN_OPTS MAVEN_ARGS MAVEN_USER_HOME MAVEN_SKIP_RC MAVEN_PROJECTBASEDIR \
         MAVEN_BASEDIR MVNW_REPOURL GRADLE_HOME GRADLE_OPTS GRADLE_USER_HOME ANT_HOME KOTLIN_HOME SCALA_HOME \
         GROOVY_HOME SDKMAN_DIR JENV_ROOT",
    ),
    (
        "other languages and their build tools",
        "NODE_PATH NODE_OPTIONS NODE_ENV NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME COREPACK_HOME BUN_INSTALL \
         DENO_DIR VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYTHONPATH PYTHONHOME PYTHONUNBUFFERED \
         PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYENV_ROOT PYENV_VERSION PIPX_HOME POETRY_HOME UV_CACHE_DIR UV_PYTHON \
         CARGO_HOME CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_NET_OFFLINE RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS \
         RUST_BACKTRACE RUST_LOG GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY GOPRIVATE GOTOOLCHAIN \
         CGO_ENABLED GEM_HOME GEM_PATH RBENV_ROOT BUNDLE_PATH DOTNET_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR",
    ),
    (
        "compilers and libraries",
        "CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH LD_LIBRARY_PATH LIBRARY_PATH \
         CPATH NIX_PATH NIX_LD NIX_LD_LIBRARY_PATH",
    ),
    (
        "containers that tests start",
        "DOCKER_HOST DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS_VERIFY TESTCONTAINERS_*",
    ),
];

/// Parts of names whose values are secrets.
const SECRET: [&str; 6] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
];

/// Last words of names whose values are secrets: `API_KEY`, `APIKEY`, `NPM_AUTH`, `DB_PASS`.
const SECRET_ENDS: [&str; 4] = ["KEY", "KEYS", "AUTH", "PASS"];

/// True for a variable that every program receives.
pub fn is_passed(name: &str) -> bool {
    let mut passed = PASSED.iter().flat_map(|(_, names)| names.split(' '));
    passed.any(|passed| is_named(name, passed) && !(passed.ends_with('*') && looks_secret(name)))
}

/// True if the pattern is this name, or its beginning and `*`.
pub fn is_named(name: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(name == pattern, |start| name.starts_with(start))
}

/// True for a name of a secret value.
pub(super) fn looks_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    SECRET.iter().any(|part| name.contains(part))
        || name.ends_with("_PWD")
        || words.any(|word| SECRET_ENDS.iter().any(|end| word.ends_with(end)))
}

/// Returns a program's environment: the variables for every program, and those that the configuration names.
pub fn environment_for(
    environment: &[(String, String)],
    named: &[String],
) -> Vec<(String, String)> {
    environment
        .iter()
        .filter(|(name, _)| is_passed(name) || named.iter().any(|pattern| is_named(name, pattern)))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_builds_need_is_passed_and_nothing_else() {
        for name in [
            "PATH",
            "JAVA_HOME",
            "JAVA_HOME_17_X64",
            "LC_TIME",
            "XDG_CACHE_HOME",
            "https_proxy",
            "MAVEN_ARGS",
        ] {
            assert!(is_passed(name), "{name}");
        }
        for name in [
            "",
            "PATHS",
            "MAVEN_PASSWORD",
            "XDG_API_KEY",
            "GIT_DIR",
            "SSH_AUTH_SOCK",
            "DATABASE_URL",
        ] {
            assert!(!is_passed(name), "{name}");
        }
    }

    #[test]
    fn nothing_that_is_passed_by_its_name_looks_secret() {
        for (why, names) in PASSED {
            assert!(
                names
                    .split(' ')
                    .all(|name| !name.is_empty() && !looks_secret(name)),
                "{why}"
            );
        }
    }

    #[test]
    fn names_that_look_secret() {
        for name in [
            "ANTHROPIC_API_KEY",
            "OPENAI_APIKEY",
            "github_token",
            "DB_PASS",
            "DB_PWD",
            "NPM_AUTH",
            "NPM_CONFIG__AUTH",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "GIT_AUTHOR_NAME",
            "KEYBOARD",
            "HOME",
            "PASSED",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn a_program_gets_what_is_named_for_it_too() {
        let of = |names: &[&str]| -> Vec<(String, String)> {
            names
                .iter()
                .map(|name| ((*name).to_owned(), "x".to_owned()))
                .collect()
        };
        let all = of(&["PATH", "NEXUS_USER", "NEXUS_TOKEN", "OTHER"]);
        let given = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            environment_for(&all, &named)
        };
        assert_eq!(given(&[]), of(&["PATH"]));
        assert_eq!(
            given(&["NEXUS_*"]),
            of(&["PATH", "NEXUS_USER", "NEXUS_TOKEN"])
        );
        assert_eq!(given(&["OTHER", "ABSENT"]), of(&["PATH", "OTHER"]));
        assert_eq!(given(&["*"]), all);
    }
}
