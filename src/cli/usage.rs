//! Tips for arguments that a verb does not have: what to type in their place.

use crate::config::SETTINGS;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds a tip to an error about an unknown argument, unless clap has found a similar one.
pub(super) fn add_tip(error: &mut clap::Error) {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    if error.kind() != ErrorKind::UnknownArgument || error.get(ContextKind::SuggestedArg).is_some()
    {
        return;
    }
    let typed: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(tip) = tip(argument, &typed) {
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
}

/// Returns the tip for an argument that `typed`, the command line, holds.
fn tip(argument: &str, typed: &[String]) -> Option<String> {
    let is_run = typed.iter().any(|word| word == "run");
    let Some(flag) = argument.strip_prefix("--") else {
        let is_id = argument.starts_with(|c: char| c.is_ascii_alphanumeric());
        return (is_run && is_id).then(|| {
            format!("`ralph run --only {argument}` takes this task alone, `ralph next` shows the next one")
        });
    };
    let flag = flag.split('=').next().unwrap_or_default();
    if is_run && matches!(flag, "task" | "id") {
        return Some("`ralph run --only ID` takes one task alone".to_owned());
    }
    let name = flag.replace('-', "_");
    let setting = SETTINGS
        .iter()
        .find(|setting| setting.flag == "--set" && setting.key.rsplit('.').next() == Some(&name))?;
    let at = typed
        .iter()
        .position(|word| word == argument || word.starts_with(&format!("--{flag}=")));
    let value = at.and_then(|at| {
        typed[at]
            .split_once('=')
            .map(|(_, value)| value)
            .or_else(|| typed.get(at + 1).map(String::as_str))
    });
    let value = value
        .filter(|value| !value.starts_with('-'))
        .unwrap_or("VALUE");
    Some(format!(
        "`--set {}={value}` sets it for one call",
        setting.key
    ))
}

#[cfg(test)]
mod tests {
    use super::tip;

    #[test]
    fn an_unknown_argument_gets_the_one_that_does_it() {
        let of = |argument: &str, line: &str| {
            let typed: Vec<String> = line.split(' ').map(str::to_owned).collect();
            tip(argument, &typed).unwrap_or_default()
        };
        for (argument, line, wanted) in [
            (
                "1.1",
                "run 1.1",
                "`ralph run --only 1.1` takes this task alone, `ralph next` shows the next one",
            ),
            (
                "--task",
                "run --task 2",
                "`ralph run --only ID` takes one task alone",
            ),
            (
                "--threshold",
                "run --threshold 80",
                "`--set gates.PITEST.threshold=80` sets it for one call",
            ),
            (
                "--threshold",
                "gate PITEST --threshold=80",
                "`--set gates.PITEST.threshold=80` sets it for one call",
            ),
            (
                "--attempts",
                "run --attempts",
                "`--set limits.attempts=VALUE` sets it for one call",
            ),
            ("1.1", "status 1.1", ""),
            ("--colour", "run --colour red", ""),
            ("-x", "run -x", ""),
        ] {
            assert_eq!(of(argument, line), wanted, "{line}");
        }
    }
}
