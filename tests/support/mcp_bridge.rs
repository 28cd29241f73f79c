//! The HTTP transport of the Model Context Protocol for a server on standard input and output.
//!
//! Some clients know no other transport. A session is a process of the server. An answer is a stream of events that
//! ends with the response. There is no other stream.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// One process of the server.
struct Session {
    server: Child,
    out: BufReader<ChildStdout>,
}

type Sessions = Arc<Mutex<BTreeMap<String, Arc<Mutex<Session>>>>>;

/// The bridge, until it is dropped.
pub(crate) struct Bridge {
    port: u16,
    is_over: Arc<AtomicBool>,
    sessions: Sessions,
}

impl Bridge {
    /// Starts it. `server` builds the command of one session.
    pub(crate) fn start(server: impl Fn() -> Command + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_over, sessions, server) = (
            Arc::new(AtomicBool::new(false)),
            Sessions::default(),
            Arc::new(server),
        );
        let (over, all) = (is_over.clone(), sessions.clone());
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (all, server) = (all.clone(), server.clone());
                // A client that hangs up meanwhile needs no more.
                std::thread::spawn(move || _ = answer(&stream, &all, &*server));
            }
        });
        Self {
            port,
            is_over,
            sessions,
        }
    }

    /// Returns `http://127.0.0.1:…/mcp`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        for (_, session) in std::mem::take(&mut *self.sessions.lock().unwrap()) {
            session.lock().unwrap().end();
        }
    }
}

impl Session {
    fn start(mut command: Command) -> Self {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(server.stdout.take().unwrap());
        Self { server, out }
    }

    fn end(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }

    /// Passes a message on, and returns the server's output until its answer.
    fn ask(&mut self, message: &Value) -> std::io::Result<String> {
        writeln!(self.server.stdin.as_mut().unwrap(), "{message}")?;
        let mut events = String::new();
        while message["method"].is_string() && !message["id"].is_null() {
            let mut line = String::new();
            if self.out.read_line(&mut line)? == 0 {
                break;
            }
            events.push_str(&["event: message\ndata: ", line.trim(), "\n\n"].concat());
            if serde_json::from_str::<Value>(&line)?["id"] == message["id"] {
                break;
            }
        }
        Ok(events)
    }
}

fn answer(stream: &TcpStream, all: &Sessions, server: &dyn Fn() -> Command) -> std::io::Result<()> {
    let (method, session, body) = request(stream)?;
    let found = all.lock().unwrap().get(&session).cloned();
    if method == "DELETE" {
        all.lock()
            .unwrap()
            .remove(&session)
            .inspect(|session| session.lock().unwrap().end());
        return reply(stream, "200 OK", "", "");
    }
    if method != "POST" {
        return reply(stream, "405 Method Not Allowed", "", "");
    }
    let message: Value = serde_json::from_slice(&body)?;
    let (name, session) = match found {
        Some(found) => (session, found),
        None if message["method"] == "initialize" => {
            let session = Session::start(server());
            let name = session.server.id().to_string();
            let found = Arc::new(Mutex::new(session));
            all.lock().unwrap().insert(name.clone(), found.clone());
            (name, found)
        }
        None => return reply(stream, "404 Not Found", "", ""),
    };
    match session.lock().unwrap().ask(&message)?.as_str() {
        "" => reply(stream, "202 Accepted", "", ""),
        events => {
            let headers = format!("content-type: text/event-stream\r\nmcp-session-id: {name}\r\n");
            reply(stream, "200 OK", &headers, events)
        }
    }
}

/// Returns the method, the session in a header, and the body.
fn request(stream: &TcpStream) -> std::io::Result<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let (mut method, mut session, mut length) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line
            .trim()
            .split_once(": ")
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
        {
            Some((name, value)) if name == "mcp-session-id" => value.clone_into(&mut session),
            Some((name, value)) if name == "content-length" => length = value.parse().unwrap_or(0),
            None if line.trim().is_empty() => break,
            None => line
                .split(' ')
                .next()
                .unwrap_or_default()
                .clone_into(&mut method),
            _ => {}
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok((method, session, body))
}

fn reply(mut stream: &TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}
