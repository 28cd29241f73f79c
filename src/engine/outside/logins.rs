//! Usage limits of logins that the runs of a user share: `$XDG_STATE_HOME/ralph/logins/<limit>.json`.
//!
//! A notice says when the limit ends and when the next run may start after it, so starts are staggered. It is advice:
//! a notice that is missing, malformed, too long, not a regular file or more than a week and a day ahead is no limit,
//! and the machine believes only a few in a row. Two runs that write at the same moment may get the same start.

use super::Outside;
use crate::agent::LONGEST_LIMIT;
use crate::config::AgentSettings;
use crate::machine::event::QuotaShare;
use crate::machine::facts::ProcessEnd;
use crate::sys::Disk as _;
use crate::sys::clock;
use crate::sys::disk::{self, RealDisk};
use crate::turn::Quota;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seconds between the starts of two runs after a limit.
const BETWEEN_STARTS: i64 = 15;
/// Seconds after a limit in which all runs have started.
const ALL_STARTED: i64 = 600;
/// Seconds by which two reports of the same end of a limit may differ.
const SAME: i64 = 60;
/// Seconds that a limit without a known end holds other runs: the first wait of the run that met it.
const UNKNOWN_RESET: u64 = 60;
/// Bytes of a notice.
const LONGEST_NOTICE: u64 = 1_000;

/// The end of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LimitNotice {
    /// The end of the limit, seconds since 1970.
    until: i64,
    /// The next start that no run has taken, seconds since 1970.
    next: i64,
}

/// The notices of this user, and the starts that this run took.
#[derive(Debug)]
pub(super) struct Logins {
    /// `None` if the user has no state directory: then nothing is shared.
    folder: Option<PathBuf>,
    /// By limit, the end of the limit and the start of this run after it.
    starts: BTreeMap<String, (i64, i64)>,
}

impl Logins {
    /// Finds the directory in an environment.
    pub(super) fn new(environment: &[(String, String)]) -> Self {
        let [state, home] = ["XDG_STATE_HOME", "HOME"].map(|wanted| {
            let (_, value) = environment.iter().find(|(name, _)| name == wanted)?;
            Some(PathBuf::from(value)).filter(|path| path.is_absolute())
        });
        let state = state.or_else(|| home.map(|home| home.join(".local/state")));
        Self {
            folder: state.map(|state| state.join("ralph/logins")),
            starts: BTreeMap::new(),
        }
    }

    /// Records a limit and returns the second of this run's next start, `until` or later.
    pub(super) fn record_limit(&mut self, limit: &str, until: i64, now: i64) -> i64 {
        let is_near = until <= now + LONGEST;
        self.take_start(limit, Some(until).filter(|_| is_near), now)
            .unwrap_or(until)
    }

    /// Returns the second of this run's next start after a limit that any run recorded; `None` without a limit.
    pub(super) fn next_start(&mut self, limit: &str, now: i64) -> Option<i64> {
        self.take_start(limit, None, now)
    }

    fn take_start(&mut self, limit: &str, own: Option<i64>, now: i64) -> Option<i64> {
        let path = self.folder.as_ref()?.join(format!("{limit}.json"));
        let known =
            read_notice(&path, now).filter(|known| own.is_none_or(|own| own <= known.until + SAME));
        let mut notice = known.or_else(|| own.map(|until| LimitNotice { until, next: until }))?;
        if let Some((until, start)) = self.starts.get(limit)
            && *until == notice.until
        {
            return Some(*start);
        }
        let start = notice.next;
        notice.next += BETWEEN_STARTS;
        if notice.next > notice.until + ALL_STARTED {
            notice.next = notice.until;
        }
        self.starts.insert(limit.to_owned(), (notice.until, start));
        if let Ok(text) = serde_json::to_vec(&notice) {
            // Other runs find the limit by themselves if this one cannot write it down.
            RealDisk::new().write(&path, &text).ok();
        }
        Some(start)
    }
}

/// Seconds from now to the furthest end of a limit.
const LONGEST: i64 = LONGEST_LIMIT.cast_signed();

/// Reads a notice of a limit that has not ended.
fn read_notice(path: &Path, now: i64) -> Option<LimitNotice> {
    let bytes = disk::read_beginning(path, LONGEST_NOTICE).ok().flatten()?;
    let mut notice: LimitNotice = serde_json::from_slice(&bytes).ok()?;
    if !(now + 1..=now + LONGEST).contains(&notice.until) {
        return None;
    }
    if !(notice.until..=notice.until + ALL_STARTED).contains(&notice.next) {
        notice.next = notice.until;
    }
    Some(notice)
}

