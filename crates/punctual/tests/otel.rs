//! Goal: the spans of a run arrive at a collector, in the trace that its program was given.
//! Method: the real program serves, a real HTTP server of the test is the collector, and what it is sent is searched for
//! the numbers of the traces, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// The first line and the body of a request.
type Request = (String, Vec<u8>);

/// A collector: keeps every request.
struct Collector {
    url: String,
    taken: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&taken);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(request) = take(stream) {
                    kept.lock().expect("no panic").push(request);
                }
            }
        });
        Self { url, taken }
    }

    /// All that was sent, one behind the other.
    fn sent(&self) -> Vec<u8> {
        let taken = self.taken.lock().expect("no panic");
        assert!(taken.iter().all(|(line, _)| line.starts_with("POST /v1/traces ")), "{taken:?}");
        taken.iter().flat_map(|(_, body)| body.clone()).collect()
    }
}

/// Reads a request and answers it.
fn take(stream: TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| line != "\r\n") {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        lines.push(line);
    }
    let length =
        |line: &String| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let mut body = vec![0; lines.iter().find_map(length)?];
    reader.read_exact(&mut body).ok()?;
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    reader.get_mut().write_all(answer.as_bytes()).ok()?;
    Some((lines.swap_remove(0), body))
}

/// How often some bytes occur.
fn count(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|some| *some == wanted).count()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

fn punctual(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).env_remove("DATABASE_URL").env_remove("TRACEPARENT");
    command.env("XDG_DATA_HOME", home).env("PUNCTUAL_LISTEN", "127.0.0.1:0");
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on a pipe")
}

/// Starts `serve` and waits until it is ready.
fn serve(home: &Path, collector: &Collector) -> Child {
    let mut command = punctual(home, &["serve"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.take(2).any(|line| line.starts_with("ready in ")), "the server did not get ready");
    child
}

/// The last run, once it was asked for and is over.
fn run(home: &Path, trace: Option<&str>) -> Value {
    let mut command = punctual(home, &["schedule", "trigger", "--name", "traced", "--wait"]);
    command.envs(trace.map(|trace| ("TRACEPARENT", trace)));
    assert!(command.output().expect("the program starts").status.success());
    json(&mut punctual(home, &["runs", "--limit", "1"]))["runs"][0].clone()
}

#[test]
fn the_spans_of_a_run_are_sent_in_the_trace_that_its_program_sees() {
    let (folder, collector) = (tempfile::tempdir().expect("a temporary folder"), Collector::start());
    let home = folder.path();
    let script = "echo $TRACEPARENT";
    json(&mut punctual(
        home,
        &["schedule", "create", "--name", "traced", "--cron", "0 3 1 1 *", "--", "sh", "-c", script],
    ));
    let mut child = serve(home, &collector);
    let brought = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let (own, joined) = (run(home, None), run(home, Some(brought)));
    let unkept = run(home, Some("00-11111111111111111111111111111111-b7ad6b7169203331-00"));
    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(stopped.expect("kill exists").success() && child.wait().expect("it ends").success());
    for run in [&own, &joined, &unkept] {
        assert_eq!(run["output"].as_str().map(str::trim_end), run["traceparent"].as_str(), "{run}");
    }
    assert_eq!(joined["traceparent"], brought);
    let sent = collector.sent();
    let own: Vec<&str> = own["traceparent"].as_str().expect("a trace").split('-').collect();
    for name in ["admit run", "launch run", "settle run"] {
        assert_eq!(count(&sent, name.as_bytes()), 2, "one in each trace that is kept: {name}");
    }
    assert_eq!((count(&sent, &bytes(own[1])), count(&sent, &bytes(&brought[3..35]))), (3, 3));
    assert_eq!(count(&sent, &bytes(own[2])), 3, "the admission has the place that the others stand below");
    assert_eq!(count(&sent, &bytes(&brought[36..52])), 3, "all stand below what was brought");
    assert_eq!(count(&sent, &[0x11; 16]), 0, "what nobody keeps is not sent");
}
