//! Names each box, and links it to its parent.
//!
//! The link is by id, by the number of a heading, or by indentation.
//!
//! Runs in linear time. No task is its own ancestor. Marks have no influence.

use super::grammar::{Grammar, ancestor_ids, leading_id, read_head};
use super::meaning::is_struck;
use super::outline::{FoundBox, OutlineHeading};
use super::stage::{Stage, TaskKey};
use crate::source::digest;
use std::collections::{HashMap, HashSet};

/// A box with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedBox {
    /// Its position in the file.
    pub(super) found: FoundBox,
    /// Its name in the machine.
    pub(super) key: TaskKey,
    /// The id on the line, if two lines have it. The key then does not contain it.
    pub(super) doubled: Option<String>,
    /// Digest of the whole text.
    pub(super) digest: String,
    /// True for `[ ]*` or `1.2*`, or a stage of such a task.
    pub(super) optional: bool,
    /// True if its work is struck out.
    pub(super) struck: bool,
    /// Index of the parent's box.
    pub(super) parent: Option<u32>,
    /// Offset in the file where the words begin.
    pub(super) words_at: usize,
    /// Wrappers to add before the words.
    pub(super) prefix: &'static str,
}

impl NamedBox {
    /// Returns the id that the line shows.
    pub(super) fn shown_id(&self) -> Option<&str> {
        let own = Some(self.key.family.as_str()).filter(|_| self.key.has_id());
        self.doubled.as_deref().or(own)
    }

    /// Returns the text without box, id and stage.
    pub(super) fn task_words<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.words_at..self.found.text.end)
            .unwrap_or_default()
    }

    pub(super) fn is_implementation(&self) -> bool {
        self.key.stage == Stage::Implementation
    }
}

/// Marks the stages of optional tasks and of struck-out tasks in the same way.
///
/// None of its stages is required, and none can be judged while its work is not done.
fn inherit_optional(tasks: &mut [NamedBox]) {
    let work = tasks
        .iter()
        .filter(|task| task.optional && task.is_implementation());
    let families: HashMap<String, bool> = work
        .map(|task| (task.key.family.clone(), task.struck))
        .collect();
    for task in tasks.iter_mut() {
        let struck = families.get(&task.key.family);
        task.optional |= struck.is_some();
        task.struck |= struck == Some(&true);
    }
}

/// Gives a section's only box without an id the id in its heading (`### Task 1.1: …`), unless it is used elsewhere.
///
/// Gates, stages and FINAL in that section do not count as its tasks.
fn take_ids_of_headings(
    tasks: &mut [NamedBox],
    headings: &[OutlineHeading],
    ids: &[Option<String>],
) {
    let mut used: HashMap<String, u32> = HashMap::new();
    let of_tasks = tasks
        .iter()
        .filter(|task| task.is_implementation())
        .map(|task| &task.key.family);
    for id in of_tasks.chain(ids.iter().flatten()) {
        *used.entry(id.clone()).or_default() += 1;
    }
    for (at, (heading, id)) in headings.iter().zip(ids).enumerate() {
        let Some(id) = id.as_ref().filter(|id| used.get(*id) == Some(&1)) else {
            continue;
        };
        let inside = headings
            .iter()
            .skip(at + 1)
            .take_while(|other| other.level > heading.level)
            .count();
        let first = tasks.partition_point(|task| task.found.group as usize <= at);
        let end = tasks.partition_point(|task| task.found.group as usize <= at + 1 + inside);
        let mut own = tasks.get_mut(first..end).unwrap_or_default().iter_mut();
        let mut own = own.by_ref().filter(|task| task.is_implementation());
        if let (Some(only), None) = (own.next(), own.next())
            && only.key.family.is_empty()
        {
            only.key.family.clone_from(id);
        }
    }
}

/// Names the boxes of an outline.
pub(super) fn name_tasks(
    bytes: &[u8],
    boxes: Vec<FoundBox>,
    headings: &[OutlineHeading],
    grammar: &Grammar,
) -> Vec<NamedBox> {
    let mut tasks: Vec<NamedBox> = boxes
        .into_iter()
        .map(|found| name_box(bytes, found, grammar))
        .collect();
    let ids: Vec<Option<String>> = headings
        .iter()
        .map(|heading| {
            leading_id(
                bytes.get(heading.title.clone()).unwrap_or_default(),
                grammar,
            )
        })
        .collect();
    take_ids_of_headings(&mut tasks, headings, &ids);
    let mut once: HashSet<&str> = HashSet::with_capacity(tasks.len());
    let with_id = tasks
        .iter()
        .filter(|task| task.is_implementation() && !task.key.family.is_empty());
    let again = with_id.filter(|task| !once.insert(&task.key.family));
    let doubled: HashSet<String> = again.map(|task| task.key.family.clone()).collect();
    let mut seen: HashMap<String, u32> = HashMap::new();
    for task in &mut tasks {
        let is_doubled = task.is_implementation() && doubled.contains(&task.key.family);
        if is_doubled || task.key.family.is_empty() {
            let occurrence = seen
                .entry(task.digest.clone())
                .and_modify(|n| *n += 1)
                .or_insert(1);
            let family = format!("~{}#{occurrence}", task.digest);
            let id = std::mem::replace(&mut task.key.family, family);
            task.doubled = is_doubled.then_some(id);
        }
    }
    inherit_optional(&mut tasks);
    let ids: HashSet<&str> = ids.iter().flatten().map(String::as_str).collect();
    for (task, parent) in parent_links(&tasks, &ids).into_iter().enumerate() {
        if let Some(task) = tasks.get_mut(task) {
            task.parent = parent;
        }
    }
    tasks
}

