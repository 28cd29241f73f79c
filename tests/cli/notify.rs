//! The recipes of `templates/hooks/notify-*.sh`: what a run sends to a local receiver.

use super::project::Project;
use crate::support::needs::tests;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

tests! {
    curl: [
        a_webhook_gets_the_reason_of_a_block,
        ntfy_gets_the_reason_of_a_block,
    ]
    nothing: [
        a_mail_has_the_reason_of_a_block_and_no_header_of_its_own,
    ]
}

/// Waits for one request and returns its body.
fn receiver() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let receives = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            let line = line.to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .unwrap();
        String::from_utf8(body).unwrap()
    };
    (url, std::thread::spawn(receives))
}

/// A run whose only task is blocked by an agent with a hostile reason.
fn blocked_run(script: &str, variables: &[(&str, &str)]) -> Project {
    let project = Project::new("- [ ] 1. One\n");
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    project.config(&format!(
        "hooks:\n  blocked: [sh, .ralph/notify.sh]\n  env: [{}]\n",
        names.join(", ")
    ));
    let templates = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/hooks/");
    let text = fs_err::read_to_string(format!("{templates}{script}")).unwrap();
    project.write(".ralph/notify.sh", text);
    project.agent(r#"1./*) verdict 'BLOCKED "rules" \ <all> & more' ;;"#);
    let mut run = project.command(&["run"]);
    run.envs(variables.iter().copied());
    Project::finish(run).code(1);
    project
}

/// The agent's words, without the quotation mark that ralph takes off their beginning.
const REASON: &str = r#"rules" \ <all> & more"#;

fn a_webhook_gets_the_reason_of_a_block() {
    let (url, received) = receiver();
    blocked_run("notify-slack.sh", &[("CHAT_WEBHOOK", &url)]);
    let body: Value = serde_json::from_str(&received.join().unwrap()).unwrap();
    let text = body["text"].as_str().unwrap();
    let escaped = REASON
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    assert!(
        text.starts_with("ralph blocked: ") && text.contains(&escaped),
        "{text}"
    );
}

fn ntfy_gets_the_reason_of_a_block() {
    let (url, received) = receiver();
    let variables = [("NTFY_URL", &*url), ("NTFY_TOPIC", "nights")];
    blocked_run("notify-ntfy.sh", &variables);
    let body: Value = serde_json::from_str(&received.join().unwrap()).unwrap();
    assert_eq!(body["topic"], "nights");
    assert_eq!(body["title"], "ralph blocked");
    assert!(body["message"].as_str().unwrap().contains(REASON), "{body}");
}

fn a_mail_has_the_reason_of_a_block_and_no_header_of_its_own() {
    let here = tempfile::tempdir().unwrap();
    let (program, mail) = (here.path().join("sendmail"), here.path().join("mail"));
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" > {0}.args\ncat > {0}\n",
        mail.display()
    );
    fs_err::write(&program, script).unwrap();
    fs_err::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let variables = [
        ("MAIL_TO", "me@example.org"),
        ("SENDMAIL", program.to_str().unwrap()),
    ];
    blocked_run("notify-mail.sh", &variables);
    assert_eq!(
        fs_err::read_to_string(here.path().join("mail.args")).unwrap(),
        "-i -t\n"
    );
    let text = fs_err::read_to_string(&mail).unwrap();
    let (headers, body) = text.split_once("\n\n").unwrap();
    assert_eq!(
        headers,
        "To: me@example.org\nSubject: ralph blocked\nContent-Type: text/plain; charset=utf-8"
    );
    assert!(body.contains(REASON), "{body}");
}
