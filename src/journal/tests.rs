//! The journal's promises: chain, torn tails at every byte, forgery, newer versions.

use super::*;
use crate::sys::Swap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A disk in memory: enough for the journal.
#[derive(Default)]
struct Memory(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl Disk for Memory {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().get(path).cloned())
    }
    fn is_odd(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        Ok(self.0.borrow().get(path).map(|bytes| bytes.len() as u64))
    }
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().entry(path.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }
    fn sync(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).unwrap();
        self.0.borrow_mut().entry(path.to_owned()).or_default().truncate(len);
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

fn read(bytes: &[u8]) -> Result<(Ending, Vec<Record>), JournalError> {
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
        journal.append(&mut disk, "2026-11-22T00:00:00Z", &Event::Resumed).unwrap();
    }
    let bytes = disk.read(&path()).unwrap().unwrap();
    (disk, bytes)
}

#[test]
fn records_come_back_in_order_and_the_chain_goes_on_after_reopening() {
    let (mut disk, _) = written(3);
    let (mut journal, records) = opened(&mut disk).unwrap();
    assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    journal.append(&mut disk, "2026-11-22T00:00:01Z", &Event::ProgressAppended).unwrap();
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
        assert_eq!(disk.len(&path()).unwrap().unwrap(), (cut / line * line) as u64);
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
        let forged: Vec<u8> = order.iter().flat_map(|row| rows[*row].iter().copied()).collect();
        assert!(matches!(read(&forged), Err(JournalError::Corrupt { .. })), "{order:?}");
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
    assert_eq!(ending.newer.as_ref().unwrap().0, 2);
    assert!(matches!(opened(&mut disk), Err(JournalError::Newer { line: 2, .. })));
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
        if record.seq == 2 { Err(JournalError::Changed) } else { Ok(()) }
    });
    assert!(matches!(result, Err(JournalError::Changed)) && seen == 2);
    assert_eq!(disk.read(&path()).unwrap().unwrap(), bytes);
}
