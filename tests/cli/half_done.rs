//! Half-done task files of four tools, each from `init` and `place` to the end of the run: only `STOP` lines stop it.

use super::project::Project;

/// Runs `init`, `place each` and `run`, with `accept` at each stop. Returns the names of the stops.
fn to_the_end(folder: &str, text: &str) -> Vec<String> {
    let project = Project::new("");
    fs_err::remove_file(project.path("tasks.md")).unwrap();
    fs_err::remove_dir_all(project.path(".ralph")).unwrap();
    let file = format!("{folder}/tasks.md");
    project.write(&file, text);
    project.ralph(&["init", "--yes", "--spec", folder]).code(0);
    let config = project.read(".ralph/config.yaml");
    assert!(config.contains(&format!("\nspec: {folder}\n")), "{config}");
    let own =
        "agents: {default: {command: [sh, agent.sh]}}\ngates: {LINT: {run: [sh, -c, 'exit 0']}}\n";
    project.write(".ralph/config.yaml", format!("spec: {folder}\n{own}"));
    project.agent("");
    project.ralph(&["place", "each", "--gate", "LINT"]).code(0);
    let placed = project.read(&file);
    let mut stops = Vec::new();
    for _ in 0..5 {
        let done = project.ralph(&["run", "--json"]);
        let stop = done.json().pop().unwrap();
        if stop["stopped"]["stop"] != "approval" {
            assert_eq!(stop["stopped"]["stop"], "all-done", "{}", stop["why"]);
            break;
        }
        assert_eq!(done.code, 1);
        let name = stop["stopped"]["task"].as_str().unwrap().to_owned();
        project
            .ralph(&["accept", &name, "--reason", "seen"])
            .code(0);
        stops.push(name);
    }
    let now = project.read(&file);
    assert_eq!(
        now.replace("[x]", "[ ]"),
        placed.replace("[x]", "[ ]"),
        "nothing but ticks"
    );
    let left: Vec<&str> = now
        .lines()
        .filter(|line| line.trim_start().starts_with("- [ ]"))
        .collect();
    stops.extend(left.iter().map(|line| format!("open: {}", line.trim())));
    project.ralph(&["replay"]).code(0);
    stops
}

#[test]
fn of_kiro() {
    let text = "# Implementation Plan\n\n- [x] 1. Set up the project\n  - _Requirements: 1.1_\n- [-] 2. Parse\n  - [x] 2.1 Read the file\n    - _Requirements: 1.2_\n  - [ ] 2.2 Sum it\n    - _Requirements: 1.3_\n  - [ ]* 2.3 Property tests\n- [ ] 3. Checkpoint - all tests pass\n- [ ] 4. Print\n  - _Requirements: 2.1_\n";
    let text = text.replace("[-]", "[ ]");
    assert_eq!(
        to_the_end(".kiro/specs/sum", &text),
        ["open: - [ ]* 2.3 Property tests"]
    );
}

#[test]
fn of_spec_kit() {
    let text = "# Tasks: Sum\n\n## Phase 1: Setup\n\n- [X] T001 Create the project\n- [x] T002 [P] Add the linter\n\n**STOP**: wait for approval of the plan\n\n## Phase 2: User Story 1\n\n- [ ] T003 [P] [US1] Write the tests\n- [ ] T003A [US1] Sum the numbers\n- [ ] T004 [US1] Print them\n\n**Checkpoint**: it can be shown\n";
    assert_eq!(to_the_end("specs/001-sum", text), ["tasks.md:8"]);
}

#[test]
fn of_openspec() {
    let text = "## 1. Read\n\n- [x] 1.1 Read the file\n- [x] 1.2 Refuse folders\n\n## 2. Sum\n\n- [ ] 2.1 - Sum the numbers\n- [ ] 2.2 ~~Round them~~ [removed]\n- [ ] APPROVE the numbers\n\n## 3. Docs\n\n- [ ] Write them\n";
    assert_eq!(
        to_the_end("openspec/changes/sum", text),
        ["tasks.md:11", "open: - [ ] 2.2 ~~Round them~~ [removed]"]
    );
}

#[test]
fn of_smart_ralph() {
    let text = "---\nspec: sum\n---\n\n# Tasks: sum\n\n## Phase 1\n\n- [x] 1.1 Read the file\n  - **Do**: read it\n  - **Commit**: `feat(sum): read`\n- [ ] 1.2 Write the config\n  - **Do**: `cat > sum.md <<'EOF'\n# Sum\n- [ ] 9. not a task\nEOF`\n  - **Commit**: `feat(sum): config`\n- [ ] 1.3 [VERIFY] All checks pass\n  - **Commit**: None\n\n## Phase 2\n\n- [ ] V4 Create the request\n- [ ] VE1 End to end\n";
    assert_eq!(to_the_end("specs/sum", text), ["open: - [ ] 9. not a task"]);
}
