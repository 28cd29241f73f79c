//! The page is hostile-proof, fits a comment, and says no more than the records.

use super::*;
use crate::report::board::Beside;
use crate::report::spent::Spent;
use crate::report::story::LinkedCommit;

const HOSTILE: &str = "<script>alert(1)</script> | @team `x` [a](b) *c* </details> &amp; \u{202e}";

fn commit((package, id): (&str, &str)) -> LinkedCommit {
    LinkedCommit {
        package: package.to_owned(),
        id: id.to_owned(),
        href: None,
    }
}

fn report(path: &str) -> LinkedReport {
    LinkedReport {
        path: path.to_owned(),
        href: None,
    }
}

fn told(iteration: u64) -> IterationStory {
    let happened = Happened {
        iteration,
        task: "1.PITEST".into(),
        said: HOSTILE.into(),
        headline: HOSTILE.into(),
        lines: vec![HOSTILE.into()],
        boxes: "opened 1.".into(),
        commits: [("app", "0123456789ab"), ("app", HOSTILE), (HOSTILE, "01")]
            .map(commit)
            .into(),
        reports: [HOSTILE, "gone.html"].map(report).into(),
        class: "bad",
        ..Happened::default()
    };
    IterationStory {
        happened,
        family: "1".into(),
        span: (
            1_000 + 9 * i64::try_from(iteration).unwrap(),
            1_004 + 9 * i64::try_from(iteration).unwrap(),
        ),
        percent: Some(iteration % 101),
        ..IterationStory::default()
    }
}

fn page(iterations: u64) -> Page {
    page_of((1..=iterations).map(told).collect())
}

fn page_of(told: Vec<IterationStory>) -> Page {
    let state = crate::machine::state::State::default();
    let board = Board::new(&state, &Spent::default(), Beside::default());
    let line = BoardRow {
        id: "1".into(),
        family: "1".into(),
        text: HOSTILE.into(),
        line: 1,
        parent: None,
        cells: BTreeMap::new(),
        blocked: Some(HOSTILE.into()),
        reworks: 0,
        used: crate::machine::state::Used::default(),
    };
    let board = Board {
        families: vec![line],
        ..board
    };
    let pages = BTreeMap::from([("app".to_owned(), "https://example.org/commit/".to_owned())]);
    let context = PageContext {
        workspace: HOSTILE,
        zone: TimeZone::get("Asia/Kolkata").ok(),
        commit_pages: &pages,
        report_address: &|path| (path != "gone.html").then(|| format!("./{path}")),
    };
    Page::new(&board, &Story::from(told), &context)
}

#[test]
fn nothing_that_an_agent_wrote_is_markup() {
    let html = page(2).render_html().unwrap();
    assert!(!html.contains("<script"), "{html}");
    assert!(html.contains("<code>x</code> [a](b)"), "{html}");
    let attributes = html.split('"').skip(1).step_by(2);
    assert!(attributes.clone().all(|value| !value.contains(['<', '>'])));
    let links = html.split("href=\"").skip(1);
    let links: BTreeSet<&str> = links
        .map(|rest| rest.split('"').next().unwrap())
        .filter(|link| link.starts_with("https"))
        .collect();
    let own = "https:&#x2f;&#x2f;example.org&#x2f;commit&#x2f;0123456789ab";
    assert_eq!(links, BTreeSet::from([own]), "an id has only digits");
    assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    assert_eq!(html.matches("<article").count(), 2);
    let text = page(2).render_markdown().unwrap();
    assert!(
        text.contains(r"\<script\>alert(1)\</script\> \| @"),
        "{text}"
    );
    assert!(!text.contains("@team"), "no mention: {text}");
    assert_eq!(
        text.matches("</details>").count(),
        1,
        "its own alone: {text}"
    );
}

#[test]
fn the_markdown_fits_a_comment_and_tells_the_newest() {
    let text = page(3_000).render_markdown().unwrap();
    assert!(text.chars().count() <= COMMENT);
    assert!(
        text.contains("iteration 3000,") && !text.contains("iteration 1,"),
        "{text}"
    );
    assert_eq!(
        page(3_000)
            .render_html()
            .unwrap()
            .matches("<article")
            .count(),
        3_000
    );
}

