//! Goal: a schedule made on the command line sends web requests, and the ledger and `why` tell what became of them.
//! Method: the real program, and a real server of the test's own that answers as the path says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use crate::driver::Person;

/// A request: its path, its headers and its body.
struct Asked {
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Asked {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }
}

/// Serves until the test ends; `/410` is answered with that status, and so on.
fn server() -> (u16, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || while answer(&stream, &sender).is_some() {});
        }
    });
    (port, receiver)
}

fn answer(stream: &TcpStream, sender: &Sender<Asked>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let code = path.trim_start_matches('/').parse().unwrap_or(200);
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {code} Said\r\ncontent-length: 5\r\n\r\nheard").ok()?;
    sender.send(Asked { path, headers, body: String::from_utf8(body).ok()? }).ok()
}

fn run(person: &Person, name: &str, status: &str) -> Value {
    let ledger = person.json(&["schedule", "runs", "--name", name, "--json"]);
    let found = ledger["runs"].as_array().expect("a list").iter().find(|run| run["status"] == status);
    found.unwrap_or_else(|| panic!("no {status} run in {ledger}")).clone()
}

fn why(person: &Person, name: &str, run: &Value) -> String {
    let at = run["scheduled_for"].as_str().expect("an instant");
    let output = person.run(&["why", name, "--at", at]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_schedule_sends_signed_requests_and_the_ledger_tells_what_became_of_them() {
    let (person, (port, asked)) = (Person::new(), server());
    let url = format!("http://127.0.0.1:{port}");
    let mut put = person.command(&["secret", "put", "hook"]);
    let mut put = put.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program starts");
    put.stdin
        .take()
        .expect("a pipe")
        .write_all(b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        .expect("it reads");
    assert!(put.wait().expect("it ends").success());
    let every = ["--cron", "* * * * * *"];
    let create = |name: &str, rest: &[&str]| {
        person.json(&[&["schedule", "create", "--name", name], &every[..], rest].concat());
    };
    let rest = ["--secret", "hook", "--header", "X-Run={{ run_id }}", "--cloud-events", "binary"];
    let rest = [&rest[..], &["--body", r#"{"n": {{ payload.n }}}"#, "--payload", r#"{"n": 7}"#]].concat();
    create("hook", &[&["--webhook", &format!("{url}/200")], &rest[..]].concat());
    create("gone", &["--webhook", &format!("{url}/410")]);
    let mut serving = person.serve_in_home(&["--allow-private-targets", "127.0.0.1"]);
    serving.wait_for("auto_disabled");
    let seen = asked.iter().find(|asked| asked.path == "/200").expect("a request");
    serving.wait_for("\"success\"");
    serving.stop();

    assert_eq!(seen.body, r#"{"n": 7}"#);
    assert!(seen.header("webhook-signature").starts_with("v1,") && seen.header("ce-specversion") == "1.0");
    assert!(seen.header("x-run").starts_with("run-"));
    let good = run(&person, "hook", "success");
    assert_eq!(good["output"], "heard");
    assert_eq!(seen.header("idempotency-key").len(), 64);
    assert!(why(&person, "hook", &good).contains("ended well"));

    let gone = run(&person, "gone", "failed");
    assert_eq!(gone["reason"], "gone");
    assert!(why(&person, "gone", &gone).contains("answered 410"), "{}", why(&person, "gone", &gone));
    assert_eq!(person.json(&["schedule", "get", "--name", "gone"])["schedule"]["status"], "auto_disabled");
}

#[test]
fn a_private_address_is_refused_unless_the_setting_allows_it() {
    let (person, (port, asked)) = (Person::new(), server());
    let url = format!("http://localhost:{port}/200");
    person.json(&["schedule", "create", "--name", "inside", "--cron", "* * * * * *", "--webhook", &url]);
    let mut serving = person.serve();
    serving.wait_for("\"ended\"");
    serving.stop();
    let run = run(&person, "inside", "failed");
    assert_eq!(run["reason"], "address_refused");
    assert!(why(&person, "inside", &run).contains("to which nothing may be sent (`allow_private_targets`)"));
    assert!(asked.try_recv().is_err(), "nobody was asked");
}
