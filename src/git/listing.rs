//! What stands in the folders of a work tree, remembered.
//!
//! Owns: the names in each folder, read again only when the folder changed.
//!
//! Promises: as good as reading: a name that comes, goes or becomes another kind of file changes the
//! folder's change time.
//!
//! Refuses to know: what the files hold, what git says of them.

use super::content;
use super::error::GitError;
use super::stamp::{self, Stamp};
use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// A name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A real folder.
    Folder,
    /// A regular file or a link.
    File,
    /// A pipe, socket or device: git does not see it.
    Special,
}

/// The names of one folder.
pub(super) type Names = Vec<(Vec<u8>, Sort)>;

/// Folders that did not change since they were read.
#[derive(Default)]
pub(super) struct Listings {
    known: HashMap<Vec<u8>, (Stamp, Names)>,
}

impl Listings {
    /// The names in a folder (`""` or with a `/` at its end). To be given back with [`Listings::keep`].
    pub(super) fn take(&mut self, root: &Path, folder: &[u8]) -> Result<(Option<Stamp>, Names), GitError> {
        let path = content::on_disk(root, folder);
        let now = stamp::now();
        let stamp = Stamp::at(&path);
        if let Some((known, names)) = self.known.remove(folder)
            && Some(known) == stamp
        {
            return Ok((stamp, names));
        }
        let names = read(&path).map_err(|error| GitError::io("list a folder of the work tree", &error))?;
        Ok((stamp.filter(|stamp| stamp.is_settled(now)), names))
    }

    /// Remembers what was taken.
    pub(super) fn keep(&mut self, folder: Vec<u8>, (stamp, names): (Option<Stamp>, Names)) {
        if let Some(stamp) = stamp {
            self.known.insert(folder, (stamp, names));
        }
    }
}

fn read(folder: &Path) -> io::Result<Names> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let sort = match () {
            () if kind.is_dir() => Sort::Folder,
            () if kind.is_file() || kind.is_symlink() => Sort::File,
            () => Sort::Special,
        };
        names.push((entry.file_name().into_vec(), sort));
    }
    Ok(names)
}
