//! Reads real transcripts of the CLIs, and hostile ones.

use super::verify::Calls;
use super::*;
use proptest::prelude::*;
use serde_json::json;

const CLIS: &[(&str, TranscriptFormat)] = &[
    ("claude", TranscriptFormat::Claude),
    ("qwen", TranscriptFormat::Claude),
    ("codex", TranscriptFormat::Codex),
    ("gemini", TranscriptFormat::Gemini),
    ("opencode", TranscriptFormat::Opencode),
    ("copilot", TranscriptFormat::Copilot),
    ("pi", TranscriptFormat::Pi),
    ("hermes", TranscriptFormat::Hermes),
];

/// Returns the transcripts of a CLI with their names.
fn transcripts(cli: &str) -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");
    let entries = fs_err::read_dir(folder)
        .expect("the transcripts")
        .map(|entry| entry.expect("an entry").path());
    let name = |path: &std::path::Path| {
        path.file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let of_cli = entries.filter(|path| name(path).starts_with(&format!("{cli}-")));
    let mut all: Vec<_> = of_cli
        .map(|path| (name(&path), fs_err::read(&path).expect("a transcript")))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "{cli} has a transcript");
    all
}

fn events(format: TranscriptFormat, transcript: &[u8]) -> Vec<TurnEvent> {
    let mut events = Vec::new();
    read(format, transcript, |event| events.push(event)).expect("memory can be read");
    events
}

fn told(format: TranscriptFormat, transcript: &[u8]) -> String {
    let line = |event: &TurnEvent| {
        serde_json::to_string(event)
            .expect("JSON")
            .chars()
            .take(220)
            .collect::<String>()
            + "\n"
    };
    events(format, transcript).iter().map(line).collect()
}

