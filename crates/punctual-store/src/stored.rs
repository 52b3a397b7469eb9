//! How small things are written in columns: one form for every database, so that one can be copied into another.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Action, Chain, ChainOn, Facts, NonFire, Object, OrgLimit, OrgLimits, OrgUse, OverLimit, Owner, Reason,
    RunKey, RunStatus, Schedule, ScheduleId, Status, Trace, Wait, Waiting, When, message_event, message_id,
};
use punctual_time::{Once, Spec, Timing, Zone};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::instant::from_micros;
use crate::{ANSWER_MARGIN_S, Commit, Error, Launchable, OUTPUT_MAX, SHARDS, UseKind};

/// Between values that are free text.
const UNIT: char = '\u{1f}';

/// What a status carries, for the column `status_detail`.
pub(crate) fn status_detail(status: &Status) -> String {
    match status {
        Status::Active => String::new(),
        Status::PausedManual { by, note } => format!("{by}{UNIT}{note}"),
        // Nobody's name is empty and followed by a name.
        Status::Maintenance { by, note } => format!("{UNIT}{by}{UNIT}{note}"),
        Status::PausedInvalid { error } => error.clone(),
        Status::AutoDisabled { failures } => failures.to_string(),
        Status::Exhausted { at } => at.as_microsecond().to_string(),
    }
}

/// Reads a status from its two columns.
pub(crate) fn read_status(name: &str, detail: &str) -> Result<Status, Error> {
    let number =
        || detail.parse::<i64>().map_err(|_| Error::corrupt(format!("`{detail}` of status `{name}`")));
    Ok(match name {
        "active" => Status::Active,
        "paused_manual" => {
            let said = detail.strip_prefix(UNIT);
            let (by, note) = said.unwrap_or(detail).split_once(UNIT).unwrap_or((detail, ""));
            let (by, note) = (by.to_owned(), note.to_owned());
            match said {
                Some(_) => Status::Maintenance { by, note },
                None => Status::PausedManual { by, note },
            }
        }
        "paused_invalid" => Status::PausedInvalid { error: detail.to_owned() },
        "auto_disabled" => Status::AutoDisabled { failures: u32::try_from(number()?).unwrap_or(u32::MAX) },
        "exhausted" => Status::Exhausted { at: from_micros(number()?)? },
        _ => return Err(Error::corrupt(format!("the status `{name}`"))),
    })
}

/// What a request adds to a payload, for the column `payload`.
pub(crate) fn payload_text(payload: &Object) -> String {
    serde_json::to_string(payload).expect("keys are text")
}

/// Reads what a request adds to a payload.
pub(crate) fn read_payload(text: Option<String>) -> Result<Option<Object>, Error> {
    let read = |text: String| serde_json::from_str(&text).map_err(|_| Error::corrupt("the payload of a run"));
    text.map(read).transpose()
}

/// What a run waits for, for the columns `wait_kind` and `wait_for`.
pub(crate) fn wait_columns(wait: &Wait) -> (&'static str, String) {
    match wait {
        Wait::Turn { behind } => ("turn", behind.0.to_string()),
        Wait::Upstream { schedule } => ("upstream", schedule.clone()),
        Wait::Limit { limit } => ("limit", limit.name().to_owned()),
        Wait::Room { target, again_at } => ("room", format!("{} {target}", again_at.as_microsecond())),
    }
}

/// Reads what a run waits for from its two columns.
pub(crate) fn read_wait(kind: &str, wanted: &str) -> Result<Wait, Error> {
    let unknown = || Error::corrupt(format!("a wait of kind `{kind}` for `{wanted}`"));
    match kind {
        "turn" => Ok(Wait::Turn { behind: RunKey(wanted.parse().map_err(|_| unknown())?) }),
        "upstream" => Ok(Wait::Upstream { schedule: wanted.to_owned() }),
        "room" => {
            let (again_at, target) = wanted.split_once(' ').ok_or_else(unknown)?;
            let again_at = from_micros(again_at.parse().map_err(|_| unknown())?)?;
            Ok(Wait::Room { target: target.to_owned(), again_at })
        }
        "limit" => Ok(Wait::Limit { limit: wanted.parse::<OrgLimit>().map_err(|_| unknown())? }),
        _ => Err(unknown()),
    }
}

