//! The end of a process, and the party that caused it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum ProcessEnd {
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that ralph did not send ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It ran over its wall limit and was killed.
    TimedOut {
        /// The limit, seconds.
        seconds: u64,
    },
    /// It printed nothing for too long and was killed.
    Idle {
        /// The limit, seconds.
        seconds: u64,
    },
    /// It did the same again and again, without anything new, and was ended.
    Looping {
        /// The repetition, as the predicate of a sentence.
        what: String,
    },
    /// It used more than one attempt may, and was ended.
    OverBudget {
        /// The usage and its limit.
        used: String,
    },
    /// It could not be started.
    NotStarted {
        /// The system's words.
        why: String,
    },
    /// Its supervisor was killed under it; everything that carried its tag was killed then.
    Unsupervised {
        /// The known details.
        why: String,
    },
    /// Ralph's own end (a signal, a crash, a power loss) cut it short.
    Interrupted,
    /// A usage limit: neither progress nor failure.
    Limited {
        /// The agent's message, one line.
        why: String,
        /// Seconds until the time that it printed, if it printed one.
        reset: Option<u64>,
    },
    /// Its provider or the network is out: neither progress nor failure.
    Outage {
        /// The agent's message, one line.
        why: String,
    },
    /// Its CLI cannot work as it is set up (no login, an unknown model): no waiting heals that.
    NotSetUp {
        /// The agent's message, one line.
        why: String,
        /// The next step for a person.
        hint: String,
    },
    /// The provider's policy refused the request.
    Refused {
        /// The agent's message, one line.
        why: String,
    },
}

impl ProcessEnd {
    /// True if it was killed at one of its limits of time.
    pub fn is_at_time_limit(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Idle { .. })
    }

    /// Nothing that the agent did, or left undone, brought it about.
    pub fn is_nobodys_fault(&self) -> bool {
        matches!(
            self,
            Self::Interrupted | Self::Limited { .. } | Self::Outage { .. } | Self::NotSetUp { .. }
        )
    }

    /// Exited with code 0.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exited { code: 0 })
    }
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "exited with code {code}"),
            Self::Signalled { signal } => write!(f, "was ended by signal {signal}"),
            Self::TimedOut { seconds } => {
                write!(f, "ran over its limit of {seconds} s and was killed")
            }
            Self::Idle { seconds } => write!(f, "printed nothing for {seconds} s and was killed"),
            Self::Looping { what } => {
                write!(f, "{what}; it was going round in circles, and was ended")
            }
            Self::OverBudget { used } => write!(f, "used {used} and was ended"),
            Self::NotStarted { why } => write!(f, "could not be started: {why}"),
            Self::Unsupervised { why } => write!(f, "killed its supervisor and was ended: {why}"),
            Self::Interrupted => f.write_str("was interrupted by the end of ralph"),
            Self::Limited { why, .. } => write!(f, "reached a usage limit: {why}"),
            Self::Outage { why } => write!(f, "could not reach its model: {why}"),
            Self::NotSetUp { why, .. } => write!(f, "cannot work as it is set up: {why}"),
            Self::Refused { why } => write!(f, "was refused by its provider's policy: {why}"),
        }
    }
}
