//! What a program prints, kept within bounds: its beginning and its end, and a line between them that says what is not.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_store::OUTPUT_MAX;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::redact::Redactor;
use crate::LiveOutput;

/// How much of the beginning is kept.
const HEAD_MAX: usize = 16 * 1024;

/// Room for the line between the beginning and the end.
const LINE_MAX: usize = 128;

/// How much of the end is kept, where errors say what went wrong.
const TAIL_MAX: usize = OUTPUT_MAX - HEAD_MAX - LINE_MAX;

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// What a program printed on both of its streams.
#[derive(Default)]
pub(super) struct Kept {
    bytes: Mutex<Bytes>,
    /// Who is shown it while it comes.
    live: LiveOutput,
}

#[derive(Default)]
struct Bytes {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many came between the two.
    missing: u64,
}

impl Kept {
    /// Keeps what is printed, and shows it as it comes.
    pub(super) fn shown_in(live: LiveOutput) -> Self {
        Self { bytes: Mutex::default(), live }
    }

    /// Reads a stream to its end, hiding what nobody may see. It never stops reading, however much comes.
    pub(super) async fn follow(&self, mut stream: impl AsyncRead + Unpin, mut redactor: Redactor) {
        let mut buffer = vec![0; CHUNK];
        // A stream that fails has ended as far as we can tell.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(&redactor.pass(&buffer[..count]));
        }
        self.push(&redactor.finish());
    }

    fn push(&self, bytes: &[u8]) {
        self.bytes().push(bytes);
        self.live.push(bytes);
    }

    fn bytes(&self) -> MutexGuard<'_, Bytes> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text, at most [`OUTPUT_MAX`] bytes of it; nothing if nothing was printed.
    pub(super) fn text(&self) -> Option<String> {
        let bytes = self.bytes();
        if bytes.head.is_empty() {
            return None;
        }
        let mut text = readable(&bytes.head, HEAD_MAX, Side::Beginning);
        if bytes.missing > 0 {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            // Writing into a text cannot fail.
            let _ = writeln!(text, "{end}[{} bytes are not kept]", bytes.missing);
        }
        let (first, second) = bytes.tail.as_slices();
        text.push_str(&readable(&[first, second].concat(), TAIL_MAX, Side::End));
        Some(text)
    }
}

impl Bytes {
    fn push(&mut self, mut bytes: &[u8]) {
        let room = HEAD_MAX - self.head.len();
        let first = room.min(bytes.len());
        self.head.extend_from_slice(&bytes[..first]);
        bytes = &bytes[first..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(TAIL_MAX);
        self.missing += excess as u64;
        let from_tail = excess.min(self.tail.len());
        self.tail.drain(..from_tail);
        self.tail.extend(&bytes[excess - from_tail..]);
    }
}

#[derive(Clone, Copy)]
enum Side {
    Beginning,
    End,
}

/// Bytes as text: what is no UTF-8 is shown as such, which may take more room than there is.
fn readable(bytes: &[u8], room: usize, side: Side) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= room {
        return text.into_owned();
    }
    match side {
        Side::Beginning => text[..text.floor_char_boundary(room)].to_owned(),
        Side::End => text[text.ceil_char_boundary(text.len() - room)..].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn kept(chunks: &[&[u8]]) -> Option<String> {
        let kept = Kept::default();
        for chunk in chunks {
            kept.follow(*chunk, Redactor::default()).await;
        }
        kept.text()
    }

    #[tokio::test]
    async fn a_short_output_is_kept_whole() {
        assert_eq!(kept(&[]).await, None);
        assert_eq!(kept(&[b"first\n", b"second"]).await.as_deref(), Some("first\nsecond"));
        let long = vec![b'x'; HEAD_MAX + TAIL_MAX];
        assert_eq!(kept(&[&long]).await.map(|text| text.len()), Some(long.len()));
    }

    #[tokio::test]
    async fn what_comes_is_shown_at_once_without_what_nobody_may_see() {
        let live = LiveOutput::default();
        let kept = Kept::shown_in(live.clone());
        kept.follow(&b"the key fits"[..], Redactor::new(&["key".to_owned()])).await;
        assert_eq!(live.take_new().as_deref(), Some("the *** fits"));
    }

    #[tokio::test]
    async fn of_a_long_output_both_ends_are_kept_and_a_line_says_what_is_not() {
        let long = vec![b'x'; HEAD_MAX + TAIL_MAX + 100];
        let text = kept(&[b"begin", &long, b"end"]).await.expect("something was printed");
        assert!(text.starts_with("beginx") && text.ends_with("xend"));
        assert!(text.contains("x\n[108 bytes are not kept]\nx"), "{}", text.replace('x', ""));
        assert!(text.len() <= OUTPUT_MAX);
    }

    #[tokio::test]
    async fn what_is_no_text_takes_no_more_room_than_there_is() {
        let text = kept(&[&vec![0xff; 1 << 20]]).await.expect("something was printed");
        assert!(text.len() <= OUTPUT_MAX && text.starts_with('\u{fffd}') && text.ends_with('\u{fffd}'));
    }
}
