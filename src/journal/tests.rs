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

fn written(count: usize) -> (Memory, Vec<u8>) {
    let mut disk = Memory::default();
    let (mut journal, records) = Journal::open(&mut disk, &path()).unwrap();
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
    let (mut journal, records) = Journal::open(&mut disk, &path()).unwrap();
    assert_eq!(records.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    journal.append(&mut disk, "2026-11-22T00:00:01Z", &Event::ProgressAppended).unwrap();
    let bytes = disk.read(&path()).unwrap().unwrap();
    assert_eq!(read(&bytes).unwrap().records.len(), 4);
}

#[test]
fn any_prefix_of_the_bytes_opens_and_keeps_every_whole_record() {
    let (_, bytes) = written(3);
    let line = bytes.len() / 3;
    for cut in 0..=bytes.len() {
        let reading = read(&bytes[..cut]).unwrap();
        assert_eq!(reading.records.len(), cut / line, "cut at {cut}");
        assert_eq!(reading.torn, (cut % line) as u64);
        let mut disk = Memory::default();
        disk.replace(&path(), &bytes[..cut]).unwrap();
        Journal::open(&mut disk, &path()).unwrap();
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
    let head = read(&bytes).unwrap().records[0].hash.clone();
    let body = r#"{"v":1,"seq":2,"at":"x","e":{"kind":"from-the-future"}}"#;
    let hash = format::hash(head.as_bytes(), body.as_bytes());
    let line = format!("{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}\n");
    disk.append(&path(), line.as_bytes()).unwrap();
    let reading = read(&disk.read(&path()).unwrap().unwrap()).unwrap();
    assert_eq!(reading.records.len(), 1);
    assert_eq!(reading.newer.as_ref().unwrap().0, 2);
    assert!(matches!(Journal::open(&mut disk, &path()), Err(JournalError::Newer { line: 2, .. })));
}

#[test]
fn another_hand_on_the_open_file_is_found_at_the_next_append() {
    let (mut disk, _) = written(1);
    let (mut journal, _) = Journal::open(&mut disk, &path()).unwrap();
    disk.append(&path(), b"x").unwrap();
    let result = journal.append(&mut disk, "t", &Event::Resumed);
    assert!(matches!(result, Err(JournalError::Changed)));
}