/// A rejection of `1.` with this reason.
fn rejected(iteration: u64, reason: &str) -> IterationStory {
    let mut told = told(iteration);
    told.happened.task = "1.".into();
    told.happened.headline = format!("REJECTED (attempt {iteration} of 3)");
    told.happened.lines = vec![reason.to_owned()];
    told
}

#[test]
fn rejections_for_the_same_reason_are_one_entry() {
    let told = ["same", "same", "other", "other", "other"];
    let told = (1..).zip(told).map(|(n, reason)| rejected(n, reason));
    let page = page_of(told.collect());
    let shown = page.tasks[0].iterations.iter();
    let shown: Vec<(u64, Vec<u64>)> = shown
        .map(|it| {
            let earlier = it.earlier.iter().map(|it| it.iteration);
            (it.iteration, earlier.collect())
        })
        .collect();
    assert_eq!(shown, [(2, vec![1]), (5, vec![3, 4])]);
    let html = page.render_html().unwrap();
    assert!(html.contains("Rejected before for the same reason: iteration 3, iteration 4"));
    assert_eq!(html.matches("<article").count(), 5, "none is lost");
    assert_eq!(page.tasks[0].commits, 15);
}

#[test]
fn an_iteration_has_local_time_and_its_stage_once() {
    let mut told = told(1);
    told.happened.headline = "PITEST FAIL — 55% is too little.".to_owned();
    let page = page_of(vec![told]);
    let shown = &page.tasks[0].iterations[0];
    assert_eq!(
        [&shown.when, &shown.began, &shown.headline, &shown.detail],
        [
            "1970-01-01 05:46 IST, 4 s",
            "1970-01-01T00:16:49Z",
            "FAIL",
            "55% is too little."
        ]
    );
    assert_eq!(page.scores[0].words, "FAIL — 55% is too little.");
    assert_eq!(page.tasks[0].report.as_ref().unwrap().href, None);
}

/// Contrast of two colours `#rrggbb`, as WCAG 2 defines it.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_text_colour_has_enough_contrast_in_both_schemes() {
    let template = include_str!("../../../templates/report/report.html");
    let schemes = template.lines().filter(|line| line.contains("--ink: #"));
    let mut many = 0;
    for scheme in schemes {
        let colours: BTreeMap<&str, &str> = scheme
            .split("--")
            .filter_map(|part| part.split_once(": #"))
            .map(|(name, rest)| (name, &rest[..rest.find(';').unwrap()]))
            .collect();
        for name in ["ink", "dim", "good", "bad", "person", "link"] {
            for ground in ["paper", "raised"] {
                let [text, ground] = [colours[name], colours[ground]].map(|it| format!("#{it}"));
                let contrast = contrast(&text, &ground);
                assert!(contrast >= 4.5, "{name} {text} on {ground}: {contrast:.2}");
                many += 1;
            }
        }
    }
    assert_eq!(many, 24, "two schemes");
}

#[test]
fn headings_descend_by_one_and_headers_have_a_scope() {
    let html = page(2).render_html().unwrap();
    let levels: Vec<u32> = html
        .split("<h")
        .skip(1)
        .filter_map(|rest| rest.chars().next()?.to_digit(10))
        .collect();
    assert_eq!(levels.first(), Some(&1));
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    let steps = levels.iter().zip(levels.iter().skip(1));
    assert!(
        steps.clone().all(|(one, next)| *next <= one + 1),
        "{levels:?}"
    );
    for header in html.split("<th ").skip(1) {
        let header = header.split_once('>').unwrap().0;
        assert!(header.contains("scope="), "{header}");
    }
    // Each link within the page has its target, once.
    for link in html.split("href=\"#").skip(1) {
        let anchor = link.split_once('"').unwrap().0;
        assert_eq!(
            html.matches(&format!("id=\"{anchor}\"")).count(),
            1,
            "{anchor}"
        );
    }
}
