//! When a schedule fires: exactly one of the ways to say it, with zone, bounds and windows.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{Chain, ChainOn, When};
use punctual_time::human::{self, Context, Parsed};
use punctual_time::{Anchor, Bounds, Cron, Dialect, DstRule, Interval, Once, Spec, Timing, Windows, Zone};

use super::builder::Builder;
use super::duration;
use super::nearest;
use super::node::Node;
use super::raw::Common;
use super::word::Word;

/// The ways to say when.
pub(super) const WAYS: [&str; 6] = ["every", "cron", "at", "after", "on", "schedule"];

/// Keys that change nothing unless one of these ways is chosen.
pub(super) const MEANINGFUL: [(&str, &[&str]); 5] = [
    ("dialect", &["cron"]),
    ("anchor", &["every"]),
    ("anchor_at", &["every", "schedule"]),
    ("dst", &["cron", "every", "schedule"]),
    ("max_runs", &["every", "cron", "on", "schedule"]),
];

/// A day, half a year and more than a year later a text must still mean the same.
const LATER_HOURS: [i64; 3] = [25, 4_400, 9_000];

/// When, and what was guessed in reading it.
pub(super) struct Read {
    pub(super) when: When,
    /// The delay after each start of the service, if that is what it is reckoned from.
    pub(super) after_start: Option<SignedDuration>,
    pub(super) assumed: Vec<String>,
    /// The spec by which it is kept, where what was written would mean another time the next time.
    pub(super) spec: Option<String>,
}

impl Read {
    fn ticks(timing: Timing) -> Self {
        let when = When::Ticks(Box::new(timing));
        Self { when, after_start: None, assumed: Vec::new(), spec: None }
    }
}

/// What limits every way.
struct Frame {
    zone: Zone,
    bounds: Bounds,
    windows: Windows,
}

