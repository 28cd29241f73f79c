//! The target of a mutation test: from the typed text to files in the folder.
//!
//! Promises: a text with control characters is refused before the disk is read; a path outside of
//! the folder, or the folder itself, is refused by its real path, through any links; a target that
//! is another one after the run is noticed.

use super::super::scope::{PathEntry, path_entry};
use crate::report::mutation_test::ToolRefusal;
use crate::source::{is_output, text};
use crate::sys::file_stat::FileStat;
use crate::sys::walk::{MAX_DEPTH, MAX_ENTRIES, walk};
use std::path::{Component, Path, PathBuf};

/// Bytes that a target may have.
const LONGEST: usize = 4_096;
/// Files that are named where a class is not unique.
const NAMED: usize = 5;

/// A file or folder inside the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestedPath {
    /// Its path in the folder, `/`-separated.
    pub(super) path: String,
    real: PathBuf,
    identity: (u64, u64),
}

impl TestedPath {
    /// Finds what was typed: a path, or the dotted name of a class or module. The folder's own path is a real one.
    pub(super) fn find_target(folder: &Path, typed: &str) -> Result<Self, ToolRefusal> {
        check_text(typed)?;
        match fs_err::canonicalize(folder.join(typed)) {
            Ok(real) => Self::target_at(folder, real),
            // The refusal does not reveal if a file outside of the folder exists.
            Err(_) if leads_out(folder, typed) => Err(refuse_outside()),
            Err(_) => Self::target_at(folder, folder.join(by_name(folder, typed)?)),
        }
    }

    fn target_at(folder: &Path, real: PathBuf) -> Result<Self, ToolRefusal> {
        let Ok(inside) = real.strip_prefix(folder) else {
            return Err(refuse_outside());
        };
        if inside.as_os_str().is_empty() {
            let why = "The target is the whole folder.";
            return Err(ToolRefusal::usage_refusal(
                why,
                "Name a file or package in it: a run over all would take too long.",
            ));
        }
        let path = inside
            .to_str()
            .filter(|path| !path.chars().any(text::is_hidden))
            .map(str::to_owned);
        let stat = FileStat::at(&real);
        let is_target = path
            .as_ref()
            .is_some_and(|path| real.is_dir() || path_entry(folder, path) == PathEntry::File);
        match (path, stat) {
            (Some(path), Some(stat)) if is_target => Ok(Self {
                path,
                real,
                identity: stat.identity(),
            }),
            _ => Err(ToolRefusal::usage_refusal(
                "The target is no regular file or folder.",
                "Name a source file or a package.",
            )),
        }
    }

    /// False if something else is in its place.
    pub(super) fn is_there(&self) -> bool {
        let is_real = fs_err::canonicalize(&self.real).is_ok_and(|real| real == self.real);
        is_real && FileStat::at(&self.real).is_some_and(|stat| stat.identity() == self.identity)
    }

    /// The files of the target, by their paths in the folder.
    pub(super) fn target_files(&self) -> Result<Vec<String>, ToolRefusal> {
        if !self.real.is_dir() {
            return Ok(vec![self.path.clone()]);
        }
        let files = files_below(&self.real)?;
        Ok(files
            .into_iter()
            .map(|file| format!("{}/{file}", self.path))
            .collect())
    }
}

fn refuse_outside() -> ToolRefusal {
    ToolRefusal::usage_refusal(
        "The target is outside of the folder.",
        "Name a file or package inside it.",
    )
}

/// True for a path that leaves the folder by its own parts.
fn leads_out(folder: &Path, typed: &str) -> bool {
    let typed = Path::new(typed);
    let inside = typed.strip_prefix(folder).unwrap_or(typed);
    let depth = inside
        .components()
        .try_fold(0_usize, |depth, part| match part {
            Component::ParentDir => depth.checked_sub(1),
            Component::Normal(_) => Some(depth + 1),
            _ => Some(depth),
        });
    inside.is_absolute() || depth.is_none()
}