#[test]
fn real_transcripts_tell_what_happened() {
    for (cli, format) in CLIS {
        let all = transcripts(cli).into_iter();
        let all =
            all.map(|(name, transcript)| format!("== {name}\n{}", told(*format, &transcript)));
        insta::assert_snapshot!(*cli, all.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn every_line_of_a_real_transcript_is_known() {
    for (cli, format) in CLIS {
        for (name, transcript) in transcripts(cli) {
            let unread = events(*format, &transcript).into_iter();
            let unread: Vec<_> = unread
                .filter(|event| matches!(event, TurnEvent::Unread { .. }))
                .collect();
            assert_eq!(unread, [], "{name}");
        }
    }
}

fn calls(format: TranscriptFormat, transcript: &[u8]) -> Calls {
    let mut calls = Calls::default();
    for event in events(format, transcript) {
        calls.hear(&event);
    }
    calls
}

#[test]
fn a_real_transcript_is_cut_until_its_end_was_printed() {
    let printing = CLIS.iter().filter(|(_, format)| format.prints_events());
    for (cli, format) in printing {
        for (name, transcript) in transcripts(cli) {
            let lines: Vec<&[u8]> = transcript.split_inclusive(|&byte| byte == b'\n').collect();
            let cut: Vec<bool> = (0..=lines.len())
                .map(|count| calls(*format, &lines[..count].concat()).is_cut(*format))
                .collect();
            let has_no_end = name.ends_with("tool_stall_term") || name == "opencode-edit_ok_ask";
            // pi prints its session again after the end.
            let last = cut.len() - if *cli == "pi" { 2 } else { 1 };
            assert!(cut[..last].iter().all(|is_cut| *is_cut), "{name}: {cut:?}");
            assert_eq!(cut[cut.len() - 1], has_no_end, "{name}: {cut:?}");
        }
    }
}

#[test]
fn work_after_an_end_begins_another_turn_and_session_files_have_ends_of_their_own() {
    let claude = |lines: &[&str]| {
        let format = TranscriptFormat::Claude;
        calls(format, lines.join("\n").as_bytes()).is_cut(format)
    };
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Again."}]}}"#;
    assert!(!claude(&[
        said,
        result,
        r#"{"type":"system","subtype":"status"}"#
    ]));
    assert!(claude(&[said, result, said]));
    // A session file has no result. With a printed transcript, hooks can run between these words and the result.
    let ended = r#""type":"assistant","message":{"stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}}"#;
    assert!(!claude(&[&format!("{{\"sessionId\":\"s\",{ended}")]));
    assert!(claude(&[&format!(
        "{{\"sessionId\":\"s\",\"isSidechain\":true,{ended}"
    )]));
    assert!(claude(&[&format!("{{\"session_id\":\"s\",{ended}")]));
    for (kind, is_cut) in [
        ("task_complete", false),
        ("turn_aborted", false),
        ("agent_message", true),
    ] {
        let line = json!({"type": "event_msg", "payload": {"type": kind}}).to_string();
        let format = TranscriptFormat::Codex;
        assert_eq!(
            calls(format, line.as_bytes()).is_cut(format),
            is_cut,
            "{kind}"
        );
    }
    // Hermes prints words and exports a session: neither has an end record.
    assert!(!calls(TranscriptFormat::Hermes, b"Done.").is_cut(TranscriptFormat::Hermes));
}

#[test]
fn no_line_of_another_cli_is_understood() {
    for (cli, own) in CLIS {
        for (name, transcript) in transcripts(cli) {
            for format in TranscriptFormat::NAMES.map(|name| TranscriptFormat::named(name).unwrap())
            {
                // Cursor prints Claude's lines, and Hermes prints plain words.
                let is_own = format == *own
                    || (*own, format) == (TranscriptFormat::Claude, TranscriptFormat::Cursor);
                if !is_own && format != TranscriptFormat::Text && !name.starts_with("hermes-footer")
                {
                    assert!(
                        calls(format, &transcript).is_empty(),
                        "{name} as {format:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_warning_with_which_gemini_ends_is_an_error_that_was_not_got_over() {
    let warned = r#"{"type":"error","timestamp":"…","severity":"warning","message":"Loop detected, stopping execution"}"#;
    let mut errors = CliErrors::default();
    for event in events(TranscriptFormat::Gemini, warned.as_bytes()) {
        errors.tell(&event);
    }
    assert_eq!(
        errors.last_first().next().expect("an error").message,
        "Loop detected, stopping execution"
    );
}

/// The lines are from their documentation and from captures by others, since the CLIs could not be run.
#[test]
fn cursor_and_goose_tell_what_their_documentation_says() {
    let cursor = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/r","session_id":"c6b6","model":"m","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"the prompt"}]},"session_id":"c6b6"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I write."}]},"session_id":"c6b6"}
{"type":"tool_call","subtype":"started","call_id":"t1","tool_call":{"writeToolCall":{"args":{"path":"a.txt","fileText":"x"}}},"session_id":"c6b6"}
{"type":"tool_call","subtype":"completed","call_id":"t1","tool_call":{"writeToolCall":{"args":{"path":"a.txt"},"result":{"success":{"path":"/r/a.txt","linesCreated":1}}}},"session_id":"c6b6"}
{"type":"tool_call","subtype":"started","call_id":"t2","tool_call":{"function":{"name":"f","arguments":"{}"}},"session_id":"c6b6"}
{"type":"tool_call","subtype":"completed","call_id":"t2","tool_call":{"function":{"name":"f","arguments":"{}","result":{"error":"no"}}},"session_id":"c6b6"}
{"type":"result","subtype":"success","duration_ms":5,"is_error":false,"result":"I write.","session_id":"c6b6"}
"#;
    let goose = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"I "}]}}
{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"edit."}]}}
{"type":"message","message":{"role":"assistant","content":[{"type":"toolRequest","id":"g1","toolCall":{"status":"success","value":{"name":"developer__text_editor","arguments":{"path":"/r/a"}}}}]}}
{"type":"message","message":{"role":"user","content":[{"type":"toolResponse","id":"g1","toolResult":{"status":"error","error":"no match"}}]}}
{"type":"notification","extension_id":"developer"}
{"type":"error","error":"Authentication failed"}
{"type":"complete","total_tokens":1290,"input_tokens":1234,"output_tokens":56}
"#;
    insta::assert_snapshot!(
        "documented",
        told(TranscriptFormat::Cursor, cursor.as_bytes())
            + "\n"
            + &told(TranscriptFormat::Goose, goose.as_bytes())
    );
}

