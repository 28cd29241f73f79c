//! One record in one line: `{"h":"<64 hex>","p":"<64 hex>","r":{…}}`.
//!
//! `h` is the SHA-256 of `p` and the exact bytes of `r`, so that any tool can read and check it.

use crate::machine::event::Event;
use crate::source::{hex, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;

/// The version of the format that this ralph writes.
const VERSION: u32 = 1;
/// `{"h":"` + 64 + `","p":"` + 64 + `","r":`
const BODY_AT: usize = 6 + 64 + 7 + 64 + 6;

/// An event with its position in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// 1, 2, 3 …
    pub seq: u64,
    /// Time of writing, RFC 3339, UTC, informational.
    pub at: String,
    pub event: Event,
    /// Its hash, 64 hex digits.
    pub hash: String,
}

impl Record {
    /// Returns the first 8 digits of the hash: the tag in progress.txt.
    pub fn tag(&self) -> &str {
        self.hash.get(..8).unwrap_or(&self.hash)
    }
}

/// The content of a line of the journal.
pub(super) enum JournalLine {
    Record(Box<Record>),
    /// A well-formed record in its place that this build cannot read.
    Unread(Unread),
}

/// A reason why this build cannot read a record with a valid hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Its version or its kind is unknown here: `version 99`.
    Newer(String),
    /// Its kind is known, but this build writes other content.
    OtherBuild(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer(what) => write!(f, "A newer ralph wrote this record ({what})"),
            Self::OtherBuild(what) => {
                write!(
                    f,
                    "Another build of ralph wrote this record, and this one cannot read it ({what})"
                )
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct RecordBody<E> {
    v: u32,
    seq: u64,
    at: String,
    e: E,
}

/// Returns the hash before the first record.
pub(super) fn genesis() -> String {
    "0".repeat(64)
}

/// Returns the bytes of a record, including the newline.
pub(super) fn encode(
    head: &str,
    seq: u64,
    at: &str,
    event: &Event,
) -> io::Result<(Vec<u8>, Record)> {
    let body = serde_json::to_string(&RecordBody {
        v: VERSION,
        seq,
        at: at.to_owned(),
        e: event,
    })?;
    let hash = hash(head.as_bytes(), body.as_bytes());
    let line = format!("{{\"h\":\"{hash}\",\"p\":\"{head}\",\"r\":{body}}}\n");
    Ok((
        line.into_bytes(),
        Record {
            seq,
            at: at.to_owned(),
            event: event.clone(),
            hash,
        },
    ))
}

/// Reads a line (without its newline) that must follow on `head` with the number `seq`.
///
/// Fails with the reason if it is no such record.
pub(super) fn decode(line: &[u8], head: &str, seq: u64) -> Result<JournalLine, &'static str> {
    let no_record = "the line is no record";
    let (own, previous, body) = parts(line).ok_or(no_record)?;
    if hash(previous, body).as_bytes() != own {
        return Err("the record does not fit its hash");
    }
    if previous != head.as_bytes() {
        return Err("the record does not follow on the one before");
    }
    let parsed: RecordBody<&RawValue> = serde_json::from_slice(body).map_err(|_| no_record)?;
    if parsed.seq != seq {
        return Err("the record's number is not the next one");
    }
    if parsed.v > VERSION {
        return Ok(JournalLine::Unread(Unread::Newer(format!(
            "version {}",
            parsed.v
        ))));
    }
    match serde_json::from_str::<Event>(parsed.e.get()) {
        Ok(event) => {
            let hash = String::from_utf8_lossy(own).into_owned();
            Ok(JournalLine::Record(Box::new(Record {
                seq,
                at: parsed.at,
                event,
                hash,
            })))
        }
        Err(error) => {
            let found: Value = serde_json::from_str(parsed.e.get()).unwrap_or_default();
            let kind = found["kind"].as_str().unwrap_or("none");
            let what = text::line(&format!("kind {kind}: {error}"), 200);
            Ok(JournalLine::Unread(if is_known_kind(kind) {
                Unread::OtherBuild(what)
            } else {
                Unread::Newer(what)
            }))
        }
    }
}

/// Returns true for a kind of event that this build has. Its fields do not count.
fn is_known_kind(kind: &str) -> bool {
    let bare = serde_json::from_value::<Event>(serde_json::json!({ "kind": kind }));
    bare.map_or_else(
        |error| !error.to_string().starts_with("unknown variant"),
        |_| true,
    )
}

/// True for a line with a valid hash, at any position.
pub(super) fn is_self_consistent(line: &[u8]) -> bool {
    parts(line).is_some_and(|(own, previous, body)| hash(previous, body).as_bytes() == own)
}

fn parts(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let own = line.strip_prefix(b"{\"h\":\"")?.get(..64)?;
    let previous = line.get(70..)?.strip_prefix(b"\",\"p\":\"")?.get(..64)?;
    line.get(141..)?.strip_prefix(b"\",\"r\":")?;
    let body = line.get(BODY_AT..)?.strip_suffix(b"}")?;
    Some((own, previous, body))
}

pub(super) fn hash(previous: &[u8], body: &[u8]) -> String {
    hex(&Sha256::new()
        .chain_update(previous)
        .chain_update(body)
        .finalize())
}
