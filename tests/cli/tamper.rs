//! Manual changes to a finished run are found.
//!
//! They cover each byte and record of its journal, each box, each line of progress.txt, each file that a gate wrote.

use super::project::Project;
use super::replay::{JOURNAL, Player, find, ran, rechain, records};
use ralph::journal::{self, JournalError};
use ralph::report::replay::FindingGrade;

#[test]
fn each_byte_of_a_journal_flipped_in_three_ways_is_found_at_its_record() {
    let project = Project::new("- [ ] 1. One\n");
    project.ralph(&["run"]).code(0);
    let mut bytes = project.bytes(JOURNAL);
    let mut record = 1;
    for at in 0..bytes.len() {
        let whole = bytes[at];
        for flip in [0x01, 0x20, 0x80] {
            bytes[at] = whole ^ flip;
            match journal::replay(&bytes, |_| Ok::<(), JournalError>(())) {
                Err(JournalError::Corrupt { line, .. }) => assert_eq!(line, record, "{at} {flip}"),
                // No record follows it: a replay names the invalid one.
                Ok(ending) => {
                    assert_eq!(ending.records + 1, record, "{at} {flip}");
                    assert!(
                        ending.torn > 0 && ending.unread.is_none(),
                        "{at} {flip}: {ending:?}"
                    );
                }
                Err(error) => panic!("{at} {flip}: {error}"),
            }
        }
        bytes[at] = whole;
        record += u64::from(whole == b'\n');
    }
    assert!(record > 10, "{record} records");
}

/// True for a finding at one of these records, counted from 0.
fn names(told: &str, records: std::ops::RangeInclusive<usize>) -> bool {
    let number = told
        .strip_prefix(JOURNAL)
        .and_then(|rest| rest.strip_prefix(':')?.split_once(':'));
    number.is_some_and(|(number, _)| records.contains(&(number.parse::<usize>().unwrap() - 1)))
}

#[test]
fn neighbours_swapped_in_a_chain_made_anew_are_found_at_their_place() {
    let project = ran();
    let (mut player, all, progress) = (
        Player::of(&project),
        records(&project),
        project.read("progress.txt"),
    );
    let mut missed = Vec::new();
    for at in 0..all.len() - 1 {
        let mut swapped = all.clone();
        swapped.swap(at, at + 1);
        rechain(&project, &swapped);
        let (grade, told) = player.told();
        project.write("progress.txt", &progress);
        if grade != Some(FindingGrade::Differs) || !names(&told[0], at..=at + 1) {
            missed.push(format!(
                "{at}: {} {} {told:?}",
                all[at]["e"]["kind"],
                all[at + 1]["e"]["kind"]
            ));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_tick_forged_in_a_chain_made_anew_is_found_wherever_it_stands() {
    let project = ran();
    let (mut player, all, progress) = (
        Player::of(&project),
        records(&project),
        project.read("progress.txt"),
    );
    let mut tick = all[find(&all, "boxes-flipped")].clone();
    tick["old"] = "f".repeat(64).into();
    for at in 1..=all.len() {
        let mut forged = all.clone();
        forged.insert(at, tick.clone());
        rechain(&project, &forged);
        let (grade, told) = player.told();
        project.write("progress.txt", &progress);
        assert_eq!(grade, Some(FindingGrade::Differs), "{at}: {told:?}");
        assert!(
            told.iter().any(|told| names(told, at..=at + 1)),
            "{at}: {told:?}"
        );
    }
}

#[test]
fn each_box_of_tasks_md_written_by_hand_is_named() {
    let project = ran();
    let (mut player, tasks) = (Player::of(&project), project.read("tasks.md"));
    let lines: Vec<&str> = tasks.split_inclusive('\n').collect();
    for at in 0..lines.len() {
        let mut forged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert!(forged[at].starts_with("- [x] "), "{tasks}");
        forged[at] = forged[at].replacen("[x]", "[ ]", 1);
        project.write("tasks.md", forged.concat());
        let (grade, told) = player.told();
        assert_eq!(grade, Some(FindingGrade::Differs));
        assert!(
            told[0].starts_with(&format!("tasks.md:{}: ", at + 1)),
            "{told:?}"
        );
    }
}

#[test]
fn each_line_of_progress_txt_changed_or_cut_is_found_in_its_entry() {
    let project = ran();
    let (mut player, progress) = (Player::of(&project), project.read("progress.txt"));
    let lines: Vec<&str> = progress.split_inclusive('\n').collect();
    let mut entry = String::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some((_, rest)) = line
            .strip_prefix("## ")
            .and_then(|rest| rest.split_once(" iteration "))
        {
            entry = format!("entry of iteration {} ", rest.split(' ').next().unwrap());
        }
        let (before, after) = (lines[..at].concat(), lines[at + 1..].concat());
        for forged in [
            "",
            &format!("{} \n", line.trim_end()),
            &line.replacen(|_: char| true, "~", 1),
        ] {
            project.write("progress.txt", format!("{before}{forged}{after}"));
            let (grade, told) = player.told();
            assert_eq!(grade, Some(FindingGrade::Differs), "{line} -> {forged}");
            assert!(
                told.iter().any(|told| told.contains(&entry)),
                "{line} -> {forged}: {told:?}"
            );
        }
    }
    assert!(lines.len() > 20, "{progress}");
}

#[test]
fn each_file_that_a_gate_left_is_held_by_the_record_of_its_verdict() {
    let project = ran();
    let mut player = Player::of(&project);
    let mut judged = 0;
    for (at, record) in records(&project).iter().enumerate() {
        if record["e"]["kind"] != "gate-ended" {
            continue;
        }
        judged += 1;
        let entries = project.entries();
        let numbers = entries
            .iter()
            .filter(|entry| entry.task == "1.LINT")
            .map(|entry| entry.iteration);
        let number = numbers.clone().nth(judged - 1).unwrap();
        let folder = project.path(format!(".ralph/state/iter-{number}/gate"));
        let left: Vec<_> = project
            .files()
            .into_keys()
            .filter(|path| path.starts_with(&folder))
            .collect();
        assert!(!left.is_empty(), "{}", folder.display());
        let mut changed = |what: &str| {
            let (grade, told) = player.told();
            assert_eq!(grade, Some(FindingGrade::Differs), "{what}");
            assert!(
                names(&told[0], at..=at) && told[0].contains("were changed"),
                "{what}: {told:?}"
            );
        };
        for path in &left {
            let bytes = fs_err::read(path).unwrap();
            let shown = path.display();
            fs_err::write(path, [&b"<html>100%</html>"[..], &bytes].concat()).unwrap();
            changed(&format!("{shown} replaced"));
            fs_err::remove_file(path).unwrap();
            changed(&format!("{shown} removed"));
            fs_err::write(path, bytes).unwrap();
        }
        let more = folder.join("index.html");
        fs_err::write(&more, "100%").unwrap();
        changed("a file more");
        fs_err::remove_file(more).unwrap();
    }
    assert_eq!((judged, player.told()), (2, (None, Vec::new())));
}
