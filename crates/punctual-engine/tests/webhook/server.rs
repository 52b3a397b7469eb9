//! A web server that does as it is told, and remembers what it was sent.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    /// Which connection it came on, from 0.
    pub(crate) connection: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Says nothing for ever.
    Hang,
    /// Waits until the test lets it, then answers.
    Wait(Arc<Notify>),
    /// Answers a byte now and then, for ever.
    Drip,
    /// Promises more than it sends, and closes.
    BreakOff,
    /// Closes without a word.
    Close,
    /// Answers as many bytes.
    Huge(usize),
}

impl Reply {
    pub(crate) fn ok() -> Self {
        Self::Answer(200, Vec::new(), "fine".to_owned())
    }

    pub(crate) fn code(code: u16) -> Self {
        Self::Answer(code, Vec::new(), String::new())
    }

    pub(crate) fn to(code: u16, location: &str) -> Self {
        Self::Answer(code, vec![("location", location.to_owned())], String::new())
    }
}

type Behave = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// A server that runs as long as its test.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    arrived: Arc<Notify>,
    opened: Arc<AtomicUsize>,
    behave: Behave,
}

impl Server {
    /// Serves on a port of its own, without encryption.
    pub(crate) async fn start(behave: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let (listener, server) = Self::bind(behave).await;
        let shared = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(shared.clone().serve(stream));
            }
        });
        server
    }

    /// A port, and a server that is not on it yet.
    pub(crate) async fn bind(behave: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (TcpListener, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            seen: Arc::default(),
            arrived: Arc::default(),
            opened: Arc::default(),
            behave: Arc::new(behave),
        };
        (listener, server)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What arrived on a path.
    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        let seen = self.seen.lock().expect("no panic");
        seen.iter().filter(|one| one.path == path).cloned().collect()
    }

    /// Waits until as many requests have arrived on a path.
    pub(crate) async fn wait_for(&self, path: &str, count: usize) -> Vec<Seen> {
        loop {
            let arrived = self.arrived.notified();
            let seen = self.seen(path);
            if seen.len() >= count {
                return seen;
            }
            arrived.await;
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    /// Serves one connection to its end; a client that goes away ends it.
    pub(crate) async fn serve<T: AsyncRead + AsyncWrite + Unpin>(self, stream: T) {
        let connection = self.opened.fetch_add(1, Ordering::SeqCst);
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read(&mut stream, connection).await {
            let reply = (self.behave)(&seen);
            self.seen.lock().expect("no panic").push(seen);
            self.arrived.notify_waiters();
            if answer(&mut stream, reply).await.is_none() {
                return;
            }
        }
    }
}

async fn read<T: AsyncRead + Unpin>(stream: &mut BufReader<T>, connection: usize) -> Option<Seen> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let name: HeaderName = name.parse().expect("a header");
        headers.append(name, HeaderValue::from_str(value.trim()).expect("a value"));
    }
    let length = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8(body).expect("text");
    Some(Seen { method, path, headers, body, connection })
}

/// Answers; none if the connection is over.
async fn answer<T: AsyncRead + AsyncWrite + Unpin>(stream: &mut BufReader<T>, reply: Reply) -> Option<()> {
    let (code, headers, body) = match reply {
        Reply::Answer(code, headers, body) => (code, headers, body),
        Reply::Close => return None,
        Reply::Hang => return gone(stream).await,
        Reply::Wait(until) => {
            until.notified().await;
            (200, Vec::new(), "at last".to_owned())
        }
        Reply::Drip => return drip(stream).await,
        Reply::BreakOff => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of").await.ok()?;
            stream.flush().await.ok()?;
            return None;
        }
        Reply::Huge(bytes) => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.ok()?;
            let chunk = vec![b'x'; 64 * 1024];
            for _ in 0..bytes / chunk.len() {
                stream.write_all(&chunk).await.ok()?;
            }
            return None;
        }
    };
    let mut head = format!("HTTP/1.1 {code} Said\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

/// A head, and then a byte of the body every so often, as long as somebody listens.
async fn drip<T: AsyncRead + AsyncWrite + Unpin>(stream: &mut BufReader<T>) -> Option<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.ok()?;
    let mut drops = tokio::time::interval(Duration::from_millis(20));
    loop {
        drops.tick().await;
        stream.write_all(b".").await.ok()?;
        stream.flush().await.ok()?;
    }
}

/// Waits until the other side has hung up.
async fn gone<T: AsyncRead + Unpin>(stream: &mut BufReader<T>) -> Option<()> {
    let mut rest = [0; 64];
    while stream.read(&mut rest).await.ok()? > 0 {}
    None
}
