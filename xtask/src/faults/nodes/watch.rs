//! What the database says of its nodes, asked with psql: who holds which shards, and what a lost lease left in flight.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::failure::Failure;
use crate::ground::postgres::Server;

/// The virtual shards of an installation.
const SHARDS: f64 = 256.0;

/// How far a node's share may be from an even one.
const UNEVEN_MAX: f64 = 0.2;

/// How often it is looked whether somebody has taken up what was left.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// After this long nobody does.
const TAKEN_MAX: Duration = Duration::from_secs(30);

/// The shards of each living node.
pub(super) struct Shares(Vec<(u32, u32)>);

impl Shares {
    /// Asks for them.
    pub(super) fn now(server: &Server) -> Result<Self, Failure> {
        pairs(&server.psql(include_str!("shards.sql"))?).map(Self)
    }

    /// Whether `count` nodes share all shards, each within a fifth of an even share.
    pub(super) fn is_even(&self, count: usize) -> bool {
        let fair = SHARDS / count.max(1) as f64;
        let sum: u32 = self.0.iter().map(|(_, shards)| shards).sum();
        let is_fair = |(_, shards): &(u32, u32)| (f64::from(*shards) - fair).abs() <= fair * UNEVEN_MAX;
        self.0.len() == count && f64::from(sum) >= SHARDS && self.0.iter().all(is_fair)
    }
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shares = self.0.iter().map(|(_, shards)| shards.to_string());
        f.write_str(&shares.collect::<Vec<_>>().join("+"))
    }
}

/// A run in flight.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Held {
    run: u32,
    attempt: u32,
}

/// A lease that a process has.
#[derive(Clone)]
pub(super) struct Lease {
    pub(super) fence: u32,
    pub(super) shards: Vec<u32>,
}

impl Lease {
    /// The newest one of a process.
    pub(super) fn of(server: &Server, pid: u32) -> Result<Self, Failure> {
        let text = server.psql(&include_str!("owned.sql").replace(":pid", &pid.to_string()))?;
        let rows: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let number = |text: &str| text.parse::<u32>().ok();
        let fence = rows.first().and_then(|row| number(row.split('|').next()?));
        let fence = fence.ok_or_else(|| strange(&text))?;
        Ok(Self { fence, shards: rows.iter().filter_map(|row| number(row.split('|').nth(1)?)).collect() })
    }

    /// The runs in flight under it, each with its attempt.
    pub(super) fn held(&self, server: &Server) -> Result<Vec<Held>, Failure> {
        let text = server.psql(&include_str!("held.sql").replace(":fence", &self.fence.to_string()))?;
        Ok(pairs(&text)?.into_iter().map(|(run, attempt)| Held { run, attempt }).collect())
    }

    /// How long it takes from `since` on until others have taken up what is in flight under it.
    pub(super) fn taken_up(&self, server: &Server, since: Instant) -> Result<Duration, Failure> {
        while !self.held(server)?.is_empty() {
            if since.elapsed() > TAKEN_MAX {
                let what = format!("what fence {} left in flight was taken up by nobody", self.fence);
                return Err(Failure::new(what, "is there a node left?"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(since.elapsed())
    }
}

/// Lines of two numbers.
fn pairs(text: &str) -> Result<Vec<(u32, u32)>, Failure> {
    let pair = |line: &str| {
        let (first, second) = line.split_once('|')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    };
    text.lines().filter(|line| !line.is_empty()).map(|line| pair(line).ok_or_else(|| strange(line))).collect()
}

fn strange(text: &str) -> Failure {
    Failure::new(format!("the database said something strange: `{text}`"), "is the schema another one?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_within_a_fifth_and_only_if_all_are_held() {
        let check = |text: &str, count: usize, expected: bool| {
            let shares = Shares(pairs(text).expect("numbers"));
            assert_eq!(shares.is_even(count), expected, "{text:?}");
        };
        check("1|128\n2|128\n", 2, true);
        check("1|150\n2|106\n", 2, true);
        check("1|160\n2|96\n", 2, false);
        check("1|128\n2|120\n", 2, false);
        check("1|86\n2|85\n3|85\n", 3, true);
        check("1|86\n2|85\n3|85\n", 2, false);
        check("", 1, false);
        assert_eq!(Shares(vec![(7, 86), (8, 170)]).to_string(), "86+170");
    }
}
