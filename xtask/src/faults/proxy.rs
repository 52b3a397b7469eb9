//! A line to a PostgreSQL server that can be cut, slowed and half closed: at a chosen commit, or whenever somebody wants.
//!
//! The tests of the store take this file in as well.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The simple query `COMMIT` as the protocol writes it: kind, length, text, end.
const COMMIT: &[u8] = b"Q\x00\x00\x00\x0bCOMMIT\x00";

/// What is handed on at once, at most.
const PIECE: usize = 64 * 1024;

/// What happens to a line at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The commit never reaches the server.
    Before,
    /// The server has committed; its answer never comes back.
    After,
    /// The commit waits on the way and the line stays, as that of a process that was stopped does.
    Stopped,
}

/// A proxy in front of a server. It hands everything on, until it is told otherwise.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    armed: Mutex<Option<Cut>>,
    delay_us: AtomicU64,
    lines: Mutex<Vec<Line>>,
    cuts: AtomicU64,
}

/// Both ends of a line.
struct Line {
    client: TcpStream,
    server: TcpStream,
}

impl Line {
    fn copy(&self) -> io::Result<Self> {
        Ok(Self { client: self.client.try_clone()?, server: self.server.try_clone()? })
    }

    fn cut(&self) {
        // An end that is gone already cannot be closed.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

impl Proxy {
    /// Listens on a free port until this process ends.
    pub(crate) fn start(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let proxy = Self { address: listener.local_addr()?, shared: Arc::default() };
        let shared = Arc::clone(&proxy.shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is away refuses; so does this.
                if let Ok(server) = TcpStream::connect(&server) {
                    let _ = shared.join(Line { client, server });
                }
            }
        });
        Ok(proxy)
    }

    /// Does this at the next commit, once.
    pub(crate) fn arm(&self, cut: Cut) {
        *self.shared.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
    }

    /// Hands each piece on only after so long.
    pub(crate) fn slow(&self, delay: Duration) {
        let delay = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.shared.delay_us.store(delay, Ordering::SeqCst);
    }

    /// Cuts all lines.
    pub(crate) fn cut_all(&self) {
        self.shared.each(Line::cut);
    }

    /// Closes all lines on the way back alone: who asks may go on asking and hears no answer.
    pub(crate) fn half_close_all(&self) {
        self.shared.each(|line| {
            // An end that is gone already cannot be closed.
            let _ = line.client.shutdown(Shutdown::Write);
        });
    }

    /// How many lines were cut or closed, by whatever.
    pub(crate) fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn each(&self, what: impl Fn(&Line)) {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        self.cuts.fetch_add(lines.len() as u64, Ordering::SeqCst);
        lines.iter().for_each(what);
    }

    /// Hands on what comes on a line, in both directions.
    fn join(self: &Arc<Self>, line: Line) -> io::Result<()> {
        let (there, back) = (line.copy()?, line.copy()?);
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        let is_swallowed = Arc::new(AtomicBool::new(false));
        let (shared, swallowed) = (Arc::clone(self), Arc::clone(&is_swallowed));
        std::thread::spawn(move || shared.hand_on(&there, &swallowed));
        let shared = Arc::clone(self);
        std::thread::spawn(move || shared.hand_back(&back, &is_swallowed));
        Ok(())
    }

    fn hand_on(&self, line: &Line, is_swallowed: &AtomicBool) {
        let mut buffer = vec![0; PIECE];
        while let Ok(count @ 1..) = (&line.client).read(&mut buffer) {
            self.wait();
            let is_commit = buffer[..count].windows(COMMIT.len()).any(|part| part == COMMIT);
            let armed = is_commit.then(|| self.disarm()).flatten();
            match armed {
                Some(Cut::Before) => break,
                Some(Cut::After) => is_swallowed.store(true, Ordering::SeqCst),
                // Whoever hands back closes the line when the server has lost its patience.
                Some(Cut::Stopped) => return,
                None => {}
            }
            if (&line.server).write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        line.cut();
    }

    /// Hands answers back; after a cut it waits for the answer, which tells that the commit happened, and swallows it.
    fn hand_back(&self, line: &Line, is_swallowed: &AtomicBool) {
        let mut buffer = vec![0; PIECE];
        while let Ok(count @ 1..) = (&line.server).read(&mut buffer) {
            self.wait();
            if is_swallowed.load(Ordering::SeqCst) || (&line.client).write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        line.cut();
    }

    fn wait(&self) {
        std::thread::sleep(Duration::from_micros(self.delay_us.load(Ordering::SeqCst)));
    }

    fn disarm(&self) -> Option<Cut> {
        let cut = self.armed.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.cuts.fetch_add(u64::from(cut.is_some()), Ordering::SeqCst);
        cut
    }
}
