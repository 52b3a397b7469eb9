//! What is answered: the same facts as JSON and as lines for people.

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Timing, Zone, describe as english, human};
use serde_json::{Map, Value, json};

use super::request::{Refusal, Request, Sentence, instant, zone};

/// How many ticks are shown unless told otherwise.
const TICKS: u32 = 5;

/// More ticks than this are refused: nobody reads them, and a batch stays bounded.
const TICKS_MAX: u32 = 100_000;

/// An answer in both forms.
pub struct Answer {
    /// For programs.
    pub json: Value,
    /// For people.
    pub text: String,
}

/// The next ticks of a spec.
///
/// # Errors
/// When it cannot be meant.
pub fn next(request: &Request, now: Timestamp) -> Result<Answer, Refusal> {
    let timing = request.timing(now)?;
    Ok(listed("next", &timing, &upcoming(&timing, request, now)?))
}

/// The last ticks of a spec before an instant, newest first.
///
/// # Errors
/// When it cannot be meant.
pub fn prev(request: &Request, now: Timestamp) -> Result<Answer, Refusal> {
    let timing = request.timing(now)?;
    if request.every.is_some() && request.start_at.is_none() {
        let message = "an interval has no past before it begins";
        return Err(Refusal::new("no_start", message, "say when it begins with `start_at`"));
    }
    let mut before = request.from(now)?;
    if request.inclusive {
        before = before.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX);
    }
    let count = count(request)?;
    let ticks =
        std::iter::successors(timing.prev(before), |tick| timing.prev(*tick)).take(count).collect::<Vec<_>>();
    Ok(listed("prev", &timing, &ticks))
}

/// A spec in English.
///
/// # Errors
/// When it cannot be meant.
pub fn describe(request: &Request, now: Timestamp) -> Result<Answer, Refusal> {
    let text = english::timing(&request.timing(now)?);
    Ok(Answer { json: json!({"describe": text}), text: text + "\n" })
}

/// Whether a spec is one, with its next runs.
///
/// # Errors
/// When it cannot be meant.
pub fn validate(request: &Request, now: Timestamp) -> Result<Answer, Refusal> {
    let timing = request.timing(now)?;
    let ticks = upcoming(&timing, request, now)?;
    let next: Vec<String> = ticks.iter().map(|tick| stamp(*tick, &timing.zone)).collect();
    let shown: String = ticks.iter().map(|tick| format!("  {}\n", day_line(*tick, &timing.zone))).collect();
    let heading = match ticks.len() {
        0 => "Valid. No runs from here on.\n".to_owned(),
        1 => "Valid. Next run:\n".to_owned(),
        many => format!("Valid. Next {many} runs:\n"),
    };
    Ok(Answer {
        json: json!({"valid": true, "next": next, "describe": english::timing(&timing)}),
        text: heading + &shown,
    })
}

/// Whether an instant is a tick, field by field.
///
/// # Errors
/// When it cannot be meant.
pub fn explain(request: &Request, now: Timestamp) -> Result<Answer, Refusal> {
    let Some(at) = &request.at else {
        return Err(Refusal::new(
            "no_instant",
            "no instant is given",
            "write it as `--at 2026-12-24T18:00:00Z`",
        ));
    };
    let at = instant(at, &request.zone()?, "at")?;
    let timing = Request { at: None, ..request.clone() }.timing(now)?;
    let why = timing.explain(at);
    let checks: Vec<Value> =
        why.checks.iter().map(|check| json!({"holds": check.holds, "text": check.text})).collect();
    let json = json!({"at": stamp(at, &timing.zone), "matches": why.is_tick, "checks": checks});
    Ok(Answer { json, text: why.to_string() })
}

