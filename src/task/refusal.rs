//! The reasons for which ralph leaves a task file unchanged.

use crate::source::Problem;

/// A refusal to flip a box, or to insert or remove lines.
pub type EditRefusal = Problem<Refused>;

/// The kinds of refused edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No box has the key.
    NoSuchBox,
    /// Several boxes have the key, or one byte cannot change the box to that state.
    NoFlip,
    /// No task, or more than one, has a given id.
    UnknownIds,
    /// The new lines would change the reading of others.
    DoesNotFit,
}
