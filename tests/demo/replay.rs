//! The demo's bundle, replayed with real PIT in an empty directory.

use super::{Demo, ralph};
use crate::cli::chain::{rechained, records};
use crate::support::needs::tests;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the demo's bundle, in a directory with nothing else.
fn bundled() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("demo.tar");
    let packed = ralph()
        .arg("bundle")
        .arg(&file)
        .current_dir(Demo::get().path())
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    (folder, file)
}

/// Runs all gates of a bundle again. Returns the exit code, the result and the errors.
fn judged_again(folder: &Path, bundle: &Path) -> (Option<i32>, String, String) {
    let mut command = ralph();
    command
        .arg("replay")
        .arg("--bundle")
        .arg(bundle)
        .arg("--rerun-gates")
        .current_dir(folder);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn in_an_empty_folder_its_gates_run_again_and_name_the_one_survivor_that_was_edited() {
    let (folder, bundle) = bundled();
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut archive = tar::Archive::new(fs_err::File::open(&bundle).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.push((entry.path().unwrap().into_owned(), bytes));
    }
    let place = |name: &str| {
        files
            .iter()
            .position(|(path, _)| path.ends_with(name))
            .unwrap()
    };
    let (journal, progress) = (place("journal.jsonl"), place("progress.txt"));
    let text = |at: usize| std::str::from_utf8(&files[at].1).unwrap();
    let mut forged = records(text(journal));
    let passed =
        |record: &serde_json::Value| record["e"]["report"]["classes"][0]["tally"]["killed"] == 18;
    let at = forged.iter().position(passed).unwrap();
    forged[at]["e"]["report"]["trace"]["tiers"][0]["engine"] = "PIT 1.0.0 on JDK 8".into();
    let tally = &mut forged[at]["e"]["report"]["classes"][0]["tally"];
    tally["killed"] = 17.into();
    tally["survived"] = 1.into();
    let (chain, entries) = rechained(&forged, text(progress));
    files[journal].1 = chain.into_bytes();
    files[progress].1 = entries.into_bytes();

    let mut archive = tar::Builder::new(fs_err::File::create(&bundle).unwrap());
    for (path, bytes) in &files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive
            .append_data(&mut header, path, bytes.as_slice())
            .unwrap();
    }
    archive.finish().unwrap();
    let (code, out, err) = judged_again(folder.path(), &bundle);
    assert_eq!(code, Some(1), "{out}\n{err}");
    let said = format!(
        "journal.jsonl:{}: 2.PITEST: org.example.orders.Shipping: 17 killed and 1 not then, 18 killed and 0 not now.",
        at + 1
    );
    assert!(err.contains(&said), "{err}");
    let by = format!(
        "2.PITEST (record {}) with PIT 1.0.0 on JDK 8, which judged it then; now PIT ",
        at + 1
    );
    assert!(out.contains(&by), "{out}");
    let other = out.lines().find(|line| line.contains("1.PITEST")).unwrap();
    assert!(
        other.ends_with("re-checked: changes, report, verdict"),
        "{out}"
    );
    assert!(out.ends_with("Differs in 1 place.\n"), "{out}");
    let left = fs_err::read_dir(folder.path()).unwrap();
    let left: Vec<PathBuf> = left.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [bundle], "nothing is written");
}

fn its_report_says_which_survivors_rework_killed() {
    let text = |args: &[&str]| {
        let output = ralph()
            .arg("report")
            .args(args)
            .current_dir(Demo::get().path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (_, rest) = text(&[])
        .split_once("**2.PITEST** FAIL")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let (failed, _) = rest.split_once("\n- **").unwrap();
    let killed = failed
        .lines()
        .find_map(|line| line.strip_prefix("  - killed in rework (iteration 13): "))
        .unwrap();
    let survivors: Vec<&str> = failed
        .lines()
        .filter_map(|line| line.strip_prefix("  - survivor ")?.split(" — ").next())
        .collect();
    assert_eq!(survivors.join(", "), killed, "{failed}");
    assert!(survivors.len() > 3, "{survivors:?}");

    // The gate's files are trusted unchanged. Missing ones leave the scores of the classes.
    let left = Demo::get().path().join(".ralph/state/iter-13/gate");
    let aside = left.with_file_name("aside");
    fs_err::rename(&left, &aside).unwrap();
    let without = text(&[]);
    fs_err::rename(&aside, &left).unwrap();
    let told = "  - no longer alive, as none judged in its file (iteration 13): Shipping.java:";
    assert!(without.contains(told), "{without}");
}

tests! {
    maven: [
        its_report_says_which_survivors_rework_killed,
    ]
    maven deep: [
        in_an_empty_folder_its_gates_run_again_and_name_the_one_survivor_that_was_edited,
    ]
}
