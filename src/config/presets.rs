//! The command lines of known agent CLIs: the data of `agents.<name>.preset`.

/// A known way to start an agent CLI without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name in `preset:`.
    pub name: &'static str,
    /// Program and arguments.
    pub command: &'static [&'static str],
    /// Arguments that stay behind the configured `args:`.
    pub last: &'static [&'static str],
    /// Environment that the configured `env:` is added to.
    pub env: &'static [(&'static str, &'static str)],
}

/// The presets, by name. Each was run with a scripted model against the version named here: the prompt goes to standard
/// input, and the last answer comes back on standard output as plain text, so that a verdict stands there on a line of
/// its own (Codex repeats the prompt, on standard error).
///
/// `claude` (Claude Code 2.1.330): `--setting-sources user --strict-mcp-config` keeps the login and leaves
/// out hooks and MCP servers that the repository brings along, which would run unasked. As root the CLI
/// refuses `--dangerously-skip-permissions` unless `IS_SANDBOX=1` says that the machine is a sandbox: that
/// is a person's decision, made with `env: {IS_SANDBOX: "1"}`.
///
/// `codex` (0.169.0): its own `workspace-write` sandbox makes `.git` read-only, so that nothing can be
/// committed; hence the bypass. Who wants that sandbox writes a `command:` and `commit: ralph`.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "claude",
        command: &[
            "claude",
            "-p",
            "--dangerously-skip-permissions",
            "--setting-sources",
            "user",
            "--strict-mcp-config",
        ],
        last: &[],
        env: &[("DISABLE_AUTOUPDATER", "1"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")],
    },
    Preset {
        name: "codex",
        command: &["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"],
        last: &["-"],
        env: &[],
    },
];

impl Preset {
    /// The preset of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The whole argument vector with `args` in their place.
    pub fn argv(&self, args: &[String]) -> Vec<String> {
        let own = |part: &[&str]| part.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        [own(self.command), args.to_vec(), own(self.last)].concat()
    }
}
