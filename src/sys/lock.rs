//! The lock that keeps a second run out of a workspace: an `flock` on a file that is never unlinked.
//!
//! Promises: of any number of takers exactly one holds it. The kernel releases it when the holder dies. A lock on a
//! file that was replaced meanwhile does not count as held (docs/design.md "Processes").

use super::ProcessId;
use super::clock;
use super::disk::{CAREFUL, read_beginning};
use super::file_stat::FileStat;
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

/// Maximum number of replacements of the lock file during the attempt to lock it.
const ROUNDS: u32 = 10;

/// Maximum number of bytes read of the holder's line.
const HOLDER_BYTES: u64 = 200;

/// A held lock, released when dropped, and when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock; `None` if another process holds it.
    ///
    /// Creates the file (mode 0600) and its directory (0700) if missing. A symbolic link in place of the file, and a
    /// file system without locks, are errors.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        super::disk::make_parents(path)?;
        for _ in 0..ROUNDS {
            let mut file = fs::OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .mode(0o600)
                .custom_flags(CAREFUL)
                .open(path)?
                .into_parts()
                .0;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if is_still_at(&file, path)? {
                sign(&mut file)?;
                return Ok(Some(Self { _file: file }));
            }
        }
        Err(io::Error::other(format!(
            "The lock file {} is replaced again and again.",
            path.display()
        )))
    }
}

/// Returns the current or last holder of the lock as one line for a message.
///
/// It has at most 200 bytes without control characters. `None` if the file is empty.
pub fn holder(path: &Path) -> Option<String> {
    let bytes = read_beginning(path, HOLDER_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let line: String = text
        .lines()
        .next()?
        .chars()
        .filter(|c| (' '..='~').contains(c))
        .collect();
    (!line.is_empty()).then_some(line)
}

/// Returns the current holder as a line for a message, without taking the lock.
///
/// The holder is the process that signed the file, if it is alive. `None` without a holder, or if it cannot be seen
/// from here.
pub fn held_by(path: &Path) -> Option<String> {
    let line = holder(path)?;
    let (pid, rest) = line.strip_prefix("process ")?.split_once(" (start time ")?;
    let (started, _) = rest.split_once(')')?;
    let id = ProcessId {
        pid: pid.parse().ok()?,
        started: started.parse().ok()?,
    };
    id.is_alive().then_some(line)
}

/// True while the locked file is the one that the path names: a lock on an unlinked file protects nothing.
fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = FileStat::of(&file.metadata()?);
    Ok(FileStat::at(path).is_some_and(|found| found.identity() == held.identity()))
}

/// Writes the holder's line: process id, its start time, and the time of the lock.
fn sign(file: &mut File) -> io::Result<()> {
    let me = ProcessId::own()?;
    let line = format!(
        "process {} (start time {}) since {}\n",
        me.pid,
        me.started,
        clock::stamp()
    );
    file.set_len(0)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Lock, held_by, holder};
    use std::sync::Barrier;

    #[test]
    fn of_many_takers_exactly_one_gets_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/lock");
        let barrier = Barrier::new(16);
        let taken: Vec<Option<Lock>> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..16)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        Lock::try_take(&path).unwrap()
                    })
                })
                .collect();
            takers
                .into_iter()
                .map(|taker| taker.join().unwrap())
                .collect()
        });
        assert_eq!(taken.iter().flatten().count(), 1);
        drop(taken);
        assert!(
            Lock::try_take(&path).unwrap().is_some(),
            "a freed lock can be taken again"
        );
    }

    #[test]
    fn the_holder_is_named_and_control_characters_are_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(holder(&path), None);
        let _lock = Lock::try_take(&path).unwrap().unwrap();
        let line = holder(&path).unwrap();
        assert!(
            line.starts_with(&format!("process {} (start time ", std::process::id())),
            "{line}"
        );
        fs_err::write(&path, "a\u{1b}[31mb\nsecond").unwrap();
        assert_eq!(holder(&path).unwrap(), "a[31mb");
    }

    #[test]
    fn a_lock_is_held_while_the_process_that_signed_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(held_by(&path), None);
        let lock = Lock::try_take(&path).unwrap().unwrap();
        let line = held_by(&path).unwrap();
        assert_eq!(Some(&line), holder(&path).as_ref());
        assert!(
            Lock::try_take(&path).unwrap().is_none(),
            "asking leaves the lock with its holder"
        );
        drop(lock);
        let me = super::ProcessId::own().unwrap();
        for (text, held) in [
            (
                format!("process {} (start time {}) since x\n", me.pid, me.started),
                true,
            ),
            (
                format!(
                    "process {} (start time {}) since x\n",
                    me.pid,
                    me.started + 1
                ),
                false,
            ),
            (format!("process {} (start time ) since x\n", me.pid), false),
            ("process x (start time 1) since x\n".to_owned(), false),
            ("process 0 (start time 0)\n".to_owned(), false),
            (String::new(), false),
        ] {
            fs_err::write(&path, &text).unwrap();
            assert_eq!(held_by(&path).is_some(), held, "{text}");
        }
    }

    #[test]
    fn a_lock_whose_file_was_replaced_is_not_mistaken_for_the_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let _old = Lock::try_take(&path).unwrap().unwrap();
        fs_err::remove_file(&path).unwrap();
        let new = Lock::try_take(&path).unwrap();
        assert!(new.is_some(), "the new file is another lock");
        assert!(Lock::try_take(&path).unwrap().is_none());
    }

    #[test]
    fn a_symbolic_link_in_place_of_the_lock_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let target = folder.path().join("target");
        fs_err::write(&target, "kept").unwrap();
        fs_err::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(Lock::try_take(&path).is_err());
        assert_eq!(fs_err::read_to_string(&target).unwrap(), "kept");
    }
}