/// What a sentence says.
///
/// # Errors
/// When it cannot be meant.
pub fn parse(sentence: &Sentence, now: Timestamp) -> Result<Answer, Refusal> {
    let Some(text) = &sentence.text else {
        return Err(Refusal::new("no_text", "there is no text", "give it as `text`"));
    };
    let zone = zone(sentence.tz.as_deref())?;
    let now = sentence.now.as_deref().map_or(Ok(now), |text| instant(text, &zone, "now"))?;
    let context = human::Context { now, zone };
    let parsed = human::parse(text, &context)?;
    let describe = english::parsed(&parsed, &context)?;
    let zone = parsed.timezone.as_deref().unwrap_or(context.zone.name());
    let text = lines(&parsed, zone, &describe);
    Ok(Answer { json: fields(&parsed, &describe), text })
}

/// Only what applies.
fn fields(parsed: &human::Parsed, describe: &str) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), json!(value));
        }
    };
    put("cron", &parsed.cron);
    put("every", &parsed.every);
    put("at", &parsed.at);
    put("start_at", &parsed.start_at);
    put("end_at", &parsed.end_at);
    put("only_between", &parsed.only_between);
    put("timezone", &parsed.timezone);
    for (name, list) in [("not_on", &parsed.not_on), ("assumed", &parsed.assumed)] {
        if !list.is_empty() {
            fields.insert(name.to_owned(), json!(list));
        }
    }
    fields.insert("describe".to_owned(), json!(describe));
    Value::Object(fields)
}

/// `0 9 * * 1-5 (America/New_York)`, then what limits it, what it says and what was assumed.
fn lines(parsed: &human::Parsed, zone: &str, describe: &str) -> String {
    let spec =
        [&parsed.cron, &parsed.every, &parsed.at].into_iter().flatten().next().cloned().unwrap_or_default();
    let limits = [
        ("start_at", parsed.start_at.clone()),
        ("end_at", parsed.end_at.clone()),
        ("only_between", parsed.only_between.clone()),
        ("not_on", (!parsed.not_on.is_empty()).then(|| parsed.not_on.join(", "))),
    ];
    let mut text = format!("{spec} ({zone})\n");
    for (name, value) in limits {
        text.extend(value.map(|value| format!("{name}: {value}\n")));
    }
    text.push_str(&format!("{describe}\n"));
    text.extend(parsed.assumed.iter().map(|sentence| format!("assumed: {sentence}\n")));
    text
}

fn count(request: &Request) -> Result<usize, Refusal> {
    match request.count.unwrap_or(TICKS) {
        count if count <= TICKS_MAX => Ok(count as usize),
        count => Err(Refusal::new(
            "count_too_large",
            format!("{count} ticks are too many"),
            format!("ask for at most {TICKS_MAX}"),
        )),
    }
}

/// The ticks after the instant that was asked for, suppressed ones left out.
fn upcoming(timing: &Timing, request: &Request, now: Timestamp) -> Result<Vec<Timestamp>, Refusal> {
    let mut from = request.from(now)?;
    if request.inclusive {
        from = from.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MIN);
    }
    let count = count(request)?;
    Ok(std::iter::successors(timing.next(from), |tick| timing.next(*tick)).take(count).collect())
}

fn listed(name: &str, timing: &Timing, ticks: &[Timestamp]) -> Answer {
    let stamps: Vec<String> = ticks.iter().map(|tick| stamp(*tick, &timing.zone)).collect();
    let text = if stamps.is_empty() { "no tick\n".to_owned() } else { stamps.join("\n") + "\n" };
    Answer { json: json!({name: stamps}), text }
}

/// RFC 3339 with the offset of the zone.
fn stamp(at: Timestamp, zone: &Zone) -> String {
    if zone.name() == "UTC" {
        return at.to_string();
    }
    at.to_zoned(zone.to_jiff()).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string()
}

/// `2025-01-07 09:00 UTC (Tue)`; seconds only where there are some.
fn day_line(at: Timestamp, zone: &Zone) -> String {
    let local = at.to_zoned(zone.to_jiff());
    let format = if local.second() == 0 { "%Y-%m-%d %H:%M %Z (%a)" } else { "%Y-%m-%d %H:%M:%S %Z (%a)" };
    local.strftime(format).to_string()
}