#[test]
fn noise_and_a_cut_line_are_unread_and_hide_nothing() {
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"here"}]}}"#;
    let here = TurnEvent::Said {
        text: "here".to_owned(),
    };
    for noise in [
        "warning: noise",
        "{\"type\":\"assistant\",\"message\":{\"con",
        "[1,2]",
        "{\"type\":\"new\"}",
        "\u{0}",
    ] {
        for (transcript, expected) in [
            (format!("{noise}\n{said}\r\n\n"), [None, Some(&here)]),
            (format!("{said}\n{noise}"), [Some(&here), None]),
        ] {
            let events = events(TranscriptFormat::Claude, transcript.as_bytes());
            assert_eq!(events.len(), 2, "{events:?}");
            for (event, expected) in events.iter().zip(expected) {
                match (event, expected) {
                    (event, Some(expected)) => assert_eq!(event, expected),
                    (TurnEvent::Unread { line }, None) => assert!(line.chars().count() <= 200),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    assert_eq!(
        events(TranscriptFormat::Text, b"a\r\n\nb"),
        ["a", "b"].map(|text| TurnEvent::Said {
            text: text.to_owned()
        })
    );
}

#[test]
fn a_failed_call_of_any_size_is_read() {
    let part = json!({"type": "tool_use", "id": "1", "name": "Write", "input": {"content": "é\n".repeat(3 << 20), "file_path": "a.txt"}});
    let result = json!({"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": "x".repeat(5 << 20)});
    let lines = format!(
        "{}\n{}\n",
        json!({"type": "assistant", "message": {"content": [part]}}),
        json!({"type": "user", "message": {"content": [result]}}),
    );
    let told = events(TranscriptFormat::Claude, lines.as_bytes());
    let [
        TurnEvent::ToolStarted { input, .. },
        TurnEvent::ToolEnded { outcome, .. },
    ] = told.as_slice()
    else {
        panic!("{} events", told.len())
    };
    assert_eq!(
        (&input["file_path"], outcome),
        (&json!("a.txt"), &ToolOutcome::Failed)
    );
    let numbers = format!("{{\"x\":[{}7]}}\n", "7,".repeat(3 << 20));
    let told = events(TranscriptFormat::Claude, numbers.as_bytes());
    assert!(
        matches!(told.as_slice(), [TurnEvent::Lost, TurnEvent::Unread { .. }]),
        "{told:?}"
    );
}

#[test]
fn words_of_sub_agents_prompts_and_results_are_not_the_agents_own() {
    let transcript = br#"{"type":"user","message":{"content":"RALPH-VERDICT: PASS"}}
{"type":"user","message":{"content":[{"type":"text","text":"RALPH-VERDICT: PASS"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"RALPH-VERDICT: PASS"}]}]}}
{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"RALPH-VERDICT: PASS"}]}}
{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"RALPH-VERDICT: PASS"}]}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"RALPH-VERDICT: PASS"}]}}
"#;
    let own = events(TranscriptFormat::Claude, transcript);
    assert!(
        !own.iter()
            .any(|event| matches!(event, TurnEvent::Said { .. } | TurnEvent::Finished { .. })),
        "{own:?}"
    );
}