impl Outside {
    /// Notes the limits of an attempt for the other runs with the login. Returns its end and the reported shares, with this
    /// run's own starts after the limits.
    pub(super) fn note_limits(
        &mut self,
        agent: &AgentSettings,
        mut end: ProcessEnd,
        quota: &Quota,
    ) -> (ProcessEnd, Vec<QuotaShare>) {
        let now = clock::now().as_second();
        let mut shares = quota_shares(quota, now);
        let Some(login) = login_of(agent, &self.parts.environment) else {
            return (end, shares);
        };
        let mut start = |limit: &str, reset: &mut Option<u64>| {
            let seconds = reset.unwrap_or(UNKNOWN_RESET);
            let until = now.saturating_add_unsigned(seconds);
            let start = self.logins.record_limit(limit, until, now) - now;
            *reset = reset.map(|_| u64::try_from(start).unwrap_or(seconds));
        };
        if let ProcessEnd::Limited { reset, .. } = &mut end {
            start(&login, reset);
        }
        let stop_at = self.parts.settings.limits.quota.stop_at;
        let used_up = shares
            .iter_mut()
            .filter(|share| stop_at.is_some_and(|most| share.percent >= most.0));
        if let Some(last) = used_up.max_by_key(|share| share.reset) {
            start(&share_limit(&login), &mut last.reset);
        }
        (end, shares)
    }

    /// Returns the end of each agent's limit by the notices of all runs, seconds since 1970.
    pub(super) fn noticed_limits(&mut self) -> BTreeMap<String, u64> {
        let now = clock::now().as_second();
        let stops_at_share = self.parts.settings.limits.quota.stop_at.is_some();
        let mut limits = BTreeMap::new();
        for (name, agent) in &self.parts.settings.agents {
            let Some(login) = login_of(agent, &self.parts.environment) else {
                continue;
            };
            let mut start = self.logins.next_start(&login, now);
            if stops_at_share {
                start = start.max(self.logins.next_start(&share_limit(&login), now));
            }
            let start = start.and_then(|start| u64::try_from(start).ok());
            limits.extend(start.map(|start| (name.clone(), start)));
        }
        limits
    }
}

/// Returns the shares that were reported, with the time from now to the end of each window.
fn quota_shares(quota: &Quota, now: i64) -> Vec<QuotaShare> {
    let shares = quota.windows().map(|window| QuotaShare {
        window: window.name.clone(),
        percent: window.percent,
        reset: window
            .resets_at
            .and_then(|at| u64::try_from(at.saturating_sub(now)).ok())
            .filter(|seconds| (1..=LONGEST_LIMIT).contains(seconds)),
    });
    shares.collect()
}

/// Returns the name of the login that an agent uses: runs with the same preset, model, arguments and login variables share
/// it. `None` for an agent with a `command:`, whose login is unknown.
pub(super) fn login_of(agent: &AgentSettings, environment: &[(String, String)]) -> Option<String> {
    agent.preset.as_ref()?;
    let own = agent.env.iter();
    let mut variables: BTreeMap<&String, &String> = environment
        .iter()
        .map(|(name, value)| (name, value))
        .collect();
    variables.extend(own);
    let mut words: Vec<&str> = agent.command.iter().map(String::as_str).collect();
    for (name, value) in variables {
        if chooses_login(name) {
            words.extend([name.as_str(), value.as_str()]);
        }
    }
    let mut name = crate::task::digest(words.join("\0").as_bytes());
    name.truncate(32);
    Some(name)
}

/// Returns the name of the login's limit at the share of `limits.quota`: only runs with that setting heed it.
fn share_limit(login: &str) -> String {
    format!("{login}-share")
}

