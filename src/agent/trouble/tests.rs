//! Shortened outputs of real CLIs at a limit or a refused login, and similar harmless texts.

use super::*;
use proptest::prelude::*;

/// Returns 2026-11-21 21:55:00 UTC.
fn now() -> Timestamp {
    "2026-11-21T21:55:00Z".parse().expect("a time")
}

/// Returns the kind of trouble, the message, and the seconds until a reset.
fn told(
    end: &ProcessEnd,
    stdout: &str,
    stderr: &str,
) -> Option<(&'static str, String, Option<u64>)> {
    let printed = PrintedOutput::guessed(stdout.as_bytes(), stderr.as_bytes()).0;
    Some(
        match trouble(end, None, &printed, now(), Some(&TimeZone::UTC))? {
            ProcessEnd::Limited { why, reset } => ("limit", why, reset),
            ProcessEnd::Outage { why } => ("outage", why, None),
            ProcessEnd::NotSetUp { why, .. } => ("not set up", why, None),
            ProcessEnd::Refused { why } => ("refused", why, None),
            ProcessEnd::Looping { what } => ("loop", what, None),
            other => panic!("{other:?}"),
        },
    )
}

const FAILED: ProcessEnd = ProcessEnd::Exited { code: 1 };

fn exited(stdout: &str, stderr: &str) -> Option<(String, Option<u64>)> {
    told(&FAILED, stdout, stderr).map(|(_, why, reset)| (why, reset))
}

fn kind(line: &str) -> Option<&'static str> {
    told(&FAILED, line, "")
        .or_else(|| told(&FAILED, "", line))
        .map(|(kind, ..)| kind)
}

#[test]
fn what_known_clis_say_is_told_apart() {
    for (line, expected) in [
        ("Not logged in · Please run /login", "not set up"),
        ("Invalid API key · Fix external API key", "not set up"),
        ("API Error: 401 {\"type\":\"error\"}", "not set up"),
        (
            "ERROR: unexpected status 401 Unauthorized: Incorrect API key provided: sk-test., url: http://x/",
            "not set up",
        ),
        (
            "There's an issue with the selected model (opus-9). It may not exist.",
            "not set up",
        ),
        (
            "Error: Model \"x\" from --model flag is not available.",
            "not set up",
        ),
        (
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
            "not set up",
        ),
        (
            "You are not logged in, please log in with the command below",
            "not set up",
        ),
        (
            "Error: Authentication required. Please run 'agent login' first",
            "not set up",
        ),
        (
            "Please set an Auth method in your /home/a/.gemini/settings.json or specify one of the following",
            "not set up",
        ),
        (
            "You've hit your session limit · resets 4:20am (Europe/Warsaw)",
            "limit",
        ),
        ("5-hour limit reached ∙ resets 5:30am", "limit"),
        ("You're out of extra usage · resets 3pm", "limit"),
        ("API Error: 529 Overloaded", "outage"),
        (
            "Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request",
            "outage",
        ),
        ("[API Error: Incomplete JSON segment at the end]", "outage"),
        ("API Error: 500 {\"type\":\"error\"}", "outage"),
        ("API Error: Connection error.", "outage"),
        (
            "API Error: Unable to connect to API (ConnectionRefused)",
            "outage",
        ),
        (
            "ERROR: We’re currently experiencing high demand, which may cause temporary errors.",
            "outage",
        ),
        (
            "ERROR: stream disconnected before completion: error sending request for url (http://x/)",
            "outage",
        ),
        ("HTTP 503: upstream", "outage"),
        (
            r#"{"type":"turn.failed","error":{"message":"Connection refused (os error 111)"}}"#,
            "outage",
        ),
        (
            r#"{"type":"result","is_error":true,"api_error_status":529,"result":"x"}"#,
            "outage",
        ),
        (
            r#"{"type":"turn_end","message":{"errorMessage":"500 The server had an error while processing your request."}}"#,
            "outage",
        ),
        (
            "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
            "refused",
        ),
        (
            "ERROR: Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "refused",
        ),
        ("API Error: 429 x", "limit"),
        ("Your credit balance is too low to access the API", "limit"),
    ] {
        assert_eq!(kind(line), Some(expected), "{line}");
    }
}

