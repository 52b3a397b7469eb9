//! Large pages: memory that is set aside for a roomy server, as docs/guides/operate.md advises, and given back at its end.
//!
//! PostgreSQL takes them by itself if there are enough when it starts. Where they cannot be had, it does without.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use crate::line::Line;

/// Beside its buffers a server shares this part of them among its processes.
const BESIDE_PART: u64 = 10;

/// Large pages that are set aside until this is dropped, or this process ends.
pub(super) struct Pages(Child);

impl Pages {
    /// Sets aside what a server with so many megabytes of buffers takes, by what the system says of its memory.
    pub(super) fn set_aside(megabytes: u64, memory: &str) -> Option<Self> {
        let count = count(megabytes, memory)?;
        let count = count.to_string();
        let words = ["sh", "-c", include_str!("pages.sh"), "pages", count.as_str()].map(str::to_owned);
        let mut command = Line::new(words).command();
        // A process group of its own: Ctrl-C in the terminal must not end it before it has given them back.
        command.process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut said).ok()?;
        let pages = Self(child);
        if said.trim() != "ready" {
            eprintln!("   {count} large pages cannot be set aside: the server takes ordinary ones");
            return None;
        }
        eprintln!("   {count} large pages are set aside for the server, until it ends");
        Some(pages)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        if let Err(error) = self.0.wait() {
            eprintln!("error: large pages may still be set aside: {error}");
        }
    }
}

/// How many pages that is.
fn count(megabytes: u64, memory: &str) -> Option<u64> {
    let size = memory.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    let kilobytes: u64 = size.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((megabytes + megabytes / BESIDE_PART) * 1024 / kilobytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_and_what_is_beside_them_are_counted_in_pages() {
        assert_eq!(count(6015, "HugePages_Free:  0\nHugepagesize:       2048 kB\n"), Some(3308));
        assert_eq!(count(6015, "Hugepagesize:  1048576 kB\n"), Some(6));
        assert_eq!(count(6015, "MemTotal: 1 kB\n"), None);
    }
}