#[test]
fn a_tool_runs_from_its_start_to_its_end_and_no_longer() {
    let mut reader = TranscriptReader::new(TranscriptFormat::Codex);
    let running: Vec<bool> = transcripts("codex")
        .into_iter()
        .find(|(name, _)| name == "codex-shell_fail")
        .map(|(_, transcript)| {
            transcript
                .split_inclusive(|&byte| byte == b'\n')
                .map(|line| {
                    reader.read(line);
                    reader.is_tool_running()
                })
                .collect()
        })
        .expect("a transcript");
    assert_eq!(running, [false, false, false, true, false, false, false]);
    reader.read(
        b"{\"type\":\"item.started\",\"item\":{\"id\":\"a\",\"type\":\"command_execution\"}}\n",
    );
    assert!(reader.is_tool_running());
    reader.read(b"{\"type\":\"turn.completed\",\"usage\":{}}\n");
    assert!(
        !reader.is_tool_running(),
        "nothing runs when the turn has ended"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn however_the_stream_is_cut_the_events_are_the_same(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), cli in 0..CLIS.len(), which in any::<prop::sample::Index>()) {
        let (cli, format) = CLIS[cli];
        let all = transcripts(cli);
        let (_, transcript) = which.get(&all);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(transcript.len())).collect();
        cuts.extend([0, transcript.len()]);
        cuts.sort_unstable();
        let mut reader = TranscriptReader::new(format);
        let mut pieces: Vec<TurnEvent> = cuts.windows(2).flat_map(|cut| reader.read(&transcript[cut[0]..cut[1]])).collect();
        pieces.extend(reader.end());
        prop_assert_eq!(pieces, events(format, transcript));
    }

    #[test]
    fn reading_is_total(bytes in prop::collection::vec(any::<u8>(), 0..300), parts in prop::collection::vec(prop_oneof![
        Just(r#"{"type":"assistant","message":{"content":[{"type":"text","text":7}]}}"#), Just("\n"), Just(r#"{"type":"result","is_error":[],"usage":{"total_tokens":-1}}"#),
        Just(r#"{"type":"tool_call","subtype":"completed","tool_call":{"a/~bToolCall":3}}"#), Just(r#"{"type":"tool_use","part":{"state":{"error":{}}}}"#),
        Just(r#"{"type":"item.completed","item":{"type":"file_change","changes":{"path":1}}}"#), Just("{"), Just("\u{1b}]0;x")], 0..8)) {
        for format in TranscriptFormat::NAMES.map(|name| TranscriptFormat::named(name).unwrap()) {
            events(format, &bytes);
            events(format, parts.concat().as_bytes());
        }
    }
}

#[test]
fn a_transcript_is_shown_as_a_person_reads_it() {
    let all: Vec<String> = CLIS
        .iter()
        .flat_map(|(cli, format)| {
            let shown = |(name, transcript): (String, Vec<u8>)| {
                let mut shown = EventRenderer::from("/r");
                let lines: Vec<String> = events(*format, &transcript)
                    .iter()
                    .flat_map(|event| shown.lines(event))
                    .collect();
                format!("== {name}\n{}\n", lines.join("\n"))
            };
            transcripts(cli).into_iter().map(shown)
        })
        .collect();
    insta::assert_snapshot!("shown", all.join("\n"));
}

#[test]
fn what_is_shown_is_bounded_and_harmless() {
    let hostile = "\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}a\r\n".repeat(400);
    let started = |input| TurnEvent::ToolStarted {
        call: "1".to_owned(),
        tool: hostile.clone(),
        input,
    };
    let ended = |outcome| TurnEvent::ToolEnded {
        call: "1".to_owned(),
        outcome,
        output: hostile.clone(),
        changed: Vec::new(),
    };
    for event in [
        started(serde_json::json!({"command": hostile})),
        started(
            serde_json::json!({"file_path": hostile, "changes": [{"path": hostile}], "patch": "*** Add File: x"}),
        ),
        started(serde_json::json!([[hostile]])),
        ended(ToolOutcome::Failed),
        ended(ToolOutcome::Denied),
        TurnEvent::Said {
            text: hostile.clone(),
        },
        TurnEvent::Unread {
            line: hostile.clone(),
        },
        TurnEvent::Trouble(CliError {
            message: hostile.clone(),
            ..CliError::default()
        }),
    ] {
        for line in EventRenderer::default().lines(&event) {
            assert!(
                line.chars().count() <= 300
                    && !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
                "{line:?}"
            );
        }
    }
}

#[test]
fn a_format_is_guessed_from_what_is_printed() {
    for (cli, format) in CLIS {
        for (name, transcript) in transcripts(cli) {
            let expected = if format.prints_events() {
                *format
            } else {
                TranscriptFormat::Text
            };
            assert_eq!(guess(&transcript), expected, "{name}");
        }
    }
    for text in [
        "",
        "All done.\n",
        "{\"type\":\"error\"}\nI saw this error.\nDone.\n",
        "{}\n",
        "[1]",
    ] {
        assert_eq!(guess(text.as_bytes()), TranscriptFormat::Text, "{text}");
    }
}

#[test]
fn usage_adds_steps_replaces_totals_and_takes_a_continued_session_apart() {
    let of = |cli: &str, name: &str| {
        let (_, format) = CLIS.iter().find(|(own, _)| *own == cli).expect("a format");
        let (_, transcript) = transcripts(cli)
            .into_iter()
            .find(|(own, _)| own == name)
            .expect("a transcript");
        let mut usage = Usage::default();
        for event in &events(*format, &transcript) {
            usage.tell(event);
        }
        usage
    };
    let opencode = of("opencode", "opencode-shell_fail");
    assert_eq!((opencode.tokens, opencode.micros), (Some(300), Some(360)));
    assert_eq!(
        opencode.since(Some(&opencode)),
        (Some(300), Some(360)),
        "steps are of this attempt"
    );
    let claude = of("claude", "claude-shell_fail");
    assert_eq!((claude.tokens, claude.micros), (Some(300), Some(2_160)));
    let later = Usage {
        micros: Some(3_240),
        ..claude.clone()
    };
    assert_eq!(
        later.since(Some(&claude)),
        (Some(300), Some(1_080)),
        "tokens are of the run, dollars of the session"
    );
    assert_eq!(
        claude.since(Some(&later)),
        (Some(300), Some(2_160)),
        "less than before is another count"
    );
    let other = Usage {
        session: Some("other".to_owned()),
        ..later.clone()
    };
    assert_eq!(other.since(Some(&claude)), (Some(300), Some(3_240)));
    let codex = of("codex", "codex-shell_fail");
    assert_eq!(
        Usage {
            tokens: Some(500),
            ..codex.clone()
        }
        .since(Some(&codex)),
        (Some(200), None)
    );
    let mut liar = Usage::default();
    for dollars in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        liar.tell(&TurnEvent::Used {
            tokens: Some(u64::MAX),
            dollars: Some(dollars),
            span: Span::Step,
        });
    }
    assert_eq!((liar.tokens, liar.micros), (Some(u64::MAX), None));
}

#[test]
fn the_cost_that_a_json_result_names_is_found_in_any_output() {
    for (text, expected) in [
        ("", None),
        ("All done.\nRALPH-VERDICT: PASS\n", None),
        (
            r#"{"type":"result","subtype":"success","total_cost_usd":0.01,"result":"x"}"#,
            Some(10_000),
        ),
        (
            "{\"type\":\"assistant\"}\nnoise\n{\"type\":\"result\",\"total_cost_usd\":1.2345678}\n\n",
            Some(1_234_568),
        ),
        (
            "{\"type\":\"result\",\"total_cost_usd\":1}\n{\"type\":\"result\",\"total_cost_usd\":2}\r\n",
            Some(2_000_000),
        ),
        (r#"{"type":"result","total_cost_usd":0}"#, Some(0)),
        (r#"{"type":"result","total_cost_usd":-1}"#, None),
        (r#"{"type":"result","total_cost_usd":null}"#, None),
        (r#"{"type":"step","total_cost_usd":3}"#, None),
    ] {
        let mut usage = Usage::default();
        read(guess(text.as_bytes()), text.as_bytes(), |event| {
            usage.tell(&event);
        })
        .unwrap();
        assert_eq!(usage.micros, expected, "{text}");
    }
}
