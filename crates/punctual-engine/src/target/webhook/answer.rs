//! Answers: what a receiver says decides how the attempt ended.

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use punctual_plan::Outcome;
use serde_json::Value;

use super::super::redact::Redactor;
use super::send::{Answer, End, Sent};
use crate::Finished;

/// How much of an answer is kept.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// How long the name may be that an executor gives a run.
const EXECUTOR_BYTES_MAX: usize = 200;

/// What receivers answer that take a run and report its end later.
const ACCEPTED: u16 = 202;

/// How an attempt ended, or that somebody else will say so.
pub(super) enum Heard {
    /// It ended.
    Ended(Finished),
    /// The receiver has taken it; what it calls the run.
    Accepted { executor_run_id: String },
}

/// Judges what became of a request.
pub(super) fn judge(sent: Sent, redactor: &Redactor, now: Timestamp) -> Heard {
    let outcome = match sent {
        Sent::Answer(answer) => return judge_answer(answer, redactor, now),
        Sent::OutOfReach { address, url } => Outcome::AddressRefused { address, url: redactor.text(&url) },
        Sent::Unsent(error) => Outcome::LaunchFailed { error: redactor.text(&error) },
        Sent::Unanswered(error) => Outcome::Unanswered { error: redactor.text(&error) },
    };
    Heard::Ended(Finished::of(outcome))
}

fn judge_answer(answer: Answer, redactor: &Redactor, now: Timestamp) -> Heard {
    let Answer { code, retry_after, url, host, bytes, end, note } = answer;
    let url = redactor.text(&url);
    let outcome = match (code, &end) {
        // Only a whole answer is a success: half of one may come from somebody who fell over.
        (200..=299, End::Broken(error)) => {
            Outcome::Unanswered { error: redactor.text(&format!("{url} answered {code}, but {error}")) }
        }
        (ACCEPTED, _) => {
            let name = executor_run_id(&bytes).unwrap_or(host);
            return Heard::Accepted { executor_run_id: redactor.text(&name) };
        }
        (200..=299, _) => Outcome::Succeeded,
        _ => {
            let retry_at = retry_after.and_then(|text| retry_at(&text, now));
            Outcome::Answered { code: u32::from(code), retry_at, url }
        }
    };
    let output = kept(&bytes, &end, redactor);
    let output = match note {
        Some(note) => Some(format!("[not followed: {note}]\n{}", output.unwrap_or_default())),
        None => output,
    };
    Heard::Ended(Finished { outcome, output })
}

/// What is kept of a body: its beginning, without what nobody may see.
fn kept(bytes: &[u8], end: &End, redactor: &Redactor) -> Option<String> {
    if bytes.is_empty() {
        return None;
    }
    let mut text = redactor.text(&String::from_utf8_lossy(bytes));
    // No column of text holds a NUL.
    text.retain(|letter| letter != '\0');
    let is_long = text.len() > KEPT_BYTES_MAX || matches!(end, End::Cut);
    text.truncate(text.floor_char_boundary(KEPT_BYTES_MAX));
    if is_long {
        text.push_str("\n[the rest of the answer is not kept]\n");
    }
    Some(text)
}

/// What an executor calls the run: `run_id` of its answer.
fn executor_run_id(bytes: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(bytes).ok()?;
    let mut name = answer.get("run_id")?.as_str()?.replace('\0', "");
    name.truncate(name.floor_char_boundary(EXECUTOR_BYTES_MAX));
    (!name.is_empty()).then_some(name)
}

/// When `Retry-After` says: in so many seconds, or at a date.
fn retry_at(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text.parse().unwrap_or(i64::MAX);
        return Some(now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX));
    }
    DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let now = at("2026-11-15T10:00:00Z");
        for (text, expected) in [
            ("120", Some("2026-11-15T10:02:00Z")),
            (" 0 ", Some("2026-11-15T10:00:00Z")),
            ("Sun, 15 Nov 2026 10:30:00 GMT", Some("2026-11-15T10:30:00Z")),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("soon", None),
            ("-5", None),
            ("", None),
        ] {
            assert_eq!(retry_at(text, now), expected.map(at), "{text}");
        }
        assert_eq!(retry_at("99999999999999999999", now), Some(Timestamp::MAX));
    }

    #[test]
    fn an_executor_may_name_the_run() {
        assert_eq!(executor_run_id(br#"{"run_id": "wf-7"}"#).as_deref(), Some("wf-7"));
        for other in [&b"{}"[..], b"run_id", br#"{"run_id": 7}"#, br#"{"run_id": ""}"#] {
            assert_eq!(executor_run_id(other), None);
        }
    }

    #[test]
    fn the_beginning_of_an_answer_is_kept_without_secrets() {
        let redactor = Redactor::new(&["s3cr3t".to_owned()]);
        assert_eq!(kept(b"", &End::Whole, &redactor), None);
        assert_eq!(kept(b"a s3cr3t\0!", &End::Whole, &redactor).as_deref(), Some("a ***!"));
        let long = kept(&vec![b'x'; 60_000], &End::Cut, &redactor).expect("something");
        assert!(
            long.len() < KEPT_BYTES_MAX + 100 && long.ends_with("x\n[the rest of the answer is not kept]\n")
        );
    }
}