/// Names a box by the id in its text; the family stays empty if it shows none.
fn name_box(bytes: &[u8], found: FoundBox, grammar: &Grammar) -> NamedBox {
    let text = bytes.get(found.text.clone()).unwrap_or_default();
    let name = read_head(text, grammar).unwrap_or_default();
    let words = String::from_utf8_lossy(text.get(name.rest..).unwrap_or_default());
    let struck = is_struck(&format!("{}{words}", name.prefix));
    NamedBox {
        words_at: found.text.start + name.rest,
        optional: name.optional || found.starred || struck,
        struck,
        found,
        key: TaskKey {
            family: name.family,
            stage: name.stage,
        },
        doubled: None,
        digest: text_digest(text),
        parent: None,
        prefix: name.prefix,
    }
}

/// Returns the first 16 hex digits of the SHA-256 of the text, with white space folded.
pub(super) fn text_digest(text: &[u8]) -> String {
    let words = text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut whole = digest(&words.collect::<Vec<_>>().join(&b' '));
    whole.truncate(16);
    whole
}

/// Returns the index of each task's parent.
fn parent_links(tasks: &[NamedBox], headings: &HashSet<&str>) -> Vec<Option<u32>> {
    // The box that represents a family: its implementation, otherwise its first box.
    let mut leaders: HashMap<&str, u32> = HashMap::with_capacity(tasks.len());
    // The last implementation above that shows an id, or the first one below if none is above.
    let mut by_id: HashMap<&str, u32> = HashMap::with_capacity(tasks.len());
    for (at, task) in (0..).zip(tasks) {
        let leader = leaders.entry(&task.key.family).or_insert(at);
        if task.is_implementation() {
            *leader = at;
            task.shown_id().map(|id| by_id.entry(id).or_insert(at));
        }
    }
    let twins = find_twins(tasks);
    let leaders: Vec<u32> = tasks
        .iter()
        .filter_map(|task| leaders.get(&*task.key.family).copied())
        .collect();
    let mut links: Vec<Option<Link>> = Vec::with_capacity(tasks.len());
    for ((at, task), leader) in (0..).zip(tasks).zip(&leaders) {
        links.push(if *leader == at {
            link_parents(task, tasks, &by_id, &twins, headings)
        } else {
            None
        });
        if let Some(id) = task.shown_id().filter(|_| task.is_implementation()) {
            by_id.insert(id, at);
        }
    }
    cut_circles(&mut links, &leaders);
    leaders
        .iter()
        .map(|leader| links.get(*leader as usize)?.as_ref().map(|link| link.to))
        .collect()
}

/// A link to a parent; `by_indentation` if only indentation gives it.
struct Link {
    to: u32,
    by_indentation: bool,
}

/// Returns the implementations whose id another one of the same section shows.
///
/// Such an id names no parent. The wrong one would be ticked with the child, without work.
fn find_twins(tasks: &[NamedBox]) -> HashSet<u32> {
    let mut last: HashMap<(u32, &str), u32> = HashMap::new();
    let mut twins = HashSet::new();
    for (at, task) in (0..).zip(tasks) {
        if let Some(id) = task.doubled.as_deref()
            && let Some(other) = last.insert((task.found.group, id), at)
        {
            twins.extend([other, at]);
        }
    }
    twins
}

/// Returns the parent: by id, otherwise none under a numbered heading, otherwise by indentation.
fn link_parents(
    task: &NamedBox,
    tasks: &[NamedBox],
    by_id: &HashMap<&str, u32>,
    twins: &HashSet<u32>,
    headings: &HashSet<&str>,
) -> Option<Link> {
    if task.key.stage == Stage::Final || task.key.is_wider_gate() {
        return None;
    }
    if let Some(id) = task.shown_id() {
        match ancestor_ids(id).find_map(|id| by_id.get(id)) {
            Some(to) if !twins.contains(to) => {
                return Some(Link {
                    to: *to,
                    by_indentation: false,
                });
            }
            None if ancestor_ids(id).any(|id| headings.contains(id)) => return None,
            _ => {}
        }
    }
    let mut above = task.found.enclosing;
    while let Some(holder) = above.and_then(|at| tasks.get(at as usize)) {
        if holder.key.family != task.key.family {
            return above.map(|to| Link {
                to,
                by_indentation: true,
            });
        }
        above = holder.found.enclosing;
    }
    None
}

/// Removes circles of links.
///
/// Links by id lead to shorter ids and so never form a circle. A walk that ends in a circle has just passed once
/// around it, so its last link by indentation is part of the circle. That link is dropped.
fn cut_circles(links: &mut [Option<Link>], leaders: &[u32]) {
    let mut walked: Vec<usize> = vec![usize::MAX; links.len()];
    for start in 0..links.len() {
        let (mut at, mut indented) = (start, None);
        while walked.get(at) == Some(&usize::MAX) {
            if let Some(cell) = walked.get_mut(at) {
                *cell = start;
            }
            let Some(Some(link)) = links.get(at) else {
                break;
            };
            if link.by_indentation {
                indented = Some(at);
            }
            at = leaders
                .get(link.to as usize)
                .map_or(usize::MAX, |leader| *leader as usize);
            if walked.get(at) == Some(&start) {
                if let Some(link) = indented.and_then(|cut| links.get_mut(cut)) {
                    *link = None;
                }
                break;
            }
        }
    }
}
