//! Makes a repository with one commit, for the demo's packages.

use super::error::GitError;
use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature};
use std::path::Path;

/// Makes a repository in `folder` and commits everything in it.
pub fn init_repository(folder: &Path, message: &str) -> Result<(), GitError> {
    let made = || -> Result<(), git2::Error> {
        let mut options = RepositoryInitOptions::new();
        options.initial_head("main").no_reinit(true);
        let repository = Repository::init_opts(folder, &options)?;
        let mut index = repository.index()?;
        index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
        index.write()?;
        let tree = repository.find_tree(index.write_tree()?)?;
        let who = Signature::now("ralph", "ralph@localhost")?;
        repository.commit(Some("HEAD"), &who, &who, message, &tree, &[])?;
        Ok(())
    };
    made().map_err(|error| GitError::unreadable(format!("make a repository in {}", folder.display()), &error))
}