#[test]
fn what_a_person_does_about_it_is_said_in_the_words_of_the_cli() {
    let hint = |name: Option<&str>, line: &str| {
        let printed = PrintedOutput::guessed(line.as_bytes(), b"").0;
        match trouble(&FAILED, name.and_then(Preset::named), &printed, now(), None) {
            Some(ProcessEnd::NotSetUp { hint, .. }) => hint,
            other => panic!("{other:?}"),
        }
    };
    assert!(hint(None, "Not logged in · Please run /login").contains("`claude /login`"));
    assert!(hint(Some("codex"), "HTTP 401: x").contains("`codex login`"));
    assert!(hint(None, "HTTP 401: x").contains("the agent's own CLI"));
    assert!(
        hint(None, "--x cannot be used with root/sudo privileges").contains("IS_SANDBOX: \"1\"")
    );
    assert!(hint(None, "Cannot use this model: x").contains("`model:`"));
}

#[test]
fn an_exit_code_that_the_cli_documents_tells_what_no_text_does() {
    let end = |name: &str, code| {
        let printed = PrintedOutput::guessed(b"", b"something new\n").0;
        trouble(
            &ProcessEnd::Exited { code },
            Preset::named(name),
            &printed,
            now(),
            None,
        )
    };
    let Some(ProcessEnd::NotSetUp { why, hint }) = end("gemini", 41) else {
        panic!("{:?}", end("gemini", 41))
    };
    assert_eq!(why, "something new");
    assert!(hint.starts_with("log in: `gemini` once"), "{hint}");
    assert_eq!((end("gemini", 1), end("claude", 41)), (None, None));
}

#[test]
fn an_outage_or_a_model_counts_in_the_last_lines_alone() {
    for line in [
        "API Error: 529 Overloaded",
        "there's an issue with the selected model",
        "your prompt was flagged",
    ] {
        let below = |lines: usize| format!("{line}\n{}", "at frame\n".repeat(lines));
        assert!(kind(&below(LAST_LINES - 1)).is_some(), "{line}");
        assert_eq!(kind(&below(LAST_LINES)), None, "{line}");
    }
}

#[test]
fn the_message_is_told_and_not_the_status_below_it() {
    let stderr = "Error when talking to Gemini API TerminalQuotaError: You have exhausted your daily quota\n  status: 429\n}\n";
    assert!(
        exited("", stderr)
            .expect("a limit")
            .0
            .contains("exhausted your daily quota")
    );
    assert_eq!(
        exited("", "  status: 429\n}\n").expect("a limit").0,
        "status: 429"
    );
}

#[test]
fn a_cli_that_exits_with_0_whatever_happens_is_not_believed() {
    let printed = PrintedOutput::guessed(b"HTTP 401: Incorrect API key provided", b"").0;
    let of = |name| {
        trouble(
            &ProcessEnd::Exited { code: 0 },
            Preset::named(name),
            &printed,
            now(),
            None,
        )
    };
    assert!(matches!(of("hermes"), Some(ProcessEnd::NotSetUp { .. })));
    assert_eq!(of("claude"), None);
}

