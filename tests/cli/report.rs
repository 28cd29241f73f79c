//! `ralph report`: the page has each iteration of progress.txt, with all markup escaped.

use super::project::Project;

#[test]
fn the_page_has_what_agents_said_beside_what_git_saw_and_whose_ticks_are_a_persons() {
    let project = Project::new("- [ ] 1. One <b>x</b> @team\n- [ ] 1.LINT g\n- [ ] 2. Two\n");
    project.config("gates:\n  LINT: {run: [sh, -c, 'test $(grep -c . src/main/1.txt) -gt 1']}\n");
    project.agent("*) echo 'All <script>alert(1)</script> is done.'; as_usual ;;");
    project.ralph(&["run"]).code(0);
    project
        .ralph(&["reopen", "2.", "--reason", "too quick"])
        .code(0);
    project
        .ralph(&["accept", "2.", "--reason", "looked at it"])
        .code(0);

    let page = project
        .ralph(&["report", "--json"])
        .code(0)
        .json()
        .remove(0);
    let tasks = page["tasks"].as_array().unwrap();
    let iterations: Vec<_> = tasks
        .iter()
        .flat_map(|task| task["iterations"].as_array().unwrap().clone())
        .collect();
    // The page says the stage once: `1.LINT` `FAIL`, where the entry has `LINT FAIL`.
    let entry = |headline: &str, detail: &str, task: &str| {
        let stage = task.rsplit('.').next().unwrap();
        let stage = if task == stage || stage.is_empty() || headline.starts_with("ACC") {
            String::new()
        } else {
            format!("{stage} ")
        };
        let detail = if detail.is_empty() {
            String::new()
        } else {
            format!(" — {detail}")
        };
        format!("{task}={stage}{headline}{detail}")
    };
    let mut told: Vec<(u64, String)> = iterations
        .iter()
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap_or_default();
            (
                it["iteration"].as_u64().unwrap(),
                entry(text("headline"), text("detail"), text("task")),
            )
        })
        .collect();
    told.sort();
    assert_eq!(
        told.into_iter().map(|(_, told)| told).collect::<Vec<_>>(),
        project.story()
    );
    let worker = &iterations[0];
    assert_eq!(worker["said"], "All <script>alert(1)</script> is done.");
    assert_eq!(worker["seen"], "production: app/src/main/1.txt");
    let classes: Vec<&str> = iterations
        .iter()
        .map(|it| it["class"].as_str().unwrap())
        .collect();
    assert_eq!(
        classes,
        ["good", "bad", "good", "good", "good", "person", "person"]
    );

    let text = project.ralph(&["report"]).code(0).out;
    assert!(
        text.contains(r"agent said: All \<script\>alert(1)"),
        "{text}"
    );
    assert!(!text.contains("@team"), "{text}");
    let done = project
        .ralph(&["report", "--output", "morning.html"])
        .code(0);
    assert_eq!(done.out, "", "the page is in the file");
    let html = project.read("morning.html");
    assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
    assert_eq!(html.matches("<article").count(), iterations.len());

    project.write("tasks.md", "- [x] 1. One\n");
    let page = project
        .ralph(&["report", "--json"])
        .code(0)
        .json()
        .remove(0);
    let gone = page["tasks"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&gone["name"], &gone["text"]),
        (&"2.".into(), &"is no longer in the file".into())
    );
    assert_eq!(
        gone["iterations"].as_array().unwrap().len(),
        3,
        "what happened stays told"
    );
}

#[test]
fn a_report_that_cannot_be_written_or_has_nothing_to_tell_says_so() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("");
    let text = project.ralph(&["report"]).code(0).out;
    assert!(
        text.starts_with("### Not running: 0 of 1 required boxes\n"),
        "{text}"
    );
    let error = project
        .ralph(&["report", "--output", "no/such/folder.html"])
        .code(2)
        .err;
    assert!(
        error.contains("--output: The file cannot be written"),
        "{error}"
    );
}

#[test]
fn the_shipped_report_is_that_of_the_shipped_run() {
    let project = Project::empty();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");
    let demo = format!("{examples}/demo.tar");
    for page in ["demo.md", "demo.html"] {
        let mut command = project.command(&["report", "--bundle", &demo, "--output", page]);
        let status = command.env("TZ", "Asia/Kolkata").status().unwrap();
        assert!(status.success());
        assert_eq!(
            project.read(page),
            fs_err::read_to_string(format!("{examples}/{page}")).unwrap()
        );
    }
    let html = project.read("demo.html");
    assert!(html.contains("<h1>Complete: 12 of 12 required boxes (1 optional left)</h1>"));
    assert!(
        html.contains("class=\"box\">PITEST SKIP<"),
        "what was not judged is not shown as passed"
    );
}
