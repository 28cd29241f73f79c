//! Repositories that cannot be read faithfully are refused with a hint.

use super::{Repo, Workspace};
use ralph::git::{GitError, GitErrorKind};

fn refusal(prepare: impl FnOnce(&Repo)) -> GitError {
    let workspace = Workspace::with(&["a"]);
    let repo = workspace.repo("src/a");
    repo.write("src/main/java/deep/B.java", "class B {}\n");
    repo.commit("second");
    prepare(&repo);
    workspace
        .try_discover(&["src/*"], false)
        .err()
        .expect("has to be refused")
}

#[track_caller]
fn refused(error: &GitError, words: &str, hint: &str) {
    assert_eq!(error.kind, GitErrorKind::Refused, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(error.hint.contains(hint), "{}", error.hint);
    assert_eq!(error.place.as_str(), "Package a");
}

#[test]
fn hidden_index_flags() {
    for (flag, word) in [
        ("--assume-unchanged", "assume-unchanged"),
        ("--skip-worktree", "skip-worktree"),
    ] {
        let error = refusal(|repo| drop(repo.git(&["update-index", flag, "src/main/java/A.java"])));
        refused(
            &error,
            word,
            &format!("--no-{word} -- src/main/java/A.java"),
        );
    }
}

#[test]
fn flags_that_an_agent_sets_during_the_run_are_refused_too() {
    let workspace = Workspace::with(&["a"]);
    let mut repositories = workspace.discover();
    repositories.take_snapshot().unwrap();
    workspace
        .repo("src/a")
        .git(&["update-index", "--assume-unchanged", "src/main/java/A.java"]);
    refused(
        &repositories.take_snapshot().unwrap_err(),
        "assume-unchanged",
        "update-index",
    );
}

#[test]
fn sparse_checkout_and_sparse_index() {
    let error = refusal(|repo| drop(repo.git(&["sparse-checkout", "set", "src/test"])));
    refused(&error, "sparse checkout", "git sparse-checkout disable");
    let error = refusal(|repo| {
        repo.git(&[
            "sparse-checkout",
            "set",
            "--cone",
            "--sparse-index",
            "src/test",
        ]);
        repo.git(&["config", "--worktree", "--unset", "core.sparseCheckout"]);
        repo.git(&["config", "--unset-all", "extensions.worktreeConfig"]);
    });
    refused(&error, "sparse", "git sparse-checkout disable");
}

#[test]
fn split_index() {
    let error = refusal(|repo| drop(repo.git(&["update-index", "--split-index"])));
    refused(&error, "split", "--no-split-index");
}

#[test]
fn partial_clones() {
    let error = refusal(|repo| {
        repo.git(&["config", "core.repositoryFormatVersion", "1"]);
        repo.git(&["config", "extensions.partialClone", "origin"]);
    });
    refused(&error, "partial clone", "without --filter");
    let error = refusal(|repo| drop(repo.git(&["config", "remote.origin.promisor", "true"])));
    refused(&error, "partial clone", "without --filter");
}

#[test]
fn sha256_reftable_and_unknown_extensions() {
    let error = refusal(|repo| {
        fs_err::remove_dir_all(repo.dir.join(".git")).unwrap();
        repo.git(&["init", "-q", "--object-format=sha256"]);
    });
    refused(&error, "SHA-256", "sha1");
    let with = |key: &'static str, value: &'static str| {
        refusal(move |repo| {
            // By hand: this git may not know the extension, and then refuses to set it.
            let config = repo
                .read(".git/config")
                .replace("repositoryformatversion = 0", "repositoryformatversion = 1");
            repo.write(
                ".git/config",
                format!("{config}[extensions]\n\t{key} = {value}\n"),
            );
        })
    };
    refused(
        &with("refStorage", "reftable"),
        "reftable",
        "git refs migrate",
    );
    refused(&with("fancy", "true"), "fancy", "extension");
}

#[test]
fn another_folder_s_files() {
    let error = refusal(|repo| drop(repo.git(&["config", "core.worktree", "/"])));
    refused(&error, "another folder", "core.worktree");
    let error = refusal(|repo| drop(repo.git(&["config", "core.bare", "true"])));
    refused(&error, "another folder", "core.bare");
}

#[test]
fn grafts() {
    let error = refusal(|repo| {
        fs_err::create_dir_all(repo.dir.join(".git/info")).unwrap();
        repo.write(".git/info/grafts", format!("{}\n", repo.head()));
    });
    refused(&error, "grafts", "grafts");
}

#[test]
fn pipes_in_place_of_files_do_not_stop_the_run() {
    for path in [
        ".gitignore",
        "src/main/.gitattributes",
        ".git/HEAD",
        ".git/config",
        ".git/refs/heads/main",
        ".git/index",
    ] {
        let workspace = Workspace::with(&["a"]);
        let mut repositories = workspace.discover();
        let file = workspace.path("src/a").join(path);
        drop(fs_err::remove_file(&file));
        nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
        refused(
            &repositories.take_snapshot().unwrap_err(),
            "pipe",
            "Remove it",
        );
    }
}

#[test]
fn a_damaged_repository_is_unreadable() {
    let workspace = Workspace::with(&["a"]);
    workspace.repo("src/a").write(".git/HEAD", "nonsense\n");
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert_eq!(error.kind, GitErrorKind::Unreadable, "{error}");
    workspace
        .repo("src/a")
        .write(".git/HEAD", "ref: refs/heads/a\x1b[31m..b\n");
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert_eq!(error.kind, GitErrorKind::Unreadable, "{error}");
    let workspace = Workspace::with(&["a"]);
    let tree = workspace.repo("src/a").git(&["rev-parse", "HEAD^{tree}"]);
    workspace
        .repo("src/a")
        .remove(&format!(".git/objects/{}/{}", &tree[..2], &tree[2..]));
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert_eq!(error.kind, GitErrorKind::Unreadable, "{error}");
}

#[test]
fn a_git_folder_that_is_none_is_an_error_and_no_missing_package() {
    let workspace = Workspace::with(&["a"]);
    fs_err::create_dir_all(workspace.path("src/b/.git")).unwrap();
    let error = workspace.try_discover(&["src/*"], false).err().unwrap();
    assert_eq!(
        (error.kind, error.place.as_str()),
        (GitErrorKind::Unreadable, "Package b")
    );
}
