//! The files of a directory, and work on all of them.

use std::path::{Path, PathBuf};

/// Returns all Markdown files below a directory, in order.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(
        !found.is_empty(),
        "{} holds no task files",
        folder.display()
    );
    found
}

/// Returns the results for each file and its bytes.
pub(super) fn in_parallel<T: Send>(paths: &[PathBuf], work: fn(&Path, &[u8]) -> T) -> Vec<T> {
    const THREADS: usize = 4;
    let some = |first: usize| -> Vec<T> {
        let paths = paths.iter().skip(first).step_by(THREADS);
        paths
            .map(|path| work(path, &fs_err::read(path).unwrap()))
            .collect()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|first| scope.spawn(move || some(first)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}