#[test]
fn the_last_words_are_the_agents_or_where_it_failed_the_clis_error() {
    let words = |code: i32, stdout: &str, stderr: &str| {
        last_words(
            &ProcessEnd::Exited { code },
            &PrintedOutput::guessed(stdout.as_bytes(), stderr.as_bytes()).0,
        )
    };
    assert_eq!(
        words(0, "I read it.\n\n**Tabs or spaces?**\n\n", "warning: x"),
        "**Tabs or spaces?**"
    );
    assert_eq!(words(0, "Done.\nRALPH-VERDICT 3f9a: PASS\n", ""), "Done.");
    assert_eq!(
        words(
            1,
            "",
            "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mNo such flag --x\nusage: y\n}\n"
        ),
        "Error: No such flag --x"
    );
    assert_eq!(
        words(1, "API Error: 418 I am a teapot\n", "a warning\n"),
        "API Error: 418 I am a teapot"
    );
    assert_eq!(words(1, "", "stopped\n"), "stopped");
    assert_eq!(
        words(
            1,
            r#"{"type":"turn.failed","error":{"message":"no disk"}}"#,
            ""
        ),
        "no disk"
    );
    assert_eq!(words(0, r#"{"type":"x"}"#, ""), "");
    assert_eq!(
        words(
            0,
            r#"{"type":"error","severity":"warning","message":"Loop detected"}"#,
            ""
        ),
        "Loop detected"
    );
}

#[test]
fn plain_texts_of_known_clis_are_read_with_their_reset() {
    for (line, reset) in [
        ("You've hit your limit · resets 10:55pm (UTC)", Some(3_600)),
        ("Claude AI usage limit reached|1795301700", Some(3_600)),
        (
            "API Error: Request rejected (429) · You have reached your usage limit.",
            None,
        ),
        ("Invalid API key · Fix external API key", None),
        ("Invalid API key · Please run /login", None),
        (
            "ERROR: You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at 10:46 PM.",
            Some(3_060),
        ),
        (
            "ERROR: exceeded retry limit, last status: 429 Too Many Requests",
            None,
        ),
        (
            "ERROR: unexpected status 401 Unauthorized: Incorrect API key provided: sk-test., url: http://x/",
            None,
        ),
        (
            "TerminalQuotaError: You have exhausted your daily quota on this model.",
            None,
        ),
        (
            "Attempt 6 failed: Resource has been exhausted (e.g. check quota).",
            None,
        ),
        ("  status: 429", None),
        (
            "[API Error: 401 Incorrect API key provided: sk-test.]",
            None,
        ),
        (
            "[API Error: 429 Rate limit reached for gpt-5 (TPM). Please try again in 1s.]",
            Some(1),
        ),
        ("HTTP 401: Incorrect API key provided: sk-test.", None),
        (
            "API call failed after 3 retries: HTTP 429: The usage limit has been reached",
            None,
        ),
    ] {
        let (why, found) =
            exited("", &format!("starting\n{line}\n\n")).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((why.as_str(), found), (line.trim(), reset));
        assert_eq!(
            exited(line, "").map(|(_, reset)| reset),
            Some(reset),
            "{line}"
        );
    }
}

#[test]
fn json_lines_of_known_clis_are_read_with_their_reset() {
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
            r#"{"type":"init","session_id":"g"}
{"type":"message","role":"user"}
{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: You have exhausted your daily quota on this model.]\nPlease wait"}}"#.to_owned(),
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
fn the_ends_of_real_transcripts_are_told_apart() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    for (name, expected) in [
        ("claude-http429_limit_oauth", Some("limit")),
        ("codex-http429_limit", Some("limit")),
        ("codex-http500", Some("outage")),
        ("copilot-http429_limit", Some("limit")),
        ("gemini-http429_limit", Some("limit")),
        ("opencode-http429_limit", Some("limit")),
        ("pi-http401", Some("not set up")),
        ("qwen-http401", Some("not set up")),
        ("claude-shell_fail", None),
        ("codex-write_retry", None),
        ("gemini-question", None),
    ] {
        let transcript = fs_err::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(
            told(&FAILED, &transcript, "").map(|(kind, ..)| kind),
            expected,
            "{name}"
        );
    }
}

#[test]
fn an_agents_own_words_are_no_error_and_one_that_was_got_over_is_none() {
    let (error, retry) = (
        r#"{"type":"error","message":"You've hit your usage limit."}"#,
        r#"{"type":"error","message":"Reconnecting... 3/5 (Connection refused (os error 111))"}"#,
    );
    let said = |text: &str| {
        format!(
            r#"{{"type":"item.completed","item":{{"id":"a","type":"agent_message","text":"{text}"}}}}"#
        )
    };
    let kind =
        |end: &ProcessEnd, lines: &[&str]| told(end, &lines.join("\n"), "").map(|(kind, ..)| kind);
    let quoted = said("You've hit your usage limit. API Error: 429");
    assert_eq!(kind(&FAILED, &[&quoted]), None);
    assert_eq!(kind(&FAILED, &[error]), Some("limit"));
    assert_eq!(kind(&FAILED, &[error, &said("It works again.")]), None);
    assert_eq!(kind(&FAILED, &[retry]), None);
    assert_eq!(
        kind(&ProcessEnd::TimedOut { seconds: 9 }, &[retry]),
        Some("outage")
    );
    let prose = "The tests cover what happens when a client has hit your usage limit.";
    assert_eq!(told(&FAILED, prose, prose), None);
}

#[test]
fn a_cli_that_tries_in_silence_until_it_is_ended_tells_its_trouble_on_standard_error() {
    let ended = ProcessEnd::TimedOut { seconds: 9 };
    let begun = r#"{"type":"init","timestamp":"x","session_id":"a","model":"m"}"#;
    let gemini = format!(
        "YOLO mode is enabled.\nAttempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request\n{}",
        "    at async Turn.run (file:///x.js:1:2)\n".repeat(10)
    );
    let kind = |stdout: &str, stderr: &str| told(&ended, stdout, stderr).map(|(kind, ..)| kind);
    assert_eq!(kind(begun, &gemini), Some("outage"));
    // The caller passes no output from before the agent's last action.
    let worked = r#"{"type":"message","role":"assistant","content":"I look at it.","delta":true}"#;
    assert_eq!(kind(&format!("{begun}\n{worked}"), &gemini), Some("outage"));
    let log = |error: &str| {
        let begin = "timestamp=2026-11-24T00:01:42.370Z level=ERROR run=d27d4c1d message=\"stream error\" small=false";
        told(&ended, "", &format!("{begin} error.error=\"{error}\"\n"))
    };
    for (error, kind) in [
        (
            "AI_APICallError: Cannot connect to API: Unable to connect. Is the computer able to access the url?",
            "outage",
        ),
        (
            "AI_RetryError: Failed after 3 attempts. Last error: Cannot connect to API: Unable to connect.",
            "outage",
        ),
        (
            "AI_APICallError: The server had an error while processing your request.",
            "outage",
        ),
        (
            "AI_APICallError: Rate limit reached for gpt-5 (TPM).",
            "limit",
        ),
        ("AI_APICallError: The usage limit has been reached", "limit"),
    ] {
        assert_eq!(log(error), Some((kind, error.to_owned(), None)));
    }
    assert_eq!(log("AI_NoObjectGeneratedError: x"), None);
}

#[test]
fn a_cli_that_asks_again_until_it_is_ended_could_not_reach_its_model_whatever_the_cause() {
    let retry = r#"{"type":"system","subtype":"retry","data":{"reason":"empty stream"}}"#;
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I see."}]}}"#;
    let ended = ProcessEnd::TimedOut { seconds: 9 };
    let why = "its CLI asked again until it was ended: empty stream".to_owned();
    assert_eq!(
        told(&ended, &[said, retry].join("\n"), "Operation cancelled."),
        Some(("outage", why, None))
    );
    assert_eq!(
        told(&ended, &[retry, said].join("\n"), ""),
        None,
        "the CLI recovered"
    );
    assert_eq!(
        told(&FAILED, &[said, retry].join("\n"), ""),
        None,
        "nobody ended it"
    );
}

#[test]
fn what_a_cli_itself_ended_as_a_loop_is_one_whatever_its_exit_code() {
    let warned = r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}
{"type":"result","status":"success","stats":{"total_tokens":1}}"#;
    let halted =
        "Loop detection halted the run (consecutive_identical_tool_calls: the model repeated it).";
    let result = format!(
        r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"error":{{"message":"{halted}"}}}}"#
    );
    let loops = |words: &str| Some(("loop", format!("was halted by its own CLI: {words}"), None));
    let zero = ProcessEnd::Exited { code: 0 };
    assert_eq!(
        told(&zero, warned, ""),
        loops("Loop detected, stopping execution")
    );
    assert_eq!(told(&FAILED, &result, ""), loops(halted));
    let quoted =
        r#"{"type":"message","role":"assistant","content":"Loop detected, stopping execution"}"#;
    assert_eq!(told(&zero, quoted, ""), None);
}

