//! The rules of `ralph check`.
//!
//! Owns: their ids, and what each means.
//!
//! Promises: an id is never given to another rule.
//!
//! Refuses to know: how a rule is checked.

/// Id, a line, and what it means with what to do, of every rule.
pub(super) const ALL: &[(&str, &str, &str)] = &[
    (
        "config-error",
        "The configuration has a mistake",
        "A key of .ralph/config.yaml is unknown or its value is wrong. No run begins before it is mended.",
    ),
    (
        "unknown-section",
        "A section in the configuration does not exist",
        "`tasks.sections` names a heading that the task file does not have, so the pattern does nothing.",
    ),
    (
        "no-task-file",
        "There is no task file",
        "The spec folder has no tasks.md that can be read. Write one, or set `spec:`.",
    ),
    (
        "no-tasks",
        "The task file has no tasks",
        "A task is a list item with a box, `- [ ] 1. Do this`; the file has none.",
    ),
    (
        "doubled-stage",
        "A stage stands twice",
        "The same stage of the same task stands on two lines, so that a tick would be ambiguous. A run refuses the file.",
    ),
    (
        "orphan-stage",
        "A stage has no task",
        "A stage such as `2.PITEST` stands there without its task `2.`. A run refuses the file.",
    ),
    (
        "stage-of-doubled-task",
        "A stage belongs to two tasks",
        "A stage such as `2.PITEST` stands there, and `2.` twice. A run refuses the file.",
    ),
    (
        "placed-after-no-task",
        "A gate is placed after a task that is not there",
        "With `stages: virtual`, `placement:` names a task that the file does not have, or has twice. A run refuses the file.",
    ),
    (
        "stage-order",
        "A stage stands on the wrong side of its task",
        "TEST-FIRST is done before its task, every other stage after it, wherever the lines stand.",
    ),
    (
        "duplicate-id",
        "Two tasks have one id",
        "Both tasks are known by their text, and stages cannot belong to either.",
    ),
    (
        "unknown-mark",
        "A box holds an unknown mark",
        "Only a space (open) and `x` (done) have a meaning; any other mark counts as not done and is kept.",
    ),
    (
        "unknown-stage",
        "A word behind an id is no stage",
        "`2.REVIEW` is no stage, so the line is a task without an id.",
    ),
    (
        "escaped-box",
        "A formatter damaged a box",
        "A bracket stands behind a backslash, so that the line is no task any more.",
    ),
    (
        "malformed-box",
        "Something is almost a box",
        "A line seems to mean a box but is none, so it is no task.",
    ),
    ("missing-box", "A task has no box", "A line names a task but has no box, so it is no task."),
    ("box-in-fence", "A box stands in a code fence", "Boxes in code are examples and no tasks."),
    (
        "unlisted-box",
        "A task is no list item for other tools",
        "The box is indented like code or stands in HTML: ralph takes it as a task, other Markdown tools show code or text.",
    ),
    ("box-in-table", "A box stands in a table", "Boxes in tables are no tasks."),
    ("box-in-heading", "A box stands in a heading", "Boxes in headings are no tasks."),
    ("box-in-front-matter", "A box stands in the front matter", "Boxes in front matter are no tasks."),
    ("box-without-bullet", "A box has no bullet", "A box without a bullet before it is no task."),
    ("two-boxes", "Two boxes stand on one line", "Only the first box of a line is a task."),
    (
        "ticked-parent",
        "A ticked task has an open part",
        "A parent is ticked while a required child is open; the loop opens it again with the child's turn.",
    ),
    (
        "parent-below",
        "A parent stands below its parts",
        "By its id a task is the parent of tasks above it, under another heading, so it is ticked with them; often it belongs to another list.",
    ),
    (
        "unclosed-fence",
        "A code fence has no end",
        "Everything behind it counts as code, so boxes there are no tasks.",
    ),
    (
        "unclosed-comment",
        "A comment has no end",
        "Everything behind it counts as a comment, so boxes there are no tasks.",
    ),
    (
        "byte-order-mark",
        "The file begins with a byte-order mark",
        "Other Markdown tools miss a task on the first line.",
    ),
    (
        "mixed-line-ends",
        "Lines end in different ways",
        "Some lines end with CR LF and some with LF; ralph keeps each.",
    ),
    (
        "gate-without-work",
        "A gate has nothing to judge",
        "A gate covers no task that could change anything, so it would be skipped.",
    ),
    (
        "gate-of-old-work",
        "A gate judges work that was done before ralph ran",
        "The task was ticked before ralph saw its changes, so its gate has nothing that it could judge.",
    ),
    (
        "gate-without-java",
        "A gate for Java stands on a task without Java",
        "The task names files of other kinds only, so the gate would be skipped.",
    ),
    (
        "journal",
        "The journal cannot be read",
        "The state of earlier runs is unknown; a run refuses to begin.",
    ),
    (
        "no-packages",
        "There is no package",
        "No folder that `packages:` names is a git repository that could be used.",
    ),
    (
        "unreadable-repository",
        "A repository cannot be read",
        "A package's repository is damaged, incomplete or may not be read; no run begins with it.",
    ),
    (
        "refused-repository",
        "A repository is set up in a way that cannot be trusted",
        "ralph cannot read this repository faithfully; no run begins with it.",
    ),
    (
        "uncommitted-changes",
        "There are uncommitted changes",
        "A run refuses to begin on changes that no attempt left, because it could not tell them from an agent's.",
    ),
    (
        "unfinished-operation",
        "A git operation is not ended",
        "A rebase, merge, bisect or the like is under way in a package; an agent's commits would become part of it.",
    ),
    (
        "detached-head",
        "HEAD is detached",
        "A package has no branch checked out; an agent's commits would stand on none.",
    ),
    (
        "locked-index",
        "The index is locked",
        "A package's repository has an index.lock: a git is at work there, or one died. No agent could commit.",
    ),
    (
        "no-java",
        "A package has no Java",
        "An open gate measures Java and no package has any, so the gate would be skipped.",
    ),
    (
        "no-tests",
        "A package has no tests",
        "Gates leave classes without tests out, so they would judge nothing.",
    ),
    (
        "missing-agent",
        "An agent is missing",
        "An open box needs an agent that is not configured or not installed.",
    ),
    (
        "prompt-template",
        "A prompt template cannot be used",
        "A file of .ralph/prompts/ asks for something that does not exist, is malformed or is no text file; no agent could be told its task by it.",
    ),
    (
        "missing-engine",
        "A gate's engine is missing",
        "An open gate needs a program that is not installed; it would end with ERROR.",
    ),
    (
        "pit-in-pom",
        "A POM's own entry of pitest-maven says otherwise",
        "What a POM says about pitest-maven differs from what the gate does; the message names each setting and what holds instead.",
    ),
    (
        "missing-program",
        "A configured program is missing",
        "A check or hook names a program that cannot be started.",
    ),
];

/// What a rule means: a line, and whole sentences.
pub(super) fn about(id: &str) -> (&'static str, &'static str) {
    let found = ALL.iter().find(|(known, ..)| *known == id);
    found.map_or(("A finding of ralph check", "See the message."), |(_, short, full)| (short, full))
}
