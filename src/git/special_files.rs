//! Refuses pipes in place of files that the library opens by itself.
//!
//! It would wait there without end.
//!
//! Promises: settings with all files that they include or name, and loose objects, are checked before the library
//! opens them. Nothing here waits, and reading is bounded.

use super::error::{DescribeFailure as _, GitError};
use crate::sys::disk::read_beginning;
use crate::sys::file_stat::{self, FileStat};
use git2::Config;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Maximum size of a settings file, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Maximum number of settings files that include each other.
const MAX_FILES: usize = 200;
/// Maximum number of object directories that a repository borrows.
const MAX_ALTERNATES: usize = 20;

/// Refuses a pipe, socket or device in place of a file.
pub(super) fn refuse_special(path: &Path) -> Result<(), GitError> {
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => Err(GitError::refused_error(
            format!("{} is a pipe, socket or device.", path.display()),
            "Remove it, and restore the file that was there.",
        )),
        _ => Ok(()),
    }
}

/// Refuses pipes in place of the settings of an unopened repository.
///
/// It also checks the user's settings, and the files that they name.
pub(super) fn check_closed(root: &Path) -> Result<(), GitError> {
    let dot_git = root.join(".git");
    let named = if dot_git.is_file() {
        first_line(&dot_git)?
    } else {
        None
    };
    let own = match named
        .as_deref()
        .and_then(|line| line.strip_prefix(b"gitdir: "))
    {
        Some(folder) => root.join(OsStr::from_bytes(folder)),
        None => dot_git,
    };
    let common = own.join("commondir");
    refuse_special(&common)?;
    let common = first_line(&common)?.map_or_else(
        || own.clone(),
        |folder| own.join(OsStr::from_bytes(&folder)),
    );
    check_settings(&own, &common)
}

/// Refuses pipes in place of the settings of a repository.
///
/// It also checks the user's settings, and the files that they include or name.
pub(super) fn check_settings(own: &Path, common: &Path) -> Result<(), GitError> {
    let mut todo = vec![common.join("config"), own.join("config.worktree")];
    let of_user = [
        Config::find_global(),
        Config::find_xdg(),
        Config::find_system(),
    ];
    for file in of_user.into_iter().flatten() {
        for name in ["ignore", "attributes"] {
            refuse_special(&file.with_file_name(name))?;
        }
        todo.push(file);
    }
    let mut looked_at = Vec::new();
    while let Some(file) = todo.pop() {
        if looked_at.contains(&file) || looked_at.len() >= MAX_FILES {
            continue;
        }
        refuse_special(&file)?;
        let found =
            read_beginning(&file, MAX_SETTINGS).with_action("read the settings of a repository");
        for (key, value) in setting_values(&found?.unwrap_or_default()) {
            for path in named_paths(&value, &file) {
                refuse_special(&path)?;
                if key.eq_ignore_ascii_case(b"path") && path.is_file() {
                    todo.push(path);
                }
            }
        }
        looked_at.push(file);
    }
    Ok(())
}

fn first_line(file: &Path) -> Result<Option<Vec<u8>>, GitError> {
    let found = read_beginning(file, MAX_SETTINGS).with_action("read where a repository is")?;
    Ok(found.map(|bytes| {
        bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default()
            .trim_ascii()
            .to_vec()
    }))
}

/// Returns the keys and values of settings. The section does not matter: a pipe is refused in each of them.
fn setting_values(text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut joined: Vec<Vec<u8>> = vec![Vec::new()];
    for line in text.split(|byte| *byte == b'\n') {
        let (line, goes_on) = line
            .strip_suffix(b"\\")
            .map_or((line, false), |line| (line, true));
        if let Some(last) = joined.last_mut() {
            last.extend(line);
        }
        if !goes_on {
            joined.push(Vec::new());
        }
    }
    joined
        .iter()
        .filter_map(|line| key_and_value(without_header(line.trim_ascii())))
        .collect()
}

/// Removes the heading of a section at the beginning of the line.
fn without_header(line: &[u8]) -> &[u8] {
    if !line.starts_with(b"[") {
        return line;
    }
    let mut is_quoted = false;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b']' if !is_quoted => return line[at + 1..].trim_ascii(),
            _ => {}
        }
    }
    b""
}

fn key_and_value(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let at = line.iter().position(|byte| *byte == b'=')?;
    let (key, rest) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
    let (mut value, mut is_quoted) = (Vec::new(), false);
    let mut bytes = rest.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\\' => value.extend(bytes.next()),
            b'#' | b';' if !is_quoted => break,
            _ => value.push(*byte),
        }
    }
    Some((key.to_vec(), value.trim_ascii().to_vec()))
}

