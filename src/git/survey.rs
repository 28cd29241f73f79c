//! A look at every package, whatever is wrong with some of them.

use super::error::GitError;
use super::{Repositories, package_state};
use crate::machine::facts::PackageState;
use crate::source::Classifier;
use std::path::Path;

/// A package and its state, or why it cannot be read.
pub type Surveyed = (String, Result<PackageState, GitError>);

impl Repositories {
    /// As [`Repositories::discover`], but a repository that cannot be read stops nothing: it is in the list
    /// with its error. Errors: no repository at all, two packages with one name, a pattern that is none.
    pub fn survey(
        workspace: &Path,
        patterns: &[String],
        patterns_given: bool,
        classifier: Classifier,
    ) -> Result<(Self, Vec<Surveyed>), GitError> {
        let mut found = Self::find(workspace, patterns, patterns_given, classifier)?;
        let states = found.names().into_iter().map(|name| {
            let state = found.surveyed(&name).map_err(|error| error.in_package(&name));
            (name, state)
        });
        let states = states.collect();
        Ok((found, states))
    }

    fn surveyed(&mut self, name: &str) -> Result<PackageState, GitError> {
        let classifier = self.classifier.clone();
        let (place, open) = self.package(name)?;
        let commit = open.head()?.commit;
        open.refresh_index(commit)?;
        let (head, status) = open.status()?;
        package_state(name, &place, open, &head, &status, &classifier).map(|(state, _)| state)
    }
}
