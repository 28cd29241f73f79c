//! Copies the files that a gate left to the folder where people look for them.
//!
//! Promises: regular files only, bounded, private; a remark reports that files exceeded the
//! bounds. Only the last few folders of separate gates are kept.

use super::{new_folder, private_folder};
use crate::mutation::{GateReport, Verdict};
use crate::source::{digest, digest_parts};
use crate::sys::disk::remove;
use crate::sys::walk::walk;
use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Files and bytes that one run may leave.
const MAX_FILES: usize = 20_000;
const MAX_BYTES: u64 = 1 << 30;
const MAX_DEPTH: usize = 12;
/// Folders kept of gates that ran outside of the loop.
const KEPT: usize = 8;

/// Copies what a run left to the folder where people find it, which messages name as `shown`.
pub(super) fn copy_out(
    report: &mut GateReport,
    from: &Path,
    to: &Path,
    shown: &str,
) -> io::Result<()> {
    if !copy_artifacts(from, to)? {
        report.remarks.push(format!(
            "Not all logs and reports of the gate were kept in {shown}: they are more than {MAX_FILES} files, more than {} MiB, or more than {MAX_DEPTH} folders deep.",
            MAX_BYTES >> 20
        ));
    }
    replace_path(report, from, shown);
    Ok(())
}

/// Copies what a run left to a new folder of mode 0700 in place of what was there. False if the bounds left files
/// behind.
fn copy_artifacts(from: &Path, to: &Path) -> io::Result<bool> {
    remove(to)?;
    private_folder(to)?;
    let (mut bytes, mut is_whole) = (0, true);
    for (number, entry) in walk(from, MAX_DEPTH + 1, MAX_FILES + 1, |_| true).enumerate() {
        let entry = entry?;
        let (data, target) = (
            entry.metadata()?,
            to.join(entry.path().strip_prefix(from).map_err(io::Error::other)?),
        );
        bytes += data.len();
        if number >= MAX_FILES || bytes > MAX_BYTES {
            return Ok(false);
        }
        if data.is_dir() && entry.depth() > MAX_DEPTH {
            is_whole = false;
        } else if data.is_dir() {
            private_folder(&target)?;
        } else if data.is_file() {
            fs_err::copy(entry.path(), &target)?;
            fs_err::set_permissions(&target, Permissions::from_mode(0o600))?;
        }
    }
    Ok(is_whole)
}

/// Returns the digest of the names and contents of all files below a folder.
///
/// Empty if there are none. An entry that is neither folder nor regular file counts by its name.
///
/// Errors: more files or bytes than one run may leave.
pub(in crate::engine) fn digest_of_folder(folder: &Path) -> io::Result<String> {
    let (mut parts, mut bytes) = (Vec::new(), 0);
    if !folder.is_dir() {
        return Ok(String::new());
    }
    for entry in walk(folder, MAX_DEPTH + 1, MAX_FILES, |_| true) {
        let entry = entry?;
        let data = entry.metadata()?;
        if data.is_dir() {
            continue;
        }
        bytes += data.len();
        if bytes > MAX_BYTES {
            return Err(io::Error::other(format!(
                "{} holds more than a gate may leave.",
                folder.display()
            )));
        }
        let name = entry
            .path()
            .strip_prefix(folder)
            .map_err(io::Error::other)?
            .as_os_str()
            .as_bytes()
            .to_vec();
        let content = if data.is_file() {
            digest(&fs_err::read(entry.path())?)
        } else {
            String::new()
        };
        parts.extend([name, content.into_bytes()]);
    }
    Ok(if parts.is_empty() {
        String::new()
    } else {
        digest_parts(&parts)
    })
}

/// Creates a folder for the files of a gate that runs outside of the loop.
///
/// Only the last few such folders are kept; it removes the oldest ones.
pub(super) fn new_report_folder(cache: &Path) -> io::Result<PathBuf> {
    let reports = cache.join("reports");
    private_folder(&reports)?;
    let mut there: Vec<_> = fs_err::read_dir(&reports)?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    there.sort();
    for (_, folder) in there.iter().take((there.len() + 1).saturating_sub(KEPT)) {
        // Another process may remove the same folder at the same time.
        let _ = fs_err::remove_dir_all(folder);
    }
    Ok(new_folder(&reports, "gate-")?.keep())
}