impl Builder<'_> {
    /// Reads when the schedule of a node fires; `seed` is what `H` is hashed from.
    pub(super) fn when(&mut self, raw: &Common, node: &Node, seed: &str) -> Option<Read> {
        let way = self.way(node)?;
        let before = self.problems.count();
        let mut read = match way {
            "schedule" => self.sentence(raw, node)?,
            "on" => self.chained(raw, node)?,
            "after" => self.after_start(raw, node)?,
            _ => self.timed(raw, node, seed)?,
        };
        if let (When::Ticks(timing), None) = (&mut read.when, read.after_start) {
            timing.dst = self.dst(raw, node);
            timing.anchor = raw.anchor.as_deref().and_then(|text| text.parse().ok()).unwrap_or(Anchor::Fixed);
            self.set_anchor(raw, node, timing);
            let place = node.place_of(way);
            if let Err(error) = timing.guard(self.settings.min_interval) {
                self.problems.refuse(place, error);
            }
            if let Some(error) = never(timing, self.ground.now) {
                self.problems.refuse(place, error);
            }
        }
        (self.problems.count() == before).then_some(read)
    }

    /// Checks what a part of a schedule says about when it fires, if anything.
    pub(super) fn check_when(&mut self, raw: &Common, node: &Node, seed: &str) {
        if WAYS.iter().any(|way| node.get(way).is_some()) {
            self.when(raw, node, seed);
        } else {
            self.frame(raw, node);
        }
    }

    /// The one way that is chosen.
    fn way(&mut self, node: &Node) -> Option<&'static str> {
        let chosen: Vec<&'static str> = WAYS.into_iter().filter(|way| node.get(way).is_some()).collect();
        let named = |ways: &[&str]| ways.iter().map(|way| format!("`{way}`")).collect::<Vec<_>>();
        let [way] = chosen.as_slice() else {
            let (message, hint) = match chosen.as_slice() {
                [] => (
                    "it is not said when it fires".to_owned(),
                    format!("add one of {}", named(&WAYS).join(", ")),
                ),
                several => {
                    (format!("{} are set together", named(several).join(" and ")), "keep exactly one".into())
                }
            };
            let place = chosen.last().map_or(node.place, |way| node.place_of_key(way));
            self.problems.add(place, message, hint);
            return None;
        };
        for (key, ways) in MEANINGFUL {
            if node.get(key).is_some() && !ways.contains(way) {
                let message = format!("`{key}` changes nothing beside `{way}`");
                let hint = format!("remove it; it goes with {}", named(ways).join(", "));
                self.problems.add(node.place_of_key(key), message, hint);
            }
        }
        Some(way)
    }

    fn timed(&mut self, raw: &Common, node: &Node, seed: &str) -> Option<Read> {
        let frame = self.frame(raw, node);
        let (key, spec) = if let Some(cron) = &raw.cron {
            let dialect =
                raw.dialect.as_deref().and_then(|text| text.parse().ok()).unwrap_or(Dialect::Standard);
            ("cron", Cron::parse_seeded(cron, dialect, seed).map(Spec::from))
        } else if let Some(every) = &raw.every {
            ("every", every.0.parse::<Interval>().map(Spec::from))
        } else {
            ("at", Once::parse(raw.at.as_ref()?, &frame.zone).map(Spec::from))
        };
        match spec {
            Ok(spec) => Some(Read::ticks(frame.timing(spec, self.ground.now))),
            Err(error) => {
                self.problems.refuse(node.place_of(key), error);
                None
            }
        }
    }

    fn after_start(&mut self, raw: &Common, node: &Node) -> Option<Read> {
        let frame = self.frame(raw, node);
        let delay = duration::read(raw.after.as_ref(), "after", node, &mut self.problems)?;
        let at = self.ground.now.checked_add(delay).ok()?;
        let once = Once::at(at);
        let read = Read::ticks(frame.timing(once.into(), self.ground.now));
        Some(match self.ground.is_kept && holds(Rule::DelayOnce) {
            true => Read { spec: Some(once.to_string()), ..read },
            false => Read { after_start: Some(delay), ..read },
        })
    }

    /// The instant from which an interval is reckoned, if it is said.
    fn set_anchor(&mut self, raw: &Common, node: &Node, timing: &mut Timing) {
        let Some(text) = &raw.anchor_at else { return };
        let place = node.place_of("anchor_at");
        match text.trim().parse().or_else(|_| Once::parse(text, &timing.zone).map(Once::instant)) {
            Ok(at) => timing.created_at = at,
            Err(error) => self.problems.refuse(place, error),
        }
        let is_said = timing.bounds.start_at.is_some();
        if is_said || !matches!(timing.spec, Spec::Every(_)) {
            let beside = if is_said { "`start_at`" } else { "what has no interval" };
            let message = format!("`anchor_at` changes nothing beside {beside}");
            self.problems.add(place, message, "remove it");
        }
    }

    fn chained(&mut self, raw: &Common, node: &Node) -> Option<Read> {
        let on = raw.on.as_ref()?;
        let place = node.get("on")?;
        let Frame { zone, bounds, windows } = self.frame(raw, node);
        let chain = Chain {
            upstream: self.id_of(&on.schedule),
            on: Word::of(on.outcome).unwrap_or(ChainOn::Success),
            delay: duration::read(on.delay.as_ref(), "delay", place, &mut self.problems).unwrap_or_default(),
            zone,
            bounds,
            windows,
        };
        Some(Read { when: When::Chain(chain), after_start: None, assumed: Vec::new(), spec: None })
    }

    /// English; what it says about zone, bounds and windows may not be said a second time.
    fn sentence(&mut self, raw: &Common, node: &Node) -> Option<Read> {
        let text = raw.schedule.as_deref()?;
        let place = node.place_of("schedule");
        let mut frame = self.frame(raw, node);
        let context = Context { now: self.ground.now, zone: frame.zone.clone() };
        let parsed = match human::parse(text, &context) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.problems.refuse(place, error);
                return None;
            }
        };
        self.refuse_twice(&parsed, node);
        if !self.ground.is_kept && moves(&parsed, text, &context) {
            let message = format!("`{text}` is another time each time the file is read");
            self.problems.add(place, message, "write the time with `at`, or the delay with `after`");
            return None;
        }
        let said = match parsed.timing(&context, &self.known_calendars) {
            Ok(said) => said,
            Err(error) => {
                self.problems.refuse(place, error);
                return None;
            }
        };
        if matches!(said.spec, Spec::Once(_)) {
            self.refuse_idle_with(("at", text), node);
        }
        frame.zone = said.zone.clone();
        frame.bounds.start_at = frame.bounds.start_at.or(said.bounds.start_at);
        frame.bounds.end_at = frame.bounds.end_at.or(said.bounds.end_at);
        frame.windows.only_between = frame.windows.only_between.or(said.windows.only_between);
        for word in &parsed.not_on {
            // It was read with the same calendars a moment ago.
            let _ = frame.windows.exclude(word, &self.known_calendars);
        }
        let is_stable = !self.ground.is_kept || is_stable(&parsed, text, &context);
        let spec = (!is_stable).then(|| said.spec.to_string());
        let read = Read::ticks(frame.timing(said.spec, self.ground.now));
        Some(Read { assumed: parsed.assumed, spec, ..read })
    }

    /// Refuses keys that change nothing beside a text that stands for another way.
    fn refuse_idle_with(&mut self, (way, text): (&str, &str), node: &Node) {
        for (key, ways) in MEANINGFUL {
            if node.get(key).is_some() && !ways.contains(&way) {
                let message = format!("`{key}` changes nothing beside `{text}`");
                self.problems.add(node.place_of_key(key), message, "remove it");
            }
        }
    }

    fn refuse_twice(&mut self, parsed: &Parsed, node: &Node) {
        let said = [
            ("timezone", parsed.timezone.is_some()),
            ("start_at", parsed.start_at.is_some()),
            ("end_at", parsed.end_at.is_some()),
            ("only_between", parsed.only_between.is_some()),
        ];
        for (key, is_said) in said {
            if is_said && node.get(key).is_some() {
                let message = format!("`{key}` is said twice: the text of `schedule` says it too");
                self.problems.add(node.place_of_key(key), message, "keep one of them");
            }
        }
    }

    fn frame(&mut self, raw: &Common, node: &Node) -> Frame {
        let zone = self.zone(raw.timezone.as_ref(), node).unwrap_or_else(|| self.settings.timezone.clone());
        let mut bounds = Bounds { max_runs: raw.max_runs, ..Bounds::default() };
        bounds.start_at = self.instant(raw.start_at.as_ref(), "start_at", (node, &zone));
        bounds.end_at = self.instant(raw.end_at.as_ref(), "end_at", (node, &zone));
        if let (Some(start), Some(end)) = (bounds.start_at, bounds.end_at)
            && end < start
        {
            self.problems.add(
                node.place_of("end_at"),
                "it ends before it starts",
                "choose an `end_at` after `start_at`",
            );
        }
        Frame { zone, bounds, windows: self.windows(raw, node) }
    }

    fn instant(
        &mut self,
        text: Option<&String>,
        key: &str,
        (node, zone): (&Node, &Zone),
    ) -> Option<Timestamp> {
        match Once::parse(text?, zone) {
            Ok(once) => Some(once.instant()),
            Err(error) => {
                self.problems.refuse(node.place_of(key), error);
                None
            }
        }
    }

    fn windows(&mut self, raw: &Common, node: &Node) -> Windows {
        let mut windows = Windows::default();
        match raw.only_between.as_ref().map(|range| range.parse()).transpose() {
            Ok(range) => windows.only_between = range,
            Err(error) => self.problems.refuse(node.place_of("only_between"), error),
        }
        let nodes = node.get("not_on").map(Node::items).unwrap_or_default();
        for (word, node) in raw.not_on.iter().flatten().zip(nodes) {
            if let Err(error) = windows.exclude(&word.0, &self.known_calendars) {
                self.problems.refuse(node.place, error);
            }
        }
        let several = raw.quiet_hours.iter().flat_map(|words| words.iter().map(|name| ("quiet_hours", name)));
        let one = raw.quiet_hours_policy_id.iter().map(|name| ("quiet_hours_policy_id", name));
        for (key, name) in several.chain(one) {
            match self.quiet_hours.get(name) {
                Some(quiet) => windows.quiet_hours.push(quiet.clone()),
                None => {
                    let hint = nearest::hint(
                        name,
                        self.quiet_hours.keys().map(String::as_str),
                        "there are no `quiet_hours`",
                    );
                    self.problems.add(node.place_of(key), format!("there are no quiet hours `{name}`"), hint);
                }
            }
        }
        windows
    }

    fn dst(&mut self, raw: &Common, node: &Node) -> DstRule {
        let Some(dst) = &raw.dst else { return DstRule { gap: None, fold: None } };
        if dst.gap.is_none() && dst.fold.is_none() {
            self.problems.add(
                node.place_of("dst"),
                "`dst` says nothing",
                "add `gap:` or `fold:`, or remove it",
            );
        }
        DstRule {
            gap: dst.gap.as_deref().and_then(|text| text.parse().ok()),
            fold: dst.fold.as_deref().and_then(|text| text.parse().ok()),
        }
    }
}

