//! Tests the journal's promises: chain, torn tails at every byte, forgery, newer versions.

use super::*;
use crate::sys::{Swap, end_of};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A disk in memory for the journal.
#[derive(Default)]
struct Memory(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl Disk for Memory {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().get(path).cloned())
    }
    fn is_odd(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
    fn tail(&self, path: &Path, cap: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        Ok(self.read(path)?.map(|bytes| end_of(bytes, cap)))
    }
    fn create_shared(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        Ok(self.0.borrow().get(path).map(|bytes| bytes.len() as u64))
    }
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0
            .borrow_mut()
            .entry(path.to_owned())
            .or_default()
            .extend_from_slice(bytes);
        Ok(())
    }
    fn sync(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).unwrap();
        self.0
            .borrow_mut()
            .entry(path.to_owned())
            .or_default()
            .truncate(len);
        Ok(())
    }
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().insert(path.to_owned(), bytes.to_vec());
        Ok(())
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes)
    }
    fn swap(&mut self, _: &Path, _: &[u8], _: &[u8]) -> io::Result<Swap> {
        Ok(Swap::Changed)
    }
    fn swap_unsynced(&mut self, _: &Path, _: &[u8], _: &[u8]) -> io::Result<Swap> {
        Ok(Swap::Changed)
    }
    fn changed_at(&self, _: &Path) -> io::Result<Option<i64>> {
        Ok(None)
    }
    fn rename(&mut self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn path() -> PathBuf {
    PathBuf::from("/w/.ralph/state/journal.jsonl")
}

fn opened(disk: &mut Memory) -> Result<(Journal, Vec<Record>), JournalError> {
    let mut records = Vec::new();
    let journal = Journal::open(disk, &path(), |record| {
        records.push(record);
        Ok::<(), JournalError>(())
    })?;
    Ok((journal, records))
}

fn read(bytes: &[u8]) -> Result<(JournalEnd, Vec<Record>), JournalError> {
    let mut records = Vec::new();
    let ending = replay(bytes, |record| {
        records.push(record);
        Ok::<(), JournalError>(())
    })?;
    assert_eq!(ending.records, records.len() as u64);
    Ok((ending, records))
}

fn written(count: usize) -> (Memory, Vec<u8>) {
    let mut disk = Memory::default();
    let (mut journal, records) = opened(&mut disk).unwrap();
    assert!(records.is_empty());
    for _ in 0..count {
        journal
            .append(&mut disk, "2026-11-22T00:00:00Z", &Event::Resumed)
            .unwrap();
    }
    let bytes = disk.read(&path()).unwrap().unwrap();
    (disk, bytes)
}

#[test]
fn records_come_back_in_order_and_the_chain_goes_on_after_reopening() {
    let (mut disk, _) = written(3);
    let (mut journal, records) = opened(&mut disk).unwrap();
    assert_eq!(
        records.iter().map(|record| record.seq).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    journal
        .append(&mut disk, "2026-11-22T00:00:01Z", &Event::ProgressAppended)
        .unwrap();
    let bytes = disk.read(&path()).unwrap().unwrap();
    assert_eq!(read(&bytes).unwrap().0.records, 4);
}

#[test]
fn any_prefix_of_the_bytes_opens_and_keeps_every_whole_record() {
    let (_, bytes) = written(3);
    let line = bytes.len() / 3;
    for cut in 0..=bytes.len() {
        let (ending, records) = read(&bytes[..cut]).unwrap();
        assert_eq!(records.len(), cut / line, "cut at {cut}");
        assert_eq!(ending.torn, (cut % line) as u64);
        let mut disk = Memory::default();
        disk.replace(&path(), &bytes[..cut]).unwrap();
        opened(&mut disk).unwrap();
        assert_eq!(
            disk.len(&path()).unwrap().unwrap(),
            (cut / line * line) as u64
        );
    }
}

#[test]
fn a_flipped_byte_in_the_middle_is_refused_with_its_line() {
    let (_, bytes) = written(3);
    let line = bytes.len() / 3;
    for at in line..2 * line - 1 {
        let mut forged = bytes.clone();
        forged[at] ^= 1;
        match read(&forged) {
            Err(JournalError::Corrupt { line: 2, .. }) => {}
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[test]
fn a_record_cut_out_or_moved_is_refused() {
    let (_, bytes) = written(4);
    let line = bytes.len() / 4;
    let rows: Vec<&[u8]> = bytes.chunks(line).collect();
    for order in [[0, 2, 3], [0, 2, 1], [1, 2, 3]] {
        let forged: Vec<u8> = order
            .iter()
            .flat_map(|row| rows[*row].iter().copied())
            .collect();
        assert!(
            matches!(read(&forged), Err(JournalError::Corrupt { .. })),
            "{order:?}"
        );
    }
}

#[test]
fn a_newer_record_is_read_past_and_never_written_behind() {
    let (mut disk, bytes) = written(1);
    let head = read(&bytes).unwrap().0.head;
    let body = r#"{"v":1,"seq":2,"at":"x","e":{"kind":"from-the-future"}}"#;
    let hash = format::hash(head.as_bytes(), body.as_bytes());
    let line = format!("{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}\n");
    disk.append(&path(), line.as_bytes()).unwrap();
    let (ending, records) = read(&disk.read(&path()).unwrap().unwrap()).unwrap();
    assert_eq!(records.len(), 1);
    assert!(
        matches!(ending.unread, Some((2, Unread::Newer(_)))),
        "{:?}",
        ending.unread
    );
    assert!(matches!(
        opened(&mut disk),
        Err(JournalError::Unread { line: 2, .. })
    ));
}

#[test]
fn a_record_of_a_known_kind_that_this_build_cannot_read_is_not_called_newer() {
    let (mut disk, bytes) = written(1);
    let head = read(&bytes).unwrap().0.head;
    for (event, is_newer) in [
        (
            r#"{"kind":"agent-spawned","pid":"many","started":1}"#,
            false,
        ),
        (r#"{"kind":"agent-ended"}"#, false),
        (
            r#"{"kind":"run-stopped","stop":{"stop":"from-the-future"}}"#,
            false,
        ),
        (r#"{"kind":"from-the-future","pid":1}"#, true),
    ] {
        let body = format!(r#"{{"v":1,"seq":2,"at":"x","e":{event}}}"#);
        let hash = format::hash(head.as_bytes(), body.as_bytes());
        let line = format!("{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}\n");
        let (ending, _) = read(&[bytes.as_slice(), line.as_bytes()].concat()).unwrap();
        let (at, why) = ending.unread.unwrap();
        assert_eq!(
            (at, matches!(why, Unread::Newer(_))),
            (2, is_newer),
            "{event}: {why}"
        );
        assert_eq!(why.to_string().contains("newer"), is_newer, "{why}");
        disk.replace(&path(), &[bytes.as_slice(), line.as_bytes()].concat())
            .unwrap();
        let error = opened(&mut disk).unwrap_err().to_string();
        assert_eq!(error.contains("newer"), is_newer, "{error}");
    }
}

#[test]
fn another_hand_on_the_open_file_is_found_at_the_next_append() {
    let (mut disk, _) = written(1);
    let (mut journal, _) = opened(&mut disk).unwrap();
    disk.append(&path(), b"x").unwrap();
    let result = journal.append(&mut disk, "t", &Event::Resumed);
    assert!(matches!(result, Err(JournalError::Changed)));
}

#[test]
fn a_record_that_the_reader_refuses_ends_the_reading_with_its_error() {
    let (mut disk, bytes) = written(3);
    let mut seen = 0;
    let result = Journal::open(&mut disk, &path(), |record| {
        seen = record.seq;
        if record.seq == 2 {
            Err(JournalError::Changed)
        } else {
            Ok(())
        }
    });
    assert!(matches!(result, Err(JournalError::Changed)) && seen == 2);
    assert_eq!(disk.read(&path()).unwrap().unwrap(), bytes);
}

/// Returns a follower's events: `A` for a restart, otherwise the records' numbers.
fn followed(follower: &mut Follower, disk: &Memory) -> Result<String, JournalError> {
    let mut read = String::new();
    let is_new = follower.read(disk, |piece| {
        read += &match piece {
            JournalChange::Restarted => "A".to_owned(),
            JournalChange::Record(record) => record.seq.to_string(),
        };
        Ok::<(), JournalError>(())
    })?;
    assert_eq!(is_new, !read.is_empty());
    Ok(read)
}

#[test]
fn a_follower_tells_each_record_once_whatever_part_of_it_is_there_at_a_look() {
    let (_, bytes) = written(3);
    let line = bytes.len() / 3;
    for cut in 0..=bytes.len() {
        let mut disk = Memory::default();
        let mut follower = Follower::new(&path());
        assert_eq!(followed(&mut follower, &disk).unwrap(), "");
        disk.append(&path(), &bytes[..cut]).unwrap();
        let first = followed(&mut follower, &disk).unwrap();
        assert_eq!(first.len(), cut / line, "cut at {cut}");
        assert_eq!(
            followed(&mut follower, &disk).unwrap(),
            "",
            "nothing is new"
        );
        disk.append(&path(), &bytes[cut..]).unwrap();
        assert_eq!(
            first + &followed(&mut follower, &disk).unwrap(),
            "123",
            "cut at {cut}"
        );
    }
}

#[test]
fn a_torn_tail_that_a_run_cuts_off_and_writes_over_is_followed() {
    let (mut disk, bytes) = written(2);
    let mut follower = Follower::new(&path());
    disk.append(&path(), &bytes[..40]).unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "12");
    let (mut journal, _) = opened(&mut disk).unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "");
    journal
        .append(&mut disk, "2026-11-22T00:00:01Z", &Event::ProgressAppended)
        .unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "3");
}

#[test]
fn a_journal_that_shrank_or_is_another_is_read_from_its_start() {
    let (mut disk, bytes) = written(3);
    let mut follower = Follower::new(&path());
    assert_eq!(followed(&mut follower, &disk).unwrap(), "123");
    disk.replace(&path(), &bytes[..bytes.len() / 3]).unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "A1");
    disk.replace(&path(), b"").unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "A");
    let mut other = Memory::default();
    let (mut journal, _) = opened(&mut other).unwrap();
    for _ in 0..4 {
        journal
            .append(&mut other, "2027-01-01T00:00:00Z", &Event::Resumed)
            .unwrap();
    }
    disk.replace(&path(), &bytes).unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "123");
    disk.replace(&path(), &other.read(&path()).unwrap().unwrap())
        .unwrap();
    assert_eq!(
        followed(&mut follower, &disk).unwrap(),
        "A1234",
        "longer, and not the same"
    );
}

#[test]
fn a_broken_journal_is_refused_once_and_read_again_when_it_was_mended() {
    let (mut disk, bytes) = written(3);
    let mut follower = Follower::new(&path());
    let broken = String::from_utf8(bytes.clone())
        .unwrap()
        .replacen("resumed", "forged!", 1);
    disk.replace(&path(), broken.as_bytes()).unwrap();
    assert!(matches!(
        followed(&mut follower, &disk),
        Err(JournalError::Corrupt { line: 1, .. })
    ));
    assert_eq!(
        followed(&mut follower, &disk).unwrap(),
        "",
        "the same file is not read again"
    );
    disk.replace(&path(), &bytes[..bytes.len() / 3 * 2])
        .unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "A12");
    disk.append(&path(), &bytes[bytes.len() / 3 * 2..]).unwrap();
    assert_eq!(followed(&mut follower, &disk).unwrap(), "3");
}

#[test]
fn a_newer_record_ends_what_is_read_and_is_named() {
    let (mut disk, bytes) = written(1);
    let head = String::from_utf8(bytes[6..70].to_vec()).unwrap();
    let body = r#"{"v":99,"seq":2,"at":"2030-01-01T00:00:00Z","e":{"kind":"dream"}}"#;
    let hash = format::hash(head.as_bytes(), body.as_bytes());
    disk.append(
        &path(),
        format!("{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}\n").as_bytes(),
    )
    .unwrap();
    let mut follower = Follower::new(&path());
    assert_eq!(followed(&mut follower, &disk).unwrap(), "1");
    assert_eq!(
        follower.unread(),
        Some(&Unread::Newer("version 99".to_owned()))
    );
    assert_eq!(followed(&mut follower, &disk).unwrap(), "");
}
