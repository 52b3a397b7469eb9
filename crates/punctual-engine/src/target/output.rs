//! What a program prints, kept within bounds: the end of it, where errors say what went wrong.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Mutex;

use crate::LiveOutput;

/// How much of the output is kept.
const BYTES_MAX: usize = 16 * 1024;

/// The last [`BYTES_MAX`] bytes of what both streams carried.
#[derive(Default)]
pub(super) struct Tail {
    kept: Mutex<Kept>,
    live: LiveOutput,
}

#[derive(Default)]
struct Kept {
    bytes: VecDeque<u8>,
    dropped: usize,
}

impl Tail {
    /// An empty one that shows what it gets.
    pub(super) fn shown_in(live: LiveOutput) -> Self {
        Self { kept: Mutex::default(), live }
    }

    /// Reads a stream to its end.
    pub(super) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        // A stream that fails has ended as far as we can tell.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(&buffer[..count]).await;
        }
    }

    async fn push(&self, bytes: &[u8]) {
        self.live.push(bytes);
        let mut kept = self.kept.lock().await;
        kept.bytes.extend(bytes);
        let excess = kept.bytes.len().saturating_sub(BYTES_MAX);
        kept.bytes.drain(..excess);
        kept.dropped += excess;
    }

    /// The text, with a first line that says how much is missing before it.
    pub(super) async fn text(&self) -> Option<String> {
        let mut kept = self.kept.lock().await;
        let text = String::from_utf8_lossy(kept.bytes.make_contiguous()).into_owned();
        match (text.is_empty(), kept.dropped) {
            (true, _) => None,
            (false, 0) => Some(text),
            (false, dropped) => Some(format!("[{dropped} bytes before this were not kept]\n{text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_end_of_a_long_output_is_kept_and_it_says_so() {
        let tail = Tail::default();
        tail.follow(&b"first\n"[..]).await;
        assert_eq!(tail.text().await.as_deref(), Some("first\n"));
        tail.follow(&[b'x'; BYTES_MAX][..]).await;
        let text = tail.text().await.expect("something was printed");
        assert!(text.starts_with("[6 bytes before this were not kept]\nxxx"));
        assert_eq!(text.matches('x').count(), BYTES_MAX);
    }
}
