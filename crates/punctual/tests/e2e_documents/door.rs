//! The HTTP door, asked with curl: what is sent and heard is exactly what stands here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use crate::driver::{Person, Serving};

/// A server's address and token.
pub(crate) struct Door {
    url: String,
    token: String,
}

impl Door {
    pub(crate) fn of(person: &Person, serving: &Serving) -> Self {
        let url = serving.greeting[0].rsplit_once(" at ").expect("it says where it listens").1.to_owned();
        let file = format!("{}.token", person.database().display());
        Self { url, token: std::fs::read_to_string(file).expect("its token").trim().to_owned() }
    }

    fn curl(&self, more: &[&str], path: &str) -> Command {
        let mut command = Command::new("curl");
        command.args(["-sS", "-m", "60", "-H", &format!("Authorization: Bearer {}", self.token)]);
        command.args(more).arg(format!("{}/api/v1/{path}", self.url));
        command
    }

    /// Sends a request; gives back the status and the body, which is JSON or nothing.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&str>) -> (u16, Value) {
        let mut words = vec!["-X", method, "-w", "\n%{http_code}"];
        if let Some(body) = body {
            words.extend(["-H", "Content-Type: application/json", "-d", body]);
        }
        let said = self.curl(&words, path).output().expect("curl exists");
        let said = String::from_utf8(said.stdout).expect("text");
        let (body, code) = said.rsplit_once('\n').expect("a status");
        let json = serde_json::from_str(body).unwrap_or(Value::Null);
        (code.parse().expect("a number"), json)
    }

    /// The same for requests that must succeed.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (code, answer) = self.send(method, path, body.map(ToString::to_string).as_deref());
        assert!((200..300).contains(&code), "{method} {path}: {code} {answer}");
        answer
    }

    /// Reads some events of a stream, from behind the one that was heard last.
    pub(crate) fn events(&self, path: &str, after: Option<&str>, count: usize) -> Vec<(String, Value)> {
        let last = format!("Last-Event-ID: {}", after.unwrap_or_default());
        let mut child: Child =
            self.curl(&["-N", "-H", &last], path).stdout(Stdio::piped()).spawn().expect("curl exists");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let (mut events, mut id) = (Vec::new(), String::new());
        for line in lines {
            if let Some(said) = line.strip_prefix("id: ") {
                id = said.to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                events.push((id.clone(), serde_json::from_str(data).expect("JSON")));
            }
            if events.len() == count {
                break;
            }
        }
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        events
    }
}

/// An executor that answers 202 and does the work later: it tells what it was sent.
pub(crate) struct Executor {
    pub(crate) url: String,
    pub(crate) orders: mpsc::Receiver<Order>,
}

/// What an executor was sent.
pub(crate) struct Order {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Order {
    pub(crate) fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(':')).expect("the header is there").1.trim()
    }
}

impl Executor {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/dags", listener.local_addr().expect("an address"));
        let (sender, orders) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(
                    move || while receive(&stream).is_some_and(|order| sender.send(order).is_ok()) {},
                );
            }
        });
        Self { url, orders }
    }
}

/// One request of a connection, answered with 202.
fn receive(stream: &TcpStream) -> Option<Order> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let answer = r#"{"run_id": "job-9"}"#;
    let said = format!(
        "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{answer}",
        answer.len()
    );
    let mut writer = stream;
    writer.write_all(said.as_bytes()).ok()?;
    Some(Order { head, body: serde_json::from_slice(&body).ok()? })
}
