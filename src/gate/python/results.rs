//! What mutmut keeps of each file: `<file>.meta` (an exit code for each mutant), `<file>.spans` (where its copy of the function
//! is, from 3.8 on), and for all `mutmut-stats.json` (the tests that reach each function).
//!
//! A file without results is an error; so is a mutant that was not checked, or whose check was interrupted.

use crate::gate::GateAbort;
use crate::gate::files::{FileMutant, Work, source_lines};
use crate::mutation::MutantStatus;
use crate::source::text;
use serde::Deserialize;
use std::collections::BTreeMap;

const ENGINE: &str = "mutmut";

#[derive(Deserialize)]
struct Meta {
    exit_code_by_key: BTreeMap<String, Option<i64>>,
}

#[derive(Default, Deserialize)]
struct Spans {
    /// First and last line in mutmut's copy, from 1.
    spans: BTreeMap<String, (usize, usize)>,
}

#[derive(Default, Deserialize)]
struct Stats {
    tests_by_mangled_function_name: BTreeMap<String, Vec<String>>,
}

/// The mutants of each file; where no test reaches any, none of them was checked.
pub(super) fn read(
    work: &Work<'_>,
    none_reached: bool,
) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let folder = work.folder.join("mutants");
    let stats: Stats = work.json(ENGINE, &folder.join("mutmut-stats.json"))?.unwrap_or_default();
    let mut files = BTreeMap::new();
    for file in &work.files {
        let beside = |ending: &str| folder.join(format!("{file}.{ending}"));
        let Some(Meta { exit_code_by_key }) = work.json(ENGINE, &beside("meta"))? else {
            return Err(work.unclear(ENGINE, &format!("it left no results of {}", text::line(file, 300))));
        };
        let copies = Copies {
            source: source_lines(&work.folder.join(file)),
            copy: source_lines(&folder.join(file)),
            spans: work.json::<Spans>(ENGINE, &beside("spans"))?.unwrap_or_default(),
        };
        let mut found = Vec::new();
        for (key, code) in exit_code_by_key {
            let status = if none_reached { Some(MutantStatus::NoCoverage) } else { code.and_then(status) };
            let Some(status) = status else {
                return Err(work.unclear(ENGINE, "some mutants were not checked"));
            };
            let function = key.rsplit_once("__mutmut_").map_or(key.as_str(), |(function, _)| function);
            let tests = stats.tests_by_mangled_function_name.get(function).cloned().unwrap_or_default();
            found.push(copies.mutant(&key, status, tests));
        }
        files.insert(file.clone(), found);
    }
    Ok(files)
}

/// What an exit code of mutmut's child means; `None` if its check was interrupted.
fn status(code: i64) -> Option<MutantStatus> {
    Some(match code {
        1 | 3 => MutantStatus::Killed,
        0 => MutantStatus::Survived,
        5 | 33 => MutantStatus::NoCoverage,
        36 | 24 | -24 | 152 | 255 => MutantStatus::TimedOut,
        37 => MutantStatus::NonViable,
        34 => MutantStatus::Unjudged,
        2 => return None,
        _ => MutantStatus::RunError,
    })
}

/// A file, and mutmut's copy of it, in which each mutant of a function is a function.
struct Copies {
    source: Vec<String>,
    copy: Vec<String>,
    spans: Spans,
}

impl Copies {
    /// `key`: `shop.price.x_net__mutmut_1`, of a method `shop.price.xǁCartǁtotal__mutmut_1`.
    fn mutant(&self, key: &str, status: MutantStatus, tests: Vec<String>) -> FileMutant {
        let name = key.rsplit('.').next().unwrap_or(key);
        let mangled = name.rsplit_once("__mutmut_").map_or(name, |(function, _)| function);
        let function = match mangled.strip_prefix("xǁ") {
            Some(method) => method.replacen('ǁ', ".", 1),
            None => mangled.strip_prefix("x_").unwrap_or(mangled).to_owned(),
        };
        let own = function.rsplit('.').next().unwrap_or(&function);
        let original = format!("{mangled}__mutmut_orig");
        let before: Vec<String> =
            self.body(&original).iter().map(|line| line.replace(&original, own)).collect();
        let after: Vec<String> = self.body(name).iter().map(|line| line.replace(name, own)).collect();
        let differs = before.iter().zip(&after).position(|(before, after)| before != after);
        let at = differs.unwrap_or_else(|| before.len().min(after.len()).saturating_sub(1));
        // Blank lines and decorators above a function belong to its copy.
        let head = before.iter().position(|line| defines(line, "def ", own)).unwrap_or(0);
        let class = function.rsplit_once('.').map(|(class, _)| class);
        let shown = |lines: &[String]| lines.get(at).map_or("nothing", |line| line.trim()).to_owned();
        FileMutant {
            id: key.to_owned(),
            line: u32::try_from((self.line_of(class, own) + at).saturating_sub(head)).unwrap_or(u32::MAX),
            function,
            mutator: "mutmut".to_owned(),
            description: format!("replaced `{}` by `{}`", shown(&before), shown(&after)),
            status,
            tests,
        }
    }

    /// The lines of a function in the copy.
    fn body(&self, name: &str) -> &[String] {
        let span = self.spans.spans.get(name).copied();
        let lines = span.and_then(|(first, last)| self.copy.get(first.checked_sub(1)?..last));
        lines.unwrap_or_default()
    }

    /// The line in the file on which a function begins, from 1; with several of its name the first of its class.
    fn line_of(&self, class: Option<&str>, function: &str) -> usize {
        let class =
            class.map_or(Some(0), |class| self.source.iter().position(|line| defines(line, "class ", class)));
        let from = class.unwrap_or(0);
        let below = self.source.iter().skip(from).position(|line| defines(line, "def ", function));
        from + below.unwrap_or(0) + 1
    }
}

/// True for a line that defines this function or class.
fn defines(line: &str, what: &str, name: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line.strip_prefix(what).and_then(|rest| rest.trim_start().strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
