//! The ledger and the audit log as lines that a person can read and a file can hold.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual_plan::{Origin, Run, RunStatus, Simulated};

/// How instants are written.
pub(crate) struct Clock {
    pub(crate) zone: TimeZone,
    pub(crate) format: &'static str,
}

impl Clock {
    pub(crate) fn say(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime(self.format).to_string()
    }

    fn attempts(&self, run: &Run) -> String {
        let one = |attempt: &punctual_plan::Attempt| {
            let end = attempt.ended_at.map_or("…".to_owned(), |end| self.say(end));
            format!(" [{}-{end}]", self.say(attempt.started_at))
        };
        run.attempts.iter().map(one).collect()
    }

    fn state(&self, run: &Run) -> String {
        let mut said = run.state.status().to_string();
        if let Some(reason) = run.state.reason() {
            said += &format!(" {}", reason.code());
        }
        said
    }

    /// A row without its tick.
    fn row(&self, run: &Run) -> String {
        let origin = if run.origin == Origin::Tick { String::new() } else { format!(" ({})", run.origin) };
        let waited = run.waited.as_ref().filter(|_| run.state.status() != RunStatus::Waiting);
        let waited = waited.map_or(String::new(), |waited| format!(" waited {}", self.say(waited.since)));
        format!("{}{origin}{waited}{}", self.state(run), self.attempts(run))
    }

    /// The entries of each schedule in the order of their ticks; neighbours that are alike are one line.
    pub(crate) fn ledger(&self, simulated: &Simulated) -> Vec<String> {
        let mut lines = Vec::new();
        for account in &simulated.accounts {
            let name = &account.schedule().name;
            let mut entries: Vec<(Timestamp, Timestamp, u64, String)> = account
                .runs
                .iter()
                .map(|run| (run.scheduled_for, run.scheduled_for, 1, self.row(run)))
                .collect();
            entries.extend(account.ranges.iter().map(|record| {
                let said = format!("{} {} as a range", record.end().status(), record.end().reason().code());
                (record.range.first, record.range.last, record.range.count, said)
            }));
            entries.sort_by_key(|entry| entry.0);
            entries.dedup_by(|next, entry| {
                let is_alike = next.3 == entry.3 && !entry.3.contains("range");
                if is_alike {
                    (entry.1, entry.2) = (next.1, entry.2 + next.2);
                }
                is_alike
            });
            lines.extend(entries.iter().map(|(first, last, count, said)| match count {
                1 => format!("{name} {} {said}", self.say(*first)),
                _ => format!("{name} {}..{} {count} {said}", self.say(*first), self.say(*last)),
            }));
        }
        lines
    }
}
