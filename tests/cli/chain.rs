//! Journals with a recomputed chain, as a forger would write.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Returns the records of a journal, each with its original hash.
pub(crate) fn records(journal: &str) -> Vec<Value> {
    let record = |line: &str| {
        let mut record: Value =
            serde_json::from_str(line[147..].strip_suffix('}').unwrap()).unwrap();
        record["old"] = line[6..70].into();
        record
    };
    journal.lines().map(record).collect()
}

/// Returns a journal of these records with new numbers and hashes, and progress.txt with the new hashes.
pub(crate) fn rechained(records: &[Value], progress: &str) -> (String, String) {
    let (mut head, mut text, mut progress) = ("0".repeat(64), String::new(), progress.to_owned());
    for (at, record) in records.iter().enumerate() {
        let (mut record, old) = (record.clone(), record["old"].as_str().unwrap().to_owned());
        record.as_object_mut().unwrap().remove("old");
        record["seq"] = (at + 1).into();
        let body = serde_json::to_string(&record).unwrap();
        let hash = ralph::source::hex(&Sha256::digest(format!("{head}{body}")));
        writeln!(text, "{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}").unwrap();
        progress = progress.replace(
            &format!(" · {}\n", &old[..8]),
            &format!(" · {}\n", &hash[..8]),
        );
        head = hash;
    }
    (text, progress)
}