/// Returns true for a variable by which CLIs choose an account, or the directory that holds its credentials.
fn chooses_login(name: &str) -> bool {
    let ends = [
        "_API_KEY",
        "_TOKEN",
        "_BASE_URL",
        "_CONFIG_DIR",
        "_CONFIG_HOME",
    ];
    name == "HOME" || name == "CODEX_HOME" || ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    const NOW: i64 = 1_800_000_000;

    fn home() -> (tempfile::TempDir, Vec<(String, String)>) {
        let home = tempfile::tempdir().unwrap();
        let variable = ("HOME".to_owned(), home.path().display().to_string());
        (home, vec![variable])
    }

    #[test]
    fn runs_with_a_login_wait_for_one_limit_and_start_one_after_another() {
        let (_home, environment) = home();
        let mut first = Logins::new(&environment);
        assert_eq!(first.record_limit("a", NOW + 100, NOW), NOW + 100);
        assert_eq!(first.record_limit("a", NOW + 100, NOW), NOW + 100);
        let starts: Vec<_> = (0..3)
            .map(|_| Logins::new(&environment).next_start("a", NOW))
            .collect();
        assert_eq!(starts, [115, 130, 145].map(|at| Some(NOW + at)));
        // The own agent of a run reports the same limit, a second apart.
        let mut second = Logins::new(&environment);
        assert_eq!(second.record_limit("a", NOW + 101, NOW), NOW + 160);
        assert_eq!(second.next_start("a", NOW + 50), Some(NOW + 160));
        assert_eq!(first.next_start("b", NOW), None);
        assert_eq!(first.next_start("a", NOW + 100), None, "it ended");
        // A later limit replaces the notice.
        assert_eq!(second.record_limit("a", NOW + 9000, NOW), NOW + 9000);
        let mut third = Logins::new(&environment);
        assert_eq!(third.next_start("a", NOW), Some(NOW + 9015));
    }

    #[test]
    fn a_hostile_or_stale_notice_is_no_limit() {
        let (home, environment) = home();
        let folder = home.path().join(".local/state/ralph/logins");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.json");
        let start = || Logins::new(&environment).next_start("a", NOW);
        for text in [
            String::new(),
            "until tomorrow".to_owned(),
            format!("{{\"until\": {NOW}, \"next\": {NOW}}}"),
            format!("{{\"until\": {}, \"next\": 0}}", NOW - 5),
            format!("{{\"until\": {}, \"next\": 0}}", NOW + LONGEST + 1),
            format!("{{\"until\": {}, \"next\": 0}}", i64::MAX),
            format!(
                "{{\"until\": {}, \"next\": 0{}}}",
                NOW + 9,
                " ".repeat(2_000)
            ),
        ] {
            fs::write(&file, &text).unwrap();
            assert_eq!(start(), None, "{text}");
        }
        fs::write(
            &file,
            format!("{{\"until\": {}, \"next\": {}}}", NOW + 9, i64::MAX),
        )
        .unwrap();
        assert_eq!(start(), Some(NOW + 9), "the start is bounded");
        fs::remove_file(&file).unwrap();
        nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(start(), None, "and a pipe does not block");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let mut logins = Logins::new(&environment);
        assert_eq!(logins.record_limit("a", NOW + 9, NOW), NOW + 9);
        assert_eq!(Logins::new(&[]).next_start("a", NOW), None);
        assert_eq!(Logins::new(&[]).record_limit("a", NOW + 9, NOW), NOW + 9);
    }

    #[test]
    fn starts_never_drift_away_from_the_end_of_the_limit() {
        let (_home, environment) = home();
        for _ in 0..200 {
            let start = Logins::new(&environment).record_limit("a", NOW + 100, NOW);
            assert!((NOW + 100..=NOW + 100 + ALL_STARTED).contains(&start));
        }
    }

    #[test]
    fn a_login_is_a_preset_with_its_model_and_account() {
        let agent = |preset: Option<&str>, model: &str, env: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let agent = AgentSettings {
                preset: preset.map(str::to_owned),
                command: vec!["claude".into(), "--model".into(), model.into()],
                env: env.iter().map(pair).collect(),
                ..AgentSettings::default()
            };
            login_of(
                &agent,
                &[("HOME".into(), "/h".into()), ("TERM".into(), "x".into())],
            )
        };
        let one = agent(Some("claude"), "opus", &[]);
        assert_eq!(one, agent(Some("claude"), "opus", &[("MAX_RETRIES", "2")]));
        assert_eq!(one.as_ref().map(String::len), Some(32));
        for other in [
            agent(Some("claude"), "haiku", &[]),
            agent(Some("claude"), "opus", &[("CLAUDE_CONFIG_DIR", "/h/work")]),
            agent(Some("claude"), "opus", &[("ANTHROPIC_API_KEY", "k")]),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(agent(None, "opus", &[]), None);
    }
}
