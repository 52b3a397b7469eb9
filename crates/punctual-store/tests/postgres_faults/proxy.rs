//! A line to the server that is cut around a chosen commit.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// The simple query `COMMIT` as the protocol writes it: kind, length, text, end.
const COMMIT: &[u8] = b"Q\x00\x00\x00\x0bCOMMIT\x00";

/// When the line is cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The commit never reaches the server.
    Before,
    /// The server has committed; its answer never comes back.
    After,
    /// The commit waits on the way and the line stays, as that of a process that was stopped does.
    Stopped,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    is_armed: Arc<AtomicBool>,
}

impl Proxy {
    /// Listens and hands everything on, until it is armed.
    pub(crate) async fn start(server: String, cut: Cut) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("the ground of the test holds");
        let proxy = Self {
            address: listener.local_addr().expect("the ground of the test holds"),
            is_armed: Arc::default(),
        };
        let is_armed = Arc::clone(&proxy.is_armed);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (client_in, client_out) = client.into_split();
                let (server_in, server_out) =
                    TcpStream::connect(&server).await.expect("the ground of the test holds").into_split();
                let is_cut = Arc::new(AtomicBool::new(false));
                let back = tokio::spawn(hand_back(server_in, client_out, Arc::clone(&is_cut)));
                let armed = Arc::clone(&is_armed);
                tokio::spawn(async move {
                    let line = Line { cut, armed, is_cut };
                    line.hand_on(client_in, server_out).await;
                    // Whatever the client sent last is answered or the line is cut: both ends go together.
                    if cut == Cut::Before {
                        back.abort();
                    }
                });
            }
        });
        proxy
    }

    /// Cuts the line at the next commit, once.
    pub(crate) fn arm(&self) {
        self.is_armed.store(true, Ordering::SeqCst);
    }
}

struct Line {
    cut: Cut,
    armed: Arc<AtomicBool>,
    is_cut: Arc<AtomicBool>,
}

impl Line {
    async fn hand_on(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
            let is_commit = buffer[..count].windows(COMMIT.len()).any(|part| part == COMMIT);
            if is_commit && self.armed.swap(false, Ordering::SeqCst) {
                match self.cut {
                    Cut::Before => return,
                    Cut::After => self.is_cut.store(true, Ordering::SeqCst),
                    Cut::Stopped => std::future::pending().await,
                }
            }
            if to.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    }
}

/// Hands answers back; after a cut it waits for the answer, which tells that the commit happened, and swallows it.
async fn hand_back(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, is_cut: Arc<AtomicBool>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if is_cut.load(Ordering::SeqCst) || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