#[test]
fn an_end_that_the_transcript_calls_a_failure_is_one_whatever_its_exit_code() {
    let failed = |ok: bool| {
        format!(
            r#"{{"type":"error","severity":"error","message":"[API Error: 503 Service Unavailable]"}}
{{"type":"result","status":"{}","stats":{{}}}}"#,
            if ok { "success" } else { "error" }
        )
    };
    let zero = ProcessEnd::Exited { code: 0 };
    assert_eq!(
        told(&zero, &failed(false), "").map(|(kind, ..)| kind),
        Some("outage")
    );
    assert_eq!(told(&zero, &failed(true), ""), None);
}

#[test]
fn the_reset_time_may_stand_in_another_line() {
    let stdout = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795301700}}
{"type":"result","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}
"#;
    assert_eq!(
        exited(stdout, ""),
        Some(("API Error: Request rejected (429)".to_owned(), Some(3_600)))
    );
    let allowed = stdout.replace("rejected\",", "allowed\",");
    assert_eq!(exited(&allowed, "").and_then(|(_, reset)| reset), None);
}

#[test]
fn an_agent_that_exited_with_zero_or_was_never_started_is_not_limited() {
    let line = "You've hit your usage limit.";
    for end in [
        ProcessEnd::Exited { code: 0 },
        ProcessEnd::NotStarted {
            why: line.to_owned(),
        },
        ProcessEnd::Interrupted,
    ] {
        assert_eq!(told(&end, line, line), None, "{end:?}");
    }
    for end in [
        ProcessEnd::Exited { code: 173 },
        ProcessEnd::Signalled { signal: 15 },
        ProcessEnd::TimedOut { seconds: 9 },
        ProcessEnd::Idle { seconds: 9 },
    ] {
        assert!(told(&end, line, "").is_some(), "{end:?}");
    }
}

