//! The command line, from outside: the real binary, real git, a scripted agent.
//!
//! Owns: everything on which a user or a script can rely: files, exit codes, messages.
//!
//! Promises: hermetic (own home, no git settings but its own); no Maven, no network, no terminal.
//!
//! Refuses to know: ralph's implementation.

mod agents;
mod audit;
mod bad_input;
mod busy;
mod by_hand;
mod chain;
mod check;
mod check_run;
mod checks;
mod deliver;
mod doctor;
mod ends;
mod gate;
mod half_done;
mod history;
mod init;
mod journal;
mod kill;
mod lane_bundles;
mod lanes;
mod limits;
mod log;
mod manual;
mod output;
mod place;
pub(crate) mod project;
mod prompt;
mod quota;
pub(crate) mod real_files;
mod replay;
mod report;
mod settings;
mod shapes;
mod status;
mod stop_gate;
mod tamper;
mod tasks_file;
mod turn_hook;
mod verbs;
pub(crate) mod verifier;
mod virtual_stages;
mod whole;