/// The shard of a schedule.
pub(crate) fn shard_of(id: ScheduleId) -> u16 {
    let hash = Sha256::digest(id.to_string());
    u16::from_be_bytes([hash[0], hash[1]]) % SHARDS
}

/// How many runs a schedule has in all, if that is bounded.
pub(crate) fn max_runs(definition: &Schedule) -> Option<u64> {
    match &definition.when {
        When::Ticks(timing) => timing.bounds.max_runs,
        When::Chain(chain) => chain.bounds.max_runs,
    }
}

/// When a run that was admitted is given up if nobody answers for it.
pub(crate) fn answer_by(definition: &Schedule, admitted: Timestamp) -> Timestamp {
    admitted.saturating_add(patience(definition)).unwrap_or(Timestamp::MAX)
}

/// How long after its admission a run is given up if nobody answers for it.
pub(crate) fn patience(definition: &Schedule) -> SignedDuration {
    definition.policy.run_timeout.saturating_add(SignedDuration::from_secs(ANSWER_MARGIN_S))
}

/// When a waiting row wants to be looked at: at its deadline, when the next minute gives room, or when its target may
/// have room.
pub(crate) fn wait_look_at(waiting: &Waiting, now: Timestamp) -> Timestamp {
    match waiting.wait {
        Wait::Limit { limit: OrgLimit::PerMinute } => {
            let next = Timestamp::from_second((minute(now) + 1) * 60).unwrap_or(Timestamp::MAX);
            waiting.deadline.min(next)
        }
        Wait::Room { again_at, .. } => waiting.deadline.min(again_at),
        _ => waiting.deadline,
    }
}

/// What a schedule refers to, in order.
pub(crate) fn uses(definition: &Schedule) -> Vec<(UseKind, String)> {
    let mut uses = Vec::new();
    let windows = match &definition.when {
        When::Ticks(timing) => &timing.windows,
        When::Chain(chain) => {
            uses.push((UseKind::Chain, chain.upstream.to_string()));
            &chain.windows
        }
    };
    uses.extend(windows.calendars.iter().map(|one| (UseKind::Calendar, one.name().to_owned())));
    uses.extend(windows.quiet_hours.iter().map(|one| (UseKind::QuietHours, one.name.clone())));
    let depends = definition.policy.depends_on.iter().flat_map(|depends| &depends.on);
    uses.extend(depends.map(|id| (UseKind::Dependency, id.to_string())));
    // Schedules that share a lane find each other by it.
    uses.extend(definition.policy.lane.iter().map(|lane| (UseKind::Lane, lane.clone())));
    uses.sort();
    uses.dedup();
    uses
}

/// `schedules.tags`: a JSON list.
pub(crate) fn tags_text(tags: &[String]) -> String {
    serde_json::to_string(tags).expect("strings can always be written")
}

/// The limits of an org, as the body of its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Limits {
    pub(crate) runs_per_minute: Option<u32>,
    pub(crate) runs_in_flight: Option<u32>,
    #[serde(deserialize_with = "over")]
    pub(crate) over: OverLimit,
    pub(crate) schedules: Option<u64>,
}

fn over<'de, D: serde::Deserializer<'de>>(from: D) -> Result<OverLimit, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl Limits {
    /// Reads the body of the document `org`.
    pub(crate) fn read(body: &str) -> Result<Self, Error> {
        serde_json::from_str(body).map_err(|error| Error::corrupt(format!("the limits of an org: {error}")))
    }

    /// With what is used of them.
    pub(crate) fn with_use(&self, per_minute: u32, in_flight: u32) -> OrgUse {
        let limits = OrgLimits {
            per_minute_max: self.runs_per_minute,
            in_flight_max: self.runs_in_flight,
            over: self.over,
        };
        OrgUse { limits, per_minute, in_flight }
    }
}

/// `run_ranges.counts`: a JSON object of states and numbers.
pub(crate) fn counts_text(counts: &[(RunStatus, u64)]) -> String {
    let counts: BTreeMap<&str, u64> = counts.iter().map(|(status, count)| (status.name(), *count)).collect();
    serde_json::to_string(&counts).expect("names and numbers can always be written")
}

