//! What real CLIs printed at a limit or a refused login (shortened), and what must not look like one.

use super::*;
use proptest::prelude::*;

/// 2026-11-21 21:55:00 UTC.
fn now() -> Timestamp {
    "2026-11-21T21:55:00Z".parse().expect("a time")
}

fn limited(end: &ProcessEnd, stdout: &str, stderr: &str) -> Option<(String, Option<u64>)> {
    match usage_limit(end, stdout.as_bytes(), stderr.as_bytes(), now(), Some(&TimeZone::UTC))? {
        ProcessEnd::Limited { why, reset } => Some((why, reset)),
        other => panic!("{other:?}"),
    }
}

fn exited(stdout: &str, stderr: &str) -> Option<(String, Option<u64>)> {
    limited(&ProcessEnd::Exited { code: 1 }, stdout, stderr)
}

#[test]
fn plain_texts_of_known_clis_are_limits() {
    for (line, reset) in [
        ("You've hit your limit · resets 10:55pm (UTC)", Some(3_600)),
        ("Claude AI usage limit reached|1795301700", Some(3_600)),
        ("API Error: Request rejected (429) · You have reached your usage limit.", None),
        ("Invalid API key · Fix external API key", None),
        ("Invalid API key · Please run /login", None),
        (
            "ERROR: You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at 10:46 PM.",
            Some(3_060),
        ),
        ("ERROR: exceeded retry limit, last status: 429 Too Many Requests", None),
        (
            "ERROR: unexpected status 401 Unauthorized: Incorrect API key provided: sk-test., url: http://x/",
            None,
        ),
        ("TerminalQuotaError: You have exhausted your daily quota on this model.", None),
        ("Attempt 6 failed: Resource has been exhausted (e.g. check quota).", None),
        ("  status: 429", None),
        ("[API Error: 401 Incorrect API key provided: sk-test.]", None),
        ("[API Error: 429 Rate limit reached for gpt-5 (TPM). Please try again in 1s.]", Some(1)),
        ("HTTP 401: Incorrect API key provided: sk-test.", None),
        ("API call failed after 3 retries: HTTP 429: The usage limit has been reached", None),
    ] {
        let (why, found) = exited("", &format!("starting\n{line}\n\n")).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((why.as_str(), found), (line.trim(), reset));
        assert_eq!(exited(line, "").map(|(_, reset)| reset), Some(reset), "{line}");
    }
}

#[test]
fn json_lines_of_known_clis_are_limits() {
    let usage = "You’ve hit your usage limit. Upgrade or try again at 10:46 PM.";
    for (line, why, reset) in [
        (format!(r#"{{"type":"turn.failed","error":{{"message":"{usage}"}}}}"#), usage, Some(3_060)),
        (
            r#"{"duration_api_ms":0,"is_error":true,"subtype":"success","api_error_status":429,"result":"You've hit your limit · resets 10:55pm (UTC)","type":"result"}"#.to_owned(),
            "You've hit your limit · resets 10:55pm (UTC)",
            Some(3_600),
        ),
        (
            r#"{"is_error":true,"api_error_status":401,"result":"Invalid key, sorry","type":"result"}"#.to_owned(),
            "Invalid key, sorry",
            None,
        ),
        (
            r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: You have exhausted your daily quota on this model.]\nPlease wait"}}"#.to_owned(),
            "[API Error: You have exhausted your daily quota on this model.] Please wait",
            None,
        ),
        (
            r#"{"type":"error","error":{"name":"APIError","data":{"message":"The usage limit has been reached","statusCode":429,"responseBody":"{\"error\": {\"resets_at\": 1795301700}}"}}}"#.to_owned(),
            "The usage limit has been reached",
            Some(3_600),
        ),
        (
            r#"{"type":"session.error","data":{"errorType":"authentication","message":"No way in","statusCode":401}}"#.to_owned(),
            "No way in",
            None,
        ),
        (
            r#"{"type":"turn_end","message":{"stopReason":"error","errorMessage":"401 Incorrect API key provided: sk-test."}}"#.to_owned(),
            "401 Incorrect API key provided: sk-test.",
            None,
        ),
    ] {
        assert_eq!(exited(&format!("{line}\n"), ""), Some((why.to_owned(), reset)), "{line}");
    }
}

#[test]
fn the_reset_time_may_stand_in_another_line() {
    let stdout = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795301700}}
{"type":"result","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}
"#;
    assert_eq!(exited(stdout, ""), Some(("API Error: Request rejected (429)".to_owned(), Some(3_600))));
    let allowed = stdout.replace("rejected\",", "allowed\",");
    assert_eq!(exited(&allowed, "").and_then(|(_, reset)| reset), None);
}

#[test]
fn an_agent_that_exited_with_zero_or_was_never_started_is_not_limited() {
    let line = "You've hit your usage limit.";
    for end in [
        ProcessEnd::Exited { code: 0 },
        ProcessEnd::NotStarted { why: line.to_owned() },
        ProcessEnd::Interrupted,
    ] {
        assert_eq!(limited(&end, line, line), None, "{end:?}");
    }
    for end in [
        ProcessEnd::Exited { code: 173 },
        ProcessEnd::Signalled { signal: 15 },
        ProcessEnd::TimedOut { seconds: 9 },
        ProcessEnd::Idle { seconds: 9 },
    ] {
        assert!(limited(&end, line, "").is_some(), "{end:?}");
    }
}

#[test]
fn only_the_last_lines_count_and_fewer_after_a_kill() {
    let far = format!("You've hit your usage limit.\n{}", "at frame\n".repeat(LINES));
    assert_eq!(exited(&far, ""), None);
    let near = format!("You've hit your usage limit.\n{}", "at frame\n\n".repeat(LINES - 1));
    assert!(exited("", &near).is_some());
    assert_eq!(limited(&ProcessEnd::TimedOut { seconds: 9 }, "", &near), None);
}

#[test]
fn prose_and_prompts_about_limits_are_none() {
    for line in [
        "The endpoint answers 429 when the client is too fast.",
        "expected status 401 but was 200",
        "AssertionError: expected: <429> but was: <200>",
        "Error: expected 401",
        "I added a test for an invalid API key.",
        "fatal: Authentication failed for 'https://example.org/x.git'",
        "rate limit exceeded is now a 429",
        "429 tests passed",
        "401",
        r#"{"type":"message","role":"user","content":"You've hit your usage limit."}"#,
        r#"{"type":"item.completed","item":{"type":"agent_message","text":"HTTP 401: x"}}"#,
        r#"{"type":"result","is_error":false,"result":"usage limit reached"}"#,
        r#"{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}"#,
        r#"{"type":"error","message":"disk full"}"#,
        r#"{"type":"error","message":"HTTP 401: cut off"#,
    ] {
        assert_eq!(exited(line, line), None, "{line}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_and_what_is_said_is_one_bounded_line(
        out in proptest::collection::vec(any::<u8>(), 0..200), noise in any::<String>()
    ) {
        let _ = usage_limit(&ProcessEnd::Exited { code: 1 }, &out, noise.as_bytes(), now(), None);
        let line = format!("hit your usage limit {}", noise.replace('\n', " "));
        if let Some((why, _)) = exited(&line, "") {
            prop_assert!(!why.contains(char::is_control) && why.chars().count() <= 300);
        }
    }
}
