//! The kinds of remarks on a task file.

use super::problems::TaskFileFinding;
use serde::Serialize;

/// The kind of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// There is no box at all.
    NoTasks,
    /// There is no box at all, because the file is UTF-16 or UTF-32.
    NotUtf8,
    /// All boxes are in sections without tasks.
    OnlyLeftOut,
    /// A fence is open to the end of the file and hides what follows.
    UnclosedFence,
    /// A comment has no end and hides what follows.
    UnclosedComment,
    /// A box in front matter is not a task.
    BoxInFrontMatter,
    /// A mark other than space and `x`. It is kept and is not done.
    UnknownMark,
    /// `- \[ ] …`: a formatter escaped the box, so it is not a task any more.
    EscapedBox,
    /// `- [x ]`, `- [ ]Foo`, `-[ ] foo`: almost a box, and not a task.
    MalformedBox,
    /// `- [P] T001 …`: a task without its box.
    MissingBox,
    /// Tasks that `CommonMark` does not read as list items: indented like code, or in HTML.
    UnlistedBox,
    /// A box that does not begin a list item is not a task.
    ///
    /// It may be in a heading or a table, or have no bullet.
    BoxWithoutBullet,
    /// `2.2 [ ] a`, `### 1.1 [ ] a`, `- ~~[ ] a~~`: a box behind a number, a letter or a mark is not a task.
    BoxBehindLabel,
    /// `- ☐ a`, `- ✅ b`: a symbol is not a box.
    BoxSymbol,
    /// A second box on one line is part of the text.
    TwoBoxes,
    /// Two tasks show the same id; they are identified by their text.
    DuplicateId,
    /// `2.REVIEW`: not a stage word, so the line is a task without an id.
    UnknownStage,
    /// Boxes in a code fence are not tasks.
    BoxInFence,
    /// Boxes in the text of a command are not tasks.
    BoxInCommand,
    /// Headings name tasks, and there is no box below them.
    HeadingWithoutBox,
    /// The words say that the task is optional, but its box does not.
    OptionalInWords,
    /// An open task is struck out.
    StruckOut,
    /// A gate covers no task that could change anything.
    GateWithoutWork,
    /// A gate is behind a task that only writes tests.
    GateBeforeCode,
    /// A parent is below its children, under another heading.
    ParentBelow,
    /// A task depends on a task that is not in the file.
    UnknownNeed,
    /// The waves of Kiro name a task that is not in the file.
    UnknownWaveTask,
    /// A fence with waves cannot be read, or is not the only one.
    UnreadWaves,
    /// The dependencies of headings are too many.
    TooManyNeeds,
}

/// A remark on an unusual line of a task file.
pub type Remark = TaskFileFinding<RemarkKind>;