/// Returns the files that a value may name.
///
/// Paths are relative to the directory of its file, or to the current one.
fn named_paths(value: &[u8], file: &Path) -> Vec<PathBuf> {
    if value.is_empty() {
        return Vec::new();
    }
    if let Some(rest) = value.strip_prefix(b"~/") {
        let home = Config::find_global()
            .ok()
            .and_then(|file| file.parent().map(Path::to_owned));
        return home
            .map(|home| home.join(OsStr::from_bytes(rest)))
            .into_iter()
            .collect();
    }
    let path = Path::new(OsStr::from_bytes(value));
    vec![file.with_file_name("").join(path), path.to_owned()]
}

/// Directories of objects without pipes, by the state in which they were read.
#[derive(Default)]
pub(super) struct ObjectFolders(BTreeMap<PathBuf, FileStat>);

impl ObjectFolders {
    /// Refuses pipes in place of objects, in the repository and in those that it borrows.
    pub(super) fn check_objects(&mut self, common: &Path) -> Result<(), GitError> {
        let own = common.join("objects");
        let alternates = own.join("info/alternates");
        refuse_special(&alternates)?;
        let named = read_beginning(&alternates, MAX_SETTINGS)
            .with_action("read where objects are borrowed from")?;
        let named = named.unwrap_or_default();
        let borrowed = named
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .take(MAX_ALTERNATES);
        let all: Vec<PathBuf> = borrowed
            .map(|line| own.join(OsStr::from_bytes(line)))
            .chain([own.clone()])
            .collect();
        for objects in all {
            for folder in self.changed_folders(&objects)? {
                self.changed_folders(&folder)?;
            }
        }
        Ok(())
    }

    /// Returns directories that may have changed since, or all of a directory of objects. Refuses pipes in it.
    fn changed_folders(&mut self, folder: &Path) -> Result<Vec<PathBuf>, GitError> {
        let (now, stat) = (file_stat::now(), FileStat::at(folder));
        let is_top = folder.ends_with("objects");
        let Some(stat) = stat else {
            return Ok(Vec::new());
        };
        if !is_top && self.0.get(folder) == Some(&stat) {
            return Ok(Vec::new());
        }
        let doing = "list the objects of a repository";
        let mut folders = Vec::new();
        let Ok(entries) = fs_err::read_dir(folder) else {
            return Ok(folders);
        };
        for entry in entries {
            let entry = entry.with_action(doing)?;
            let kind = entry.file_type().with_action(doing)?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if !kind.is_file() {
                refuse_special(&entry.path())?;
            }
        }
        if stat.is_settled(now) {
            self.0.insert(folder.to_owned(), stat);
        }
        Ok(folders)
    }
}

#[cfg(test)]
mod tests {
    use super::{check_closed, setting_values};
    use nix::sys::stat::Mode;

    #[test]
    fn values_are_read_as_git_writes_them() {
        let text =
            b"[includeIf \"gitdir:a=]b\"] path = \"a b\" # c\n[core]\n\texcludesFile=x\\\n/y ; z\n\tbare\n";
        let read: Vec<(String, String)> = setting_values(text)
            .into_iter()
            .map(|(key, value)| {
                (
                    String::from_utf8(key).unwrap(),
                    String::from_utf8(value).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            read,
            [
                ("path".into(), "a b".into()),
                ("excludesFile".into(), "x/y".into())
            ]
        );
    }

    #[test]
    fn a_pipe_is_refused_wherever_settings_name_it() {
        for (settings, name) in [
            ("[include]\n path = ../pipe\n", "pipe"),
            ("[include] path = more\n", ".git/pipe"),
            ("[core]\n excludesFile = ../pipe\n", "pipe"),
            ("", ".git/config.worktree"),
            ("", ".git/commondir"),
        ] {
            let home = tempfile::tempdir().unwrap();
            fs_err::create_dir(home.path().join(".git")).unwrap();
            fs_err::write(home.path().join(".git/config"), settings).unwrap();
            fs_err::write(home.path().join(".git/more"), "[include]\npath = pipe\n").unwrap();
            assert!(check_closed(home.path()).is_ok());
            nix::unistd::mkfifo(&home.path().join(name), Mode::S_IRWXU).unwrap();
            assert!(
                check_closed(home.path())
                    .unwrap_err()
                    .to_string()
                    .contains("is a pipe"),
                "{settings} {name}"
            );
        }
    }
}
