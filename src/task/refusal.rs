//! Why ralph leaves a task file as it is.

use crate::source::Problem;

/// Why a box is not flipped, or lines are not put in or taken away.
pub type Refusal = Problem<Refused>;

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No box has the key.
    NoSuchBox,
    /// Several boxes have the key, or one byte cannot bring the box into that state.
    NoFlip,
    /// Ids were named that no task has, or more than one.
    UnknownIds,
    /// With the lines, others would be read differently.
    DoesNotFit,
}