/// Reads the counts of a digest.
pub(crate) fn read_counts(text: &str) -> Result<Vec<(RunStatus, u64)>, Error> {
    let counts: BTreeMap<String, u64> =
        serde_json::from_str(text).map_err(|error| Error::corrupt(format!("counts `{text}`: {error}")))?;
    let status = |(name, count): (String, u64)| Ok((name.parse::<RunStatus>()?, count));
    let counts: Result<Vec<_>, punctual_plan::UnknownName> = counts.into_iter().map(status).collect();
    counts.map_err(|error| Error::corrupt(error.to_string()))
}

/// How a digest of rows past retention says what it is.
pub(crate) fn digest_end() -> NonFire {
    NonFire::Skipped(Reason::Superseded { by: "the digest that retention left".to_owned() })
}

/// Reads an end of a range back.
pub(crate) fn read_end(status: &str, reason: &str, detail: &str) -> Result<NonFire, Error> {
    let why = Reason::from_stored(reason, detail).map_err(|error| Error::corrupt(error.to_string()))?;
    match status {
        "skipped" => Ok(NonFire::Skipped(why)),
        "missed" => Ok(NonFire::Missed(why)),
        _ => Err(Error::corrupt(format!("a range cannot be `{status}`"))),
    }
}

/// The minute of an instant, for `org_use.minute`.
pub(crate) fn minute(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

/// A message that is written with the admission of its run.
pub(crate) struct Letter {
    /// Its id for brokers that deduplicate.
    pub(crate) id: String,
    /// What it says, as JSON.
    pub(crate) body: String,
}

/// The message of a run that is admitted now, if its target is one.
pub(crate) fn letter_of(launch: &Launchable, now: Timestamp) -> Option<Letter> {
    let Action::Message { message } = &launch.definition.target.action else { return None };
    let facts = Facts {
        schedule: &launch.definition,
        run: launch.run,
        origin: launch.origin,
        nonce: &launch.nonce,
        scheduled_for: launch.scheduled_for,
        fire_at: launch.fire_at,
        triggered_at: now,
        attempt: launch.attempt,
        trace: launch.trace,
    };
    let body = serde_json::Value::Object(message_event(message, &facts)).to_string();
    Some(Letter { id: message_id(&facts), body })
}

/// The trace of a run, as its column has it. One that cannot be read is none: no run is held up by it.
pub(crate) fn read_trace(text: Option<&str>) -> Option<Trace> {
    text?.parse().ok()
}

/// The queue of a run, if its target is one.
pub(crate) fn queue_of(definition: &Schedule) -> Option<&str> {
    match &definition.target.action {
        Action::Queue(queue) => Some(&queue.queue),
        _ => None,
    }
}

/// What can be read of a definition that cannot be used: who it is, but not when it ticks.
pub(crate) fn remains(text: &str, version: i64) -> Schedule {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let said = |key: &str| value.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    let id = said("id").and_then(|id| id.parse().ok()).unwrap_or_default();
    let name = said("name").unwrap_or_default();
    let never = Timing::new(Spec::Once(Once::at(Timestamp::MIN)), Zone::utc());
    let schedule = Schedule::new(ScheduleId(id), &name, never, Action::Callback { task: String::new() });
    Schedule {
        version,
        spec: said("spec").unwrap_or_default(),
        owner: Owner { org_id: said("org_id").unwrap_or_default(), user_id: said("user_id") },
        description: said("description"),
        // Nothing comes of it: it follows a schedule that does not exist.
        when: When::Chain(Chain::new(ScheduleId(uuid::Uuid::nil()), ChainOn::Finish)),
        ..schedule
    }
}

/// Keeps the beginning and the end of what a run printed.
pub(crate) fn bounded_output(output: &str) -> String {
    const CUT: &str = "\n[…]\n";
    // A NUL is what one database cannot hold and nobody reads.
    if output.len() <= OUTPUT_MAX {
        return output.replace('\0', "?");
    }
    let half = (OUTPUT_MAX - CUT.len()) / 2;
    let head = output.floor_char_boundary(half);
    let tail = output.ceil_char_boundary(output.len() - half);
    format!("{}{CUT}{}", &output[..head], &output[tail..]).replace('\0', "?")
}

/// An event as it is sealed.
pub(crate) struct Sealing<'a> {
    pub(crate) seq: i64,
    pub(crate) org: i64,
    /// In microseconds.
    pub(crate) at: i64,
    pub(crate) actor: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) schedule: Option<i64>,
    pub(crate) run: Option<i64>,
    pub(crate) detail: &'a str,
}

