//! The real disk.

use super::{command, wait_for};
use nix::sys::stat::{Mode, umask};
use ralph::sys::disk::RealDisk;
use ralph::sys::signals::Interrupts;
use ralph::sys::{Disk as _, Swap};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_is_absent_is_none_and_what_is_no_file_is_an_error_without_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = RealDisk::new();
    let fifo = folder.path().join("fifo");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    assert_eq!(disk.read(&folder.path().join("absent")).unwrap(), None);
    assert_eq!(disk.len(&folder.path().join("absent")).unwrap(), None);
    for odd in [&fifo, folder.path(), Path::new("/dev/zero")] {
        assert!(disk.read(odd).is_err(), "{odd:?}");
        assert!(disk.len(odd).is_err(), "{odd:?}");
    }
    for odd in [&fifo, folder.path()] {
        assert!(disk.append(odd, b"x").is_err(), "{odd:?}");
        assert!(disk.truncate(odd, 0).is_err(), "{odd:?}");
        assert!(disk.swap(odd, b"", b"x").is_err(), "{odd:?}");
    }
}

#[test]
fn appended_bytes_follow_each_other_in_a_private_file_and_can_be_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/state/journal");
    let mut disk = RealDisk::new();
    disk.append(&path, b"one\n").unwrap();
    disk.append(&path, b"two\n").unwrap();
    disk.sync(&path).unwrap();
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"one\ntwo\n");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    disk.truncate(&path, 4).unwrap();
    disk.append(&path, b"three\n").unwrap();
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"one\nthree\n");
    assert_eq!(disk.len(&path).unwrap(), Some(10));
}

#[test]
fn appending_follows_the_path_to_a_new_file_but_never_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut disk = RealDisk::new();
    disk.append(&path, b"old").unwrap();
    fs_err::rename(&path, folder.path().join("moved")).unwrap();
    disk.append(&path, b"new").unwrap();
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"new");
    fs_err::remove_file(&path).unwrap();
    symlink(folder.path().join("moved"), &path).unwrap();
    let error = disk.append(&path, b"planted").unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(
        disk.read(&folder.path().join("moved")).unwrap().unwrap(),
        b"old"
    );
}

#[test]
fn writes_that_the_disk_refuses_leave_the_files_as_they_were() {
    if std::env::var_os("HAS_FILE_SIZE_LIMIT").is_some() {
        return writes_under_a_file_size_limit();
    }
    // A limit of 8 blocks of 512 bytes, in a process of its own.
    let me = std::env::current_exe().unwrap();
    // Its output goes into pipes: the limit would otherwise apply to a log file of the whole test run.
    let done = command("sh")
        .args(["-c", "ulimit -f 8; exec \"$@\"", "sh", me.to_str().unwrap()])
        .args([
            "--exact",
            "sys::disk::writes_that_the_disk_refuses_leave_the_files_as_they_were",
        ])
        .env("HAS_FILE_SIZE_LIMIT", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && told.contains(" 1 passed;"),
        "{}: {told}",
        done.status
    );
}

fn writes_under_a_file_size_limit() {
    let _survives = Interrupts::install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (journal, view) = (folder.path().join("journal"), folder.path().join("view"));
    let mut disk = RealDisk::new();
    disk.append(&journal, &[b'1'; 3_000]).unwrap();
    assert!(
        disk.append(&journal, &[b'2'; 3_000]).is_err(),
        "a part of it would have fitted"
    );
    assert_eq!(disk.read(&journal).unwrap().unwrap(), [b'1'; 3_000]);
    disk.append(&journal, b"end").unwrap();
    disk.replace(&view, b"old").unwrap();
    assert!(disk.replace(&view, &[b'n'; 5_000]).is_err());
    assert!(disk.write(&view, &[b'n'; 5_000]).is_err());
    assert!(disk.swap(&view, b"old", &[b'n'; 5_000]).is_err());
    assert_eq!(disk.read(&view).unwrap().unwrap(), b"old");
    assert_eq!(
        fs_err::read_dir(folder.path()).unwrap().count(),
        2,
        "no temporary file stays"
    );
}

#[test]
fn a_replaced_file_keeps_its_mode_whatever_the_umask_and_a_new_one_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/view");
    let mut disk = RealDisk::new();
    disk.replace(&path, b"1").unwrap();
    assert_eq!(mode(&path), 0o600);
    let before = umask(Mode::from_bits_truncate(0o077));
    for wanted in [0o664, 0o755, 0o444] {
        set_mode(&path, wanted);
        disk.replace(&path, b"2").unwrap();
        assert_eq!(mode(&path), wanted);
        disk.write(&path, b"3").unwrap();
        assert_eq!(mode(&path), wanted);
        assert_eq!(disk.swap(&path, b"3", b"4").unwrap(), Swap::Done);
        assert_eq!(mode(&path), wanted);
        disk.replace(&path, b"2").unwrap();
    }
    umask(before);
    assert_eq!(
        fs_err::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "no temporary file stays"
    );
}