/// Puts `new` where messages and paths of a report name `folder`.
pub(super) fn replace_path(report: &mut GateReport, folder: &Path, new: &str) {
    let whole = folder.display().to_string();
    let below = format!("{whole}/");
    let to = if new.is_empty() {
        String::new()
    } else {
        format!("{new}/")
    };
    let replace = |text: &mut String| {
        if text.contains(&whole) {
            *text = text
                .replace(&below, &to)
                .replace(&whole, if new.is_empty() { "." } else { new });
        }
    };
    match &mut report.verdict {
        Verdict::Pass => {}
        Verdict::Fail { reasons } => reasons.iter_mut().for_each(replace),
        Verdict::Skip { why } => replace(why),
        Verdict::Error { why, hint, .. } => {
            replace(why);
            replace(hint);
        }
    }
    report.remarks.iter_mut().for_each(replace);
    report.reports.iter_mut().for_each(replace);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_are_copied_and_old_ones_go() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("iter-1/gate"));
        fs_err::create_dir_all(from.join("report/p")).unwrap();
        fs_err::write(from.join("report/p/index.html"), "new").unwrap();
        fs_err::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
        fs_err::create_dir_all(&to).unwrap();
        fs_err::write(to.join("stale"), "").unwrap();
        assert!(copy_artifacts(&from, &to).unwrap());
        assert_eq!(
            fs_err::read_to_string(to.join("report/p/index.html")).unwrap(),
            "new"
        );
        assert!(!to.join("stale").exists() && fs_err::symlink_metadata(to.join("link")).is_err());
        for folder in [to.clone(), to.join("report")] {
            assert_eq!(
                fs_err::metadata(folder).unwrap().permissions().mode() & 0o777,
                0o700
            );
        }
    }

    #[test]
    fn a_remark_says_what_is_too_large_or_too_deep_to_be_kept() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        let deep = from.join("d/".repeat(MAX_DEPTH + 1));
        fs_err::create_dir_all(&deep).unwrap();
        fs_err::write(from.join("log"), "").unwrap();
        let remarks = || {
            let mut report = GateReport::from(Verdict::Pass);
            copy_out(&mut report, &from, &to, ".ralph/state/iter-1/gate").unwrap();
            assert_eq!(report.verdict, Verdict::Pass);
            report.remarks
        };
        let told = "Not all logs and reports of the gate were kept in .ralph/state/iter-1/gate: they are more than 20000 files, more than 1024 MiB, or more than 12 folders deep.";
        assert_eq!(remarks(), [told]);
        assert!(to.join("log").is_file());
        fs_err::remove_dir(deep).unwrap();
        assert!(remarks().is_empty());
        // Holds no byte on the disk.
        fs_err::File::create(from.join("log"))
            .unwrap()
            .set_len(MAX_BYTES + 1)
            .unwrap();
        assert_eq!(remarks(), [told]);
        assert!(!to.join("log").exists());
    }

    #[test]
    fn of_gates_asked_alone_only_the_last_few_are_kept() {
        let cache = tempfile::tempdir().unwrap();
        for _ in 0..KEPT + 5 {
            assert!(new_report_folder(cache.path()).unwrap().is_dir());
        }
        assert_eq!(
            fs_err::read_dir(cache.path().join("reports"))
                .unwrap()
                .count(),
            KEPT
        );
    }

    #[test]
    fn no_message_names_the_private_folder() {
        let why = "Module p lacks /c/s/tree/src/pom.xml.".to_owned();
        let mut report = GateReport::from(Verdict::Error {
            why,
            hint: "See /c/s/tree.".to_owned(),
            transient: false,
        });
        report.reports = vec!["/c/s/run-1/report/p".to_owned()];
        replace_path(&mut report, Path::new("/c/s/tree"), "");
        replace_path(
            &mut report,
            Path::new("/c/s/run-1"),
            ".ralph/state/iter-1/gate",
        );
        let expected = Verdict::Error {
            why: "Module p lacks src/pom.xml.".to_owned(),
            hint: "See ..".to_owned(),
            transient: false,
        };
        assert_eq!(report.verdict, expected);
        assert_eq!(report.reports, [".ralph/state/iter-1/gate/report/p"]);
    }
}
