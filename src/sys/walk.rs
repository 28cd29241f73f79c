//! A bounded walk through the files of a directory. Links are not followed, and names come in order.

use std::io;
use std::path::Path;
pub use walkdir::DirEntry;
use walkdir::WalkDir;

/// Maximum number of entries in a package.
pub const MAX_ENTRIES: usize = 500_000;
/// Maximum depth of entries, in levels.
pub const MAX_DEPTH: usize = 65;

/// Returns the entries below a directory, at most `depth` levels down, each directory before its content.
///
/// Directories that `enter` refuses are excluded with everything in them. An unreadable one is an error, and so is an
/// entry beyond the first `most`, after which the walk is over.
pub fn walk(
    folder: &Path,
    depth: usize,
    most: usize,
    mut enter: impl FnMut(&DirEntry) -> bool,
) -> impl Iterator<Item = io::Result<DirEntry>> {
    let entries = WalkDir::new(folder)
        .min_depth(1)
        .max_depth(depth)
        .sort_by_file_name()
        .into_iter();
    let entries = entries.filter_entry(move |entry| !entry.file_type().is_dir() || enter(entry));
    let too_many = format!(
        "{} holds more than {most} files and folders.",
        folder.display()
    );
    entries
        .take(most.saturating_add(1))
        .enumerate()
        .map(move |(number, entry)| {
            if number < most {
                Ok(entry?)
            } else {
                Err(io::Error::other(too_many.clone()))
            }
        })
}

#[cfg(test)]
mod tests {
    use super::walk;
    use fs_err as fs;
    use std::io;
    use std::path::Path;

    fn names(folder: &Path, depth: usize, most: usize) -> Vec<Result<String, io::ErrorKind>> {
        let found = walk(folder, depth, most, |entry| entry.file_name() != "skipped");
        found
            .map(|entry| {
                let entry = entry.map_err(|error| error.kind())?;
                Ok(entry
                    .path()
                    .strip_prefix(folder)
                    .unwrap()
                    .display()
                    .to_string())
            })
            .collect()
    }

    #[test]
    fn names_come_in_order_links_stay_links_and_the_bounds_hold() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        fs::create_dir_all(root.join("b/c/d")).unwrap();
        fs::create_dir(root.join("skipped")).unwrap();
        for file in ["b/z", "b/c/d/deep", "a", "skipped/x"] {
            fs::write(root.join(file), "").unwrap();
        }
        fs::os::unix::fs::symlink(root, root.join("b/loop")).unwrap();
        let all = ["a", "b", "b/c", "b/c/d", "b/c/d/deep", "b/loop", "b/z"];
        assert_eq!(names(root, 9, 99), all.map(|name| Ok(name.to_owned())));
        assert_eq!(
            names(root, 2, 99),
            ["a", "b", "b/c", "b/loop", "b/z"].map(|name| Ok(name.to_owned()))
        );
        assert_eq!(
            names(root, 9, 2),
            [
                Ok("a".to_owned()),
                Ok("b".to_owned()),
                Err(io::ErrorKind::Other)
            ]
        );
        assert_eq!(
            names(&root.join("absent"), 9, 9),
            [Err(io::ErrorKind::NotFound)]
        );
    }
}