#[test]
fn replacing_a_link_replaces_the_link_and_not_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("view"), folder.path().join("target"));
    fs_err::write(&target, "kept").unwrap();
    symlink(&target, &path).unwrap();
    RealDisk::new().replace(&path, b"new").unwrap();
    assert_eq!(fs_err::read(&target).unwrap(), b"kept");
    assert!(fs_err::symlink_metadata(&path).unwrap().is_file());
}

#[test]
fn a_swap_needs_the_expected_bytes_and_is_done_when_the_new_ones_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.md");
    let mut disk = RealDisk::new();
    assert_eq!(
        disk.swap(&path, b"", b"new").unwrap(),
        Swap::Changed,
        "there is no file"
    );
    fs_err::write(&path, "old").unwrap();
    assert_eq!(disk.swap(&path, b"other", b"new").unwrap(), Swap::Changed);
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"old");
    assert_eq!(disk.swap(&path, b"old", b"new").unwrap(), Swap::Done);
    assert_eq!(
        disk.swap(&path, b"old", b"new").unwrap(),
        Swap::Done,
        "done before"
    );
    assert_eq!(disk.read(&path).unwrap().unwrap(), b"new");
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_swap_goes_through_a_link_and_leaves_it_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (
        folder.path().join("tasks.md"),
        folder.path().join("real.md"),
    );
    fs_err::write(&target, "old").unwrap();
    symlink("real.md", &path).unwrap();
    assert_eq!(
        RealDisk::new().swap(&path, b"old", b"new").unwrap(),
        Swap::Done
    );
    assert_eq!(fs_err::read(&target).unwrap(), b"new");
    assert!(fs_err::symlink_metadata(&path).unwrap().is_symlink());
}

/// A user saves as editors do: the whole new text into another file, renamed over. ralph flips the first character
/// meanwhile. A save must exist after ralph's next two swaps.
#[test]
fn no_save_of_a_person_is_lost_to_a_swap_at_the_same_time() {
    const SAVES: usize = 300;
    // In memory if possible: without waiting for a disk the two collide more often.
    let folder = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let path = folder.path().join("tasks.md");
    fs_err::write(&path, " 0").unwrap();
    let (swaps, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut done = 0;
    let lost = std::thread::scope(|scope| {
        let person = scope.spawn(|| {
            let mut lost = Vec::new();
            for number in 1..=SAVES {
                let beside = folder.path().join("tasks.md.new");
                fs_err::write(&beside, format!(" {number}")).unwrap();
                fs_err::rename(&beside, &path).unwrap();
                let now = swaps.load(Ordering::Acquire);
                wait_for("two swaps", || swaps.load(Ordering::Acquire) >= now + 2);
                let found = fs_err::read_to_string(&path).unwrap();
                if found[1..] != number.to_string() {
                    lost.push(number);
                }
            }
            over.store(true, Ordering::Release);
            lost
        });
        let mut disk = RealDisk::new();
        while !over.load(Ordering::Acquire) {
            let found = disk.read(&path).unwrap().unwrap();
            let mut flipped = found.clone();
            flipped[0] = if found[0] == b' ' { b'x' } else { b' ' };
            if disk.swap(&path, &found, &flipped).unwrap() == Swap::Done {
                done += 1;
            }
            swaps.fetch_add(1, Ordering::Release);
        }
        person.join().unwrap()
    });
    assert_eq!(lost, [0; 0], "these saves are lost");
    assert!(done > 0, "ralph got through at times");
    assert_eq!(
        fs_err::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file stays"
    );
}

#[test]
fn a_file_is_moved_and_an_absent_one_is_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a"), folder.path().join("deep/er/b"));
    let mut disk = RealDisk::new();
    disk.rename(&from, &to).unwrap();
    assert!(!to.exists());
    fs_err::write(&from, "x").unwrap();
    disk.rename(&from, &to).unwrap();
    assert_eq!(
        (from.exists(), fs_err::read(&to).unwrap()),
        (false, b"x".to_vec())
    );
}

#[test]
fn a_tail_is_the_end_and_says_what_stands_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut disk = RealDisk::new();
    assert_eq!(disk.tail(&path, 3).unwrap(), None);
    disk.append(&path, b"abcdef").unwrap();
    assert_eq!(disk.tail(&path, 4).unwrap(), Some((b"cdef".to_vec(), 2)));
    assert_eq!(disk.tail(&path, 99).unwrap(), Some((b"abcdef".to_vec(), 0)));
    assert!(disk.tail(dir.path(), 4).is_err());
    assert_eq!(disk.len(&path).unwrap(), Some(6));
    assert!(disk.len(dir.path()).is_err());
}