impl Frame {
    fn timing(self, spec: Spec, now: Timestamp) -> Timing {
        let mut timing = Timing::new(spec, self.zone);
        timing.created_at = now;
        timing.bounds = self.bounds;
        timing.windows = self.windows;
        timing
    }
}

/// Whether a one-shot in English is counted from the moment of reading, such as `in 20 minutes`.
fn moves(parsed: &Parsed, text: &str, context: &Context) -> bool {
    let Ok(later) = context.now.checked_add(SignedDuration::from_hours(25)) else { return false };
    let again = human::parse(text, &Context { now: later, zone: context.zone.clone() });
    parsed.at.is_some() && again.is_ok_and(|again| again.at != parsed.at)
}

/// Whether a text will mean the same whenever it is read: `until 1 June` is another year one day.
pub(super) fn is_stable(parsed: &Parsed, text: &str, context: &Context) -> bool {
    let same = |hours: i64| {
        let Ok(now) = context.now.checked_add(SignedDuration::from_hours(hours)) else { return false };
        let again = human::parse(text, &Context { now, zone: context.zone.clone() });
        again.is_ok_and(|again| Parsed { assumed: parsed.assumed.clone(), ..again } == *parsed)
    };
    LATER_HOURS.into_iter().all(same)
}

/// Why it can never fire. What is only over is not refused: a file stays readable after its dates.
fn never(timing: &Timing, now: Timestamp) -> Option<punctual_time::Error> {
    let is_over = timing.bounds.end_at.is_some_and(|end| end <= now);
    let from = match timing.spec {
        Spec::Every(_) if is_over => return None,
        Spec::Every(_) => now,
        _ => Timestamp::UNIX_EPOCH,
    };
    timing.first(from).err()
}