#[test]
fn only_the_last_lines_count_and_fewer_after_a_kill() {
    let far = format!(
        "You've hit your usage limit.\n{}",
        "at frame\n".repeat(LINES)
    );
    assert_eq!(exited(&far, ""), None);
    let near = format!(
        "You've hit your usage limit.\n{}",
        "at frame\n\n".repeat(LINES - 1)
    );
    assert_eq!(exited(&near, ""), None, "standard output may be prose");
    assert!(exited("", &near).is_some());
    assert_eq!(told(&ProcessEnd::TimedOut { seconds: 9 }, "", &near), None);
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

/// The texts of 2026 with their meanings. The last one is an administrator's.
const LIMITS: [(&str, &str, Option<u64>); 7] = [
    (
        "You've hit your limit · resets 10:30pm (America/Sao_Paulo)",
        "limit",
        Some(12_900),
    ),
    (
        "You've hit your session limit · resets 10:55pm (UTC)",
        "limit",
        Some(3_600),
    ),
    (
        "You've hit your weekly limit · resets Nov 24 at 9:55pm (UTC)",
        "limit",
        Some(3 * 86_400),
    ),
    (
        "Weekly limit reached · resets 10:55pm",
        "limit",
        Some(3_600),
    ),
    (
        "You've hit your individual spend limit · run /usage-credits",
        "limit",
        None,
    ),
    ("You've hit your org's monthly usage limit", "limit", None),
    (
        "Your usage allocation has been disabled by your admin",
        "not set up",
        None,
    ),
];

/// A text in each shape: standard output of a program that exits with 1.
fn shapes(text: &str) -> [(&'static str, String); 5] {
    let line = |value: serde_json::Value| value.to_string();
    let result = |status: Option<u16>| {
        let mut result = serde_json::json!({"type": "result", "subtype": "success", "is_error": true, "result": text});
        if let Some(status) = status {
            result["api_error_status"] = status.into();
        }
        line(result)
    };
    let said = serde_json::json!([{"type": "text", "text": text}]);
    [
        ("result with 429", result(Some(429))),
        ("result", result(None)),
        (
            "assistant",
            line(
                serde_json::json!({"type": "assistant", "error": "rate_limit", "message": {"content": said}}),
            ),
        ),
        (
            "system",
            line(
                serde_json::json!({"type": "system", "subtype": "informational", "content": text}),
            ) + "\n"
                + &line(serde_json::json!({"type": "result", "is_error": true, "result": "x"})),
        ),
        ("plain", text.to_owned()),
    ]
}

#[test]
fn a_limit_is_known_by_its_shape_in_every_place() {
    for (text, kind, reset) in LIMITS {
        for (shape, printed) in shapes(text) {
            let found = told(&FAILED, &printed, "").map(|(kind, _, reset)| (kind, reset));
            assert_eq!(found, Some((kind, reset)), "{text}, {shape}");
            println!("{text} | {shape} | {found:?}");
        }
    }
}

#[test]
fn the_structure_of_a_message_tells_more_than_its_words() {
    let assistant = r#"{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"Please wait a little."}]}}"#;
    assert_eq!(kind(assistant), Some("limit"));
    let result = r#"{"type":"result","is_error":true,"api_error_status":401,"result":"Rate limit reached for gpt-5."}"#;
    assert_eq!(kind(result), Some("not set up"));
    let hint = |printed: &str| {
        let printed = PrintedOutput::guessed(printed.as_bytes(), b"").0;
        match trouble(&FAILED, Preset::named("claude"), &printed, now(), None) {
            Some(ProcessEnd::NotSetUp { hint, .. }) => hint,
            other => panic!("{other:?}"),
        }
    };
    assert!(hint(LIMITS[6].0).starts_with("ask the administrator"));
}

/// Words about limits from an agent with such a task, its tools and its programs.
const HONEST: [&str; 20] = [
    "You've hit your limit is what the client shows after five calls.",
    "I added the message \"You've hit your session limit · resets 10pm\" to the page.",
    "The test expects: You've hit your weekly limit.",
    "- `You've hit your usage limit` is now translated.",
    "Weekly limit reached is a new state of the account.",
    "Usage limit reached, and the queue was drained: 3 tests failed.",
    "Rate limit reached for the second client is covered by a test.",
    "Error: expected \"Usage limit reached\" but was \"\"",
    "AssertionError: You've hit your limit != Too many requests",
    "assert message == \"You've hit your org's monthly usage limit\"",
    "FAILED tests/test_limit.py::test_limit_reached - AssertionError: limit reached",
    "Your usage allocation has been disabled by your admin is the text of the mail.",
    "The admin disabled it: your usage allocation has been disabled by your admin.",
    "spend limit reached when the sum is above 100 USD",
    "2026-11-21 21:54 INFO usage limit reached for user 7",
    "log: session limit reached · resets 10pm",
    "usage_limit_reached is now handled in errors.rs",
    "insufficient_quota is mapped to exit code 2",
    "Error: the test for request rejected (429) is red",
    "You have exceeded the limit of 5 files in fixtures.",
];

#[test]
fn honest_text_about_limits_is_no_limit() {
    for text in HONEST {
        let said = serde_json::json!([{"type": "text", "text": text}]);
        let end = r#"{"type":"result","is_error":true,"result":"x"}"#;
        let spoken = serde_json::json!({"type": "assistant", "message": {"content": said}});
        let used = serde_json::json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": text}]}});
        let hook = serde_json::json!({"type": "system", "subtype": "hook_response", "content": "Weekly limit reached"});
        let result = serde_json::json!({"type": "result", "is_error": true, "result": text});
        for printed in [
            text.to_owned(),
            format!("{spoken}\n{end}"),
            format!("{used}\n{end}"),
            format!("{spoken}\n{hook}\n{end}"),
            result.to_string(),
        ] {
            assert_eq!(told(&FAILED, &printed, ""), None, "{printed}");
        }
        assert_eq!(told(&FAILED, "", text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_and_what_is_said_is_one_bounded_line(
        out in proptest::collection::vec(any::<u8>(), 0..200), noise in any::<String>()
    ) {
        let printed = PrintedOutput::guessed(&out, noise.as_bytes()).0;
        let _ = trouble(&FAILED, None, &printed, now(), None);
        let words = last_words(&FAILED, &printed);
        prop_assert!(!words.contains(char::is_control) && words.chars().count() <= 300);
        let line = format!("hit your usage limit {}", noise.replace('\n', " "));
        if let Some((why, _)) = exited(&line, "") {
            prop_assert!(!why.contains(char::is_control) && why.chars().count() <= 300);
        }
    }
}