/// Checks a typed text without reading the disk.
fn check_text(typed: &str) -> Result<(), ToolRefusal> {
    let why = if typed.is_empty() {
        "The target is empty."
    } else if typed.len() > LONGEST {
        "The target is longer than 4,096 bytes."
    } else if typed.chars().any(text::is_hidden) {
        "The target holds control characters."
    } else {
        return Ok(());
    };
    Err(ToolRefusal::usage_refusal(
        why,
        "Name a source file or a package inside the folder, such as `src/shop/price.py`.",
    ))
}

/// The file of a class (`com.acme.Calc`) or of a Python module (`shop.price`), of which there must be one.
fn by_name(folder: &Path, typed: &str) -> Result<String, ToolRefusal> {
    let is_dotted_name = typed
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_'));
    if !is_dotted_name {
        return Err(absent(typed));
    }
    let path = typed.replace('.', "/");
    let ends = [
        format!("/{path}.java"),
        format!("/{path}.py"),
        format!("/{path}/__init__.py"),
    ];
    let mut found = files_below(folder)?;
    found.retain(|file| ends.iter().any(|end| format!("/{file}").ends_with(end)));
    match found.as_slice() {
        [] => Err(absent(typed)),
        [one] => Ok(one.clone()),
        several => Err(ToolRefusal::usage_refusal(
            format!(
                "`{}` is the name of several files: {}.",
                text::line(typed, 300),
                text::names(several, NAMED)
            ),
            "Name one of them by its path.",
        )),
    }
}

fn absent(typed: &str) -> ToolRefusal {
    ToolRefusal::usage_refusal(
        format!("There is no `{}`.", text::line(typed, 300)),
        "Check its spelling: a target is a path relative to the folder, or the dotted name of a class.",
    )
}

/// Returns a path relative to a folder above it, if it is UTF-8.
fn path_below<'p>(folder: &Path, path: &'p Path) -> Option<&'p str> {
    path.strip_prefix(folder).ok()?.to_str()
}

