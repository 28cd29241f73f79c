//! The text below a task: the steps, examples and files that a user wrote below its line.
//!
//! A line belongs to the list item into which it is indented. A line without indentation belongs to the
//! implementation above it. Lines for stages change no task's text, at any position.

use super::family::text_digest;
use super::file::TaskFile;
use super::meaning::commits_nothing;
use super::scan::{ReadAs, clean_line, line_column};
use super::stage::{Stage, TaskKey};

/// A task with its text, for the agent that works on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskText {
    /// The heading above it and the titles of its parents, outermost first.
    pub above: Vec<String>,
    /// The words of its own line, and the text below it.
    pub own: String,
    /// The same for its family's work if this is another stage, otherwise empty.
    pub work: String,
}

/// A line below a task. `inside` if it is indented into the task's item.
struct Under<'a> {
    text: &'a [u8],
    read: ReadAs,
    inside: bool,
}

impl TaskFile {
    /// Returns a box with its text; empty if it has no line.
    pub fn text_of(&self, key: &TaskKey) -> TaskText {
        let under = self.lines_below();
        let at = |stage: &Stage| {
            self.tasks
                .iter()
                .position(|task| task.key.family == key.family && task.key.stage == *stage)
        };
        let own = at(&key.stage);
        let work = at(&Stage::Implementation)
            .or_else(|| at(&Stage::Integ))
            .filter(|work| Some(*work) != own);
        let [own_text, work_text] =
            [own, work].map(|at| at.map(|at| self.whole_text(at, &under)).unwrap_or_default());
        TaskText {
            above: self.headings_above(work.or(own)),
            own: own_text,
            work: work_text,
        }
    }

    /// Returns the texts of all boxes of a family.
    pub fn family_text(&self, family: &str) -> String {
        let under = self.lines_below();
        let own = (0..self.tasks.len())
            .filter(|at| self.tasks.get(*at).is_some_and(|t| t.key.family == family));
        own.map(|at| self.whole_text(at, &under))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns the lines of each task in document order.
    ///
    /// The first is the text after its box. The lines of text that are indented into its item, and into no deeper
    /// task's, follow.
    pub fn task_lines(&self) -> Vec<Vec<&[u8]>> {
        let tasks = self.tasks.iter().zip(self.lines_below());
        tasks
            .map(|(task, under)| {
                let below = under
                    .into_iter()
                    .filter(|line| line.inside && line.read == ReadAs::Text)
                    .map(|line| line.text);
                std::iter::once(task.task_words(&self.bytes))
                    .chain(below)
                    .collect()
            })
            .collect()
    }

    /// Returns the digest of the lines indented below each task.
    ///
    /// The flag is true if they say to commit nothing.
    ///
    /// The digest is empty if there are no such lines.
    pub(super) fn notes_under(&self) -> Vec<(String, bool)> {
        self.lines_below()
            .into_iter()
            .map(|lines| {
                let inside: Vec<&[u8]> = lines
                    .into_iter()
                    .filter(|line| line.inside)
                    .map(|line| line.text)
                    .collect();
                let nothing = inside
                    .iter()
                    .any(|line| commits_nothing(&String::from_utf8_lossy(line)));
                let inside = inside.join(&b'\n');
                let is_blank = inside.trim_ascii().is_empty();
                (
                    if is_blank {
                        String::new()
                    } else {
                        text_digest(&inside)
                    },
                    nothing,
                )
            })
            .collect()
    }

    /// Returns the heading above a task, and its parents.
    fn headings_above(&self, at: Option<usize>) -> Vec<String> {
        let Some(task) = at.and_then(|at| self.tasks.get(at)) else {
            return Vec::new();
        };
        let mut above: Vec<String> =
            std::iter::successors(self.parent_task(task), |task| self.parent_task(task))
                .map(|task| clean_line(task.prefix, task.task_words(&self.bytes)))
                .collect();
        let heading = (task.found.group as usize)
            .checked_sub(1)
            .and_then(|at| self.heading_words(at));
        above.extend(heading.map(|(_, words)| words));
        above.retain(|words| !words.is_empty());
        above.reverse();
        above
    }

    /// Returns the words of a task's line and the text below it.
    fn whole_text(&self, at: usize, under: &[Vec<Under<'_>>]) -> String {
        let Some(task) = self.tasks.get(at) else {
            return String::new();
        };
        let lines = under
            .get(at)
            .into_iter()
            .flatten()
            .map(|line| String::from_utf8_lossy(line.text));
        let below: Vec<_> = lines.collect();
        let words = String::from_utf8_lossy(task.task_words(&self.bytes));
        let whole = format!("{}{}\n{}", task.prefix, words.trim(), below.join("\n"));
        whole.trim_matches('\n').trim_end().to_owned()
    }

    /// Returns the lines below each task, up to the next one, without comments.
    fn lines_below(&self) -> Vec<Vec<Under<'_>>> {
        let mut found: Vec<Vec<Under>> = self.tasks.iter().map(|_| Vec::new()).collect();
        // The open list items of tasks, each with the column of its bullet and its task.
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut work = None;
        let mut fence: Option<(Option<usize>, bool)> = None;
        for line in self.read_lines() {
            let column = line_column(line.text);
            let is_fence = line.read == ReadAs::Fence;
            match line.read {
                ReadAs::Heading(_) | ReadAs::LeftOut(_) => {
                    open.clear();
                    work = None;
                }
                ReadAs::Task(at) => {
                    open.retain(|(above, _)| *above < column);
                    open.push((column, at));
                    if self
                        .tasks
                        .get(at)
                        .is_some_and(super::family::NamedBox::is_implementation)
                    {
                        work = Some(at);
                    }
                }
                ReadAs::Text => open.retain(|(above, _)| *above < column),
                ReadAs::Fence if fence.is_none() => open.retain(|(above, _)| *above < column),
                ReadAs::Fence | ReadAs::Command | ReadAs::Blank => {}
                ReadAs::FrontMatter | ReadAs::Comment => continue,
            }
            let owner = (
                open.last().map(|(_, task)| *task).or(work),
                !open.is_empty(),
            );
            // A fence is one unit, even if its lines differ in indentation.
            let (owner, inside) = if is_fence {
                *fence.get_or_insert(owner)
            } else {
                owner
            };
            if !is_fence {
                fence = None;
            }
            if matches!(
                line.read,
                ReadAs::Text | ReadAs::Fence | ReadAs::Command | ReadAs::Blank
            ) && let Some(lines) = owner.and_then(|owner| found.get_mut(owner))
            {
                lines.push(Under {
                    text: line.text,
                    read: line.read,
                    inside,
                });
            }
        }
        found
    }
}