impl Sealing<'_> {
    /// The hash of the event behind the one before it; the first has an empty one before it.
    pub(crate) fn hash(&self, before: &str) -> String {
        let number = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
        let line = [
            &self.seq.to_string(),
            &self.org.to_string(),
            &self.at.to_string(),
            self.actor.unwrap_or_default(),
            self.kind,
            &number(self.schedule),
            &number(self.run),
            self.detail,
        ]
        .join(&UNIT.to_string());
        hex(&Sha256::digest(format!("{before}\n{line}")))
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The answer to a batch, for the table `batches`: neighbouring equal commits are one number and one letter.
pub(crate) fn answer_of(commits: impl IntoIterator<Item = Commit>) -> String {
    let mut answer = String::new();
    let mut last: Option<(Commit, usize)> = None;
    let end = |last: Option<(Commit, usize)>, answer: &mut String| match last {
        Some((Commit::Done, count)) => answer.push_str(&format!("{count}d")),
        Some((Commit::Stale, count)) => answer.push_str(&format!("{count}s")),
        None => {}
    };
    for commit in commits {
        last = match last {
            Some((same, count)) if same == commit => Some((same, count + 1)),
            other => {
                end(other, &mut answer);
                Some((commit, 1))
            }
        };
    }
    end(last, &mut answer);
    answer
}

/// Reads the answer to a batch.
pub(crate) fn read_answer(answer: &str) -> Result<Vec<Commit>, Error> {
    let mut commits = Vec::new();
    let mut count = 0;
    for letter in answer.chars() {
        match letter {
            'd' => commits.extend(std::iter::repeat_n(Commit::Done, std::mem::take(&mut count))),
            's' => commits.extend(std::iter::repeat_n(Commit::Stale, std::mem::take(&mut count))),
            digit => {
                let digit =
                    digit.to_digit(10).ok_or_else(|| Error::corrupt(format!("the answer `{answer}`")))?;
                count = count * 10 + digit as usize;
            }
        }
    }
    Ok(commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_wait_reads_back() {
        let at = Timestamp::from_microsecond(1_772_359_200_500_001).unwrap();
        for status in [
            Status::Active,
            Status::PausedManual { by: "ada".to_owned(), note: "two words\nand a line".to_owned() },
            Status::Maintenance { by: "ada".to_owned(), note: "new disks".to_owned() },
            Status::PausedInvalid { error: "no zone".to_owned() },
            Status::AutoDisabled { failures: 5 },
            Status::Exhausted { at },
        ] {
            assert_eq!(read_status(status.name(), &status_detail(&status)).unwrap(), status);
        }
        for wait in [
            Wait::Turn { behind: RunKey(7) },
            Wait::Upstream { schedule: "load".to_owned() },
            Wait::Limit { limit: OrgLimit::PerMinute },
            Wait::Room { target: "a b".to_owned(), again_at: at },
        ] {
            let (kind, wanted) = wait_columns(&wait);
            assert_eq!(read_wait(kind, &wanted).unwrap(), wait);
        }
    }

    #[test]
    fn answers_read_back_and_are_short() {
        let commits = [Commit::Done, Commit::Done, Commit::Stale, Commit::Done];
        assert_eq!(answer_of(commits), "2d1s1d");
        assert_eq!(read_answer("2d1s1d").unwrap(), commits);
        assert_eq!(answer_of([]), "");
        assert!(read_answer("2x").is_err());
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let long = format!("begin{}end", "ä".repeat(OUTPUT_MAX));
        let kept = bounded_output(&long);
        assert!(kept.len() <= OUTPUT_MAX && kept.starts_with("begin") && kept.ends_with("end"));
        assert_eq!(bounded_output("short"), "short");
    }

    #[test]
    fn limits_read_what_is_set() {
        let limits = Limits::read(r#"{"runs_in_flight": 3, "over": "skip", "min_interval_ms": 5}"#).unwrap();
        assert_eq!((limits.runs_in_flight, limits.over), (Some(3), OverLimit::Skip));
        assert_eq!(Limits::read("{}").unwrap(), Limits::default());
        assert!(Limits::read(r#"{"over": "explode"}"#).is_err());
    }
}