/// The files below a folder, outputs of tools and hidden folders left out.
fn files_below(folder: &Path) -> Result<Vec<String>, ToolRefusal> {
    let found = walk(folder, MAX_DEPTH, MAX_ENTRIES, |entry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let path = path_below(folder, entry.path());
        !is_hidden && path.is_some_and(|path| !is_output(path.as_bytes()))
    });
    let mut all = Vec::new();
    for found in found {
        let found = found.map_err(|error| {
            let why = text::line(&error.to_string(), 300);
            ToolRefusal::unknown_refusal(
                format!("The folder cannot be read: {why}"),
                "Make it readable, then try again.",
            )
        })?;
        if found.file_type().is_file() {
            all.extend(path_below(folder, found.path()).map(str::to_owned));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err::os::unix::fs::symlink;
    use proptest::prelude::*;
    use tempfile::TempDir;

    fn folder() -> (TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = fs_err::canonicalize(home.path()).unwrap().join("work");
        for file in [
            "src/shop/price.py",
            "a/src/main/java/com/acme/Calc.java",
            "b/x.py",
            "c/x.py",
        ] {
            let file = folder.join(file);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        fs_err::write(folder.join("../outside.py"), "").unwrap();
        (home, folder)
    }

    fn refusal(folder: &Path, typed: &str) -> String {
        let refusal = TestedPath::find_target(folder, typed).unwrap_err();
        assert!(refusal.is_usage && refusal.printed.is_none() && !refusal.remediation.is_empty());
        refusal.error
    }

    #[test]
    fn a_target_is_a_file_or_folder_inside_of_the_folder_by_path_or_by_name() {
        let (_home, folder) = folder();
        let found = |typed: &str| TestedPath::find_target(&folder, typed).unwrap().path;
        assert_eq!(found("src/shop/price.py"), "src/shop/price.py");
        assert_eq!(found("./src/../src/shop/"), "src/shop");
        assert_eq!(found(folder.join("b/x.py").to_str().unwrap()), "b/x.py");
        assert_eq!(found("com.acme.Calc"), "a/src/main/java/com/acme/Calc.java");
        assert_eq!(found("shop.price"), "src/shop/price.py");
        symlink("b", folder.join("link")).unwrap();
        assert_eq!(found("link/x.py"), "b/x.py");
        assert_eq!(
            TestedPath::find_target(&folder, "src")
                .unwrap()
                .target_files()
                .unwrap(),
            ["src/shop/price.py"]
        );
    }

    #[test]
    fn what_is_no_target_is_refused_with_its_reason() {
        let (_home, folder) = folder();
        symlink("../outside.py", folder.join("out.py")).unwrap();
        symlink("/", folder.join("root")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        for typed in [
            "..",
            "../outside.py",
            "src/../..",
            "/",
            "/etc/passwd",
            "out.py",
            "root/etc/passwd",
            "../no.py",
            "src/../../no",
            "/no/such",
        ] {
            assert_eq!(
                refusal(&folder, typed),
                "The target is outside of the folder.",
                "{typed}"
            );
        }
        for typed in [".", "src/..", folder.to_str().unwrap()] {
            assert_eq!(
                refusal(&folder, typed),
                "The target is the whole folder.",
                "{typed}"
            );
        }
        for typed in [
            "a\0b",
            "src\n",
            "\u{1b}[2J",
            "\u{202e}",
            "src/shop/price.py\t",
        ] {
            assert_eq!(
                refusal(&folder, typed),
                "The target holds control characters.",
                "{typed:?}"
            );
        }
        assert_eq!(refusal(&folder, ""), "The target is empty.");
        assert_eq!(
            refusal(&folder, &"a/".repeat(3_000)),
            "The target is longer than 4,096 bytes."
        );
        assert_eq!(
            refusal(&folder, "pipe"),
            "The target is no regular file or folder."
        );
        assert_eq!(refusal(&folder, "no/such.py"), "There is no `no/such.py`.");
        assert_eq!(
            refusal(&folder, "x"),
            "`x` is the name of several files: b/x.py, c/x.py."
        );
    }

    #[test]
    fn a_target_in_whose_place_something_else_was_put_is_not_there() {
        let (_home, folder) = folder();
        let target = TestedPath::find_target(&folder, "src/shop/price.py").unwrap();
        assert!(target.is_there());
        fs_err::write(folder.join("other"), "").unwrap();
        fs_err::rename(folder.join("other"), folder.join("src/shop/price.py")).unwrap();
        assert!(!target.is_there());
        let target = TestedPath::find_target(&folder, "src/shop").unwrap();
        fs_err::rename(folder.join("src"), folder.join("moved")).unwrap();
        symlink("moved", folder.join("src")).unwrap();
        assert!(!target.is_there(), "the same inode behind a link");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn whatever_is_typed_no_target_leaves_the_folder(
            parts in proptest::collection::vec("\\.|\\.\\.|src|shop|price\\.py|link|/|~|%2e%2e|\\PC{0,3}|[\\x00-\\x20]", 0..8),
            from_root in any::<bool>(),
        ) {
            let (_home, folder) = folder();
            symlink("../..", folder.join("link")).unwrap();
            let typed = format!("{}{}", if from_root { "/" } else { "" }, parts.join("/"));
            match TestedPath::find_target(&folder, &typed) {
                Ok(target) => {
                    let real = fs_err::canonicalize(folder.join(&target.path)).unwrap();
                    prop_assert!(real.starts_with(&folder) && real != folder);
                    prop_assert!(!typed.chars().any(text::is_hidden));
                    prop_assert!(!target.path.starts_with('/') && !target.path.split('/').any(|part| part == ".."));
                }
                Err(refusal) => prop_assert!(refusal.is_usage),
            }
        }
    }
}
