//! A definition as the keys that make it: the inverse of reading. What is as usual is left out.

use jiff::SignedDuration;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Chain, ChainOn, DEPENDS_TIMEOUT, Jitter, JitterMode, Launch, Policy, Schedule, ScheduleId, When,
};
use punctual_time::human::{self, Context, Parsed};
use punctual_time::{
    Anchor, Bounds, Calendar, Cron, Dialect, DstRule, Interval, Once, Spec, Timing, Weekdays, Windows, Zone,
};
use serde_json::{Map, Value, json};

use super::export_target::target;
use super::when::is_stable;

/// Weekdays as `not_on` has them, Sunday first.
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// The keys of a definition, `names` telling those of the schedules that it refers to. Read again under the same id
/// they make the same definition. Of an interval the instant is told from which it is reckoned.
///
/// ```
/// use punctual_app::declare::{export, read_text};
///
/// let text = "schedules: [{name: a, cron: 0 3 * * *, if_running: skip, target: {type: process, argv: [x]}}]";
/// let declared = read_text("jobs.yaml", text, jiff::Timestamp::UNIX_EPOCH)?;
/// let keys = serde_json::Value::Object(export(&declared.schedules[0].definition, &|_| None));
/// assert_eq!(keys.to_string(), r#"{"name":"a","cron":"0 3 * * *","target":{"type":"process","argv":["x"]}}"#);
/// # Ok::<(), punctual_app::Failure>(())
/// ```
pub fn export(schedule: &Schedule, names: &dyn Fn(ScheduleId) -> Option<String>) -> Map<String, Value> {
    let called = |id: ScheduleId| names(id).unwrap_or_else(|| id.to_string());
    let mut keys = Keys(Map::new());
    keys.put("name", json!(schedule.name));
    keys.some("description", schedule.description.as_ref().map(|text| json!(text)));
    keys.some("tags", (!schedule.tags.is_empty()).then(|| json!(schedule.tags)));
    match &schedule.when {
        When::Ticks(timing) => keys.ticks(schedule, timing),
        When::Chain(chain) => keys.chain(chain, &called),
    }
    keys.policy(&schedule.policy, &called);
    keys.put("target", target(&schedule.target, &schedule.name));
    keys.some("payload", (!schedule.payload.is_empty()).then(|| json!(schedule.payload)));
    keys.0
}

/// What limits when a schedule fires, by the same keys, whatever its text says of them: `anchor`, `dst`, `on`, bounds and
/// windows.
pub fn limits(schedule: &Schedule, names: &dyn Fn(ScheduleId) -> Option<String>) -> Map<String, Value> {
    let called = |id: ScheduleId| names(id).unwrap_or_else(|| id.to_string());
    let mut keys = Keys(Map::new());
    match &schedule.when {
        When::Ticks(timing) => {
            let anchor = matches!(timing.spec, Spec::Every(_)).then(|| json!(timing.anchor.name()));
            keys.some("anchor", anchor);
            keys.dst(timing.dst);
            let (zone, bounds) = (&timing.zone, timing.bounds);
            keys.frame(&Frame { zone, bounds, windows: timing.windows.clone() });
        }
        When::Chain(chain) => keys.chain(chain, &called),
    }
    keys.0
}

/// A duration as it is declared: `90s`, `5m`, `2h`, `250ms`.
pub fn length(duration: SignedDuration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    match (seconds, millis) {
        (_, 1..) => format!("{}ms", duration.as_millis()),
        (0, _) => "0s".to_owned(),
        _ if seconds % 86_400 == 0 => format!("{}d", seconds / 86_400),
        _ if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        _ if seconds % 60 == 0 => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

struct Keys(Map<String, Value>);

impl Keys {
    fn put(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    fn some(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    fn ticks(&mut self, schedule: &Schedule, timing: &Timing) {
        let written = Said::of(schedule, timing);
        self.put(written.key, json!(written.text));
        let is_cron = written.key == "cron";
        let dialect = Some(schedule.dialect).filter(|dialect| is_cron && *dialect != Dialect::default());
        self.some("dialect", dialect.map(|dialect| json!(dialect.to_string())));
        if matches!(timing.spec, Spec::Every(_)) {
            let anchor = Some(timing.anchor).filter(|anchor| *anchor != Anchor::Fixed);
            self.some("anchor", anchor.map(|anchor| json!(anchor.name())));
            let is_open = timing.bounds.start_at.is_none() && holds(Rule::AnchorStays);
            self.some("anchor_at", is_open.then(|| json!(timing.created_at.to_string())));
        }
        let mut frame = Frame { zone: &timing.zone, bounds: timing.bounds, windows: timing.windows.clone() };
        let is_zone_said = written.sentence.as_ref().is_some_and(|parsed| parsed.timezone.is_some());
        if let Some(parsed) = &written.sentence {
            frame.drop_said(parsed);
        }
        if !is_zone_said {
            self.zone(frame.zone);
        }
        self.dst(timing.dst);
        self.frame(&frame);
    }

    fn dst(&mut self, rule: DstRule) {
        let DstRule { gap, fold } = rule;
        let mut dst = Map::new();
        dst.extend(gap.map(|gap| ("gap".to_owned(), json!(gap.to_string()))));
        dst.extend(fold.map(|fold| ("fold".to_owned(), json!(fold.to_string()))));
        self.some("dst", (!dst.is_empty()).then_some(Value::Object(dst)));
    }

    fn chain(&mut self, chain: &Chain, called: &dyn Fn(ScheduleId) -> String) {
        let Chain { upstream, on, delay, zone, bounds, windows } = chain;
        let mut keys = json!({"schedule": called(*upstream)});
        if *on != ChainOn::Success {
            keys["outcome"] = json!(on.name());
        }
        if !delay.is_zero() {
            keys["delay"] = json!(length(*delay));
        }
        self.put("on", keys);
        self.zone(zone);
        self.frame(&Frame { zone, bounds: *bounds, windows: windows.clone() });
    }

    fn zone(&mut self, zone: &Zone) {
        self.some("timezone", (*zone != Zone::utc()).then(|| json!(zone.name())));
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let Bounds { start_at, end_at, max_runs } = frame.bounds;
        self.some("start_at", start_at.map(|at| json!(at.to_string())));
        self.some("end_at", end_at.map(|at| json!(at.to_string())));
        self.some("max_runs", max_runs.map(|max| json!(max)));
        let Windows { only_between, not_on, calendars, quiet_hours } = &frame.windows;
        self.some("only_between", only_between.map(|range| json!(range.to_string())));
        let days = (0..7).filter(|day| not_on.contains(*day)).map(|day| DAYS[day as usize]);
        let words: Vec<&str> = days.chain(calendars.iter().map(Calendar::name)).collect();
        self.some("not_on", (!words.is_empty()).then(|| json!(words)));
        let quiet: Vec<&str> = quiet_hours.iter().map(|quiet| quiet.name.as_str()).collect();
        self.some("quiet_hours", (!quiet.is_empty()).then(|| json!(quiet)));
    }

    fn policy(&mut self, policy: &Policy, called: &dyn Fn(ScheduleId) -> String) {
        let usual = Policy::default();
        let duration = |value: SignedDuration| json!(length(value));
        let other = |value: SignedDuration, usual| (value != usual).then(|| duration(value));
        let number = |value: u32, usual| (value != usual).then(|| json!(value));
        self.some("if_running", (policy.overlap != usual.overlap).then(|| json!(policy.overlap.name())));
        self.some("catch_up", (policy.catch_up != usual.catch_up).then(|| json!(policy.catch_up.name())));
        self.some("max_catch_up", number(policy.max_catch_up, usual.max_catch_up));
        self.some("missed_audit_max", number(policy.missed_audit_max, usual.missed_audit_max));
        self.some("grace", other(policy.grace, usual.grace));
        self.some("start_deadline", policy.start_deadline.map(duration));
        self.some("jitter", jitter(policy.jitter));
        self.some("launch", launch(policy.launch));
        self.some("retry_after", policy.retry_after.map(duration));
        self.some("run_timeout", other(policy.run_timeout, usual.run_timeout));
        let failures = policy.max_consecutive_failures;
        let failures =
            (failures != usual.max_consecutive_failures).then(|| json!(failures.unwrap_or_default()));
        self.some("max_consecutive_failures", failures);
        self.some("delivery", (policy.delivery != usual.delivery).then(|| json!(policy.delivery.name())));
        self.some("guard", policy.guard.as_ref().map(|guard| json!(guard)));
        self.some("lane", policy.lane.as_ref().map(|lane| json!(lane)));
        if let Some(depends) = &policy.depends_on {
            let names: Vec<String> = depends.on.iter().map(|id| called(*id)).collect();
            self.put("depends_on", json!(names));
            self.some("depends_timeout", other(depends.timeout, DEPENDS_TIMEOUT));
        }
    }
}

fn jitter(jitter: Jitter) -> Option<Value> {
    match jitter.mode {
        JitterMode::After if jitter.max.is_zero() => None,
        JitterMode::After => Some(json!(length(jitter.max))),
        JitterMode::Around => Some(json!({"max": length(jitter.max), "mode": jitter.mode.name()})),
    }
}

fn launch(launch: Launch) -> Option<Value> {
    let usual = Launch::default();
    let mut keys = Map::new();
    if launch.attempts_max != usual.attempts_max {
        keys.insert("attempts".to_owned(), json!(launch.attempts_max));
    }
    if launch.delay != usual.delay {
        keys.insert("delay".to_owned(), json!(length(launch.delay)));
    }
    (!keys.is_empty()).then_some(Value::Object(keys))
}

/// Zone, bounds and windows that are still to be said.
struct Frame<'a> {
    zone: &'a Zone,
    bounds: Bounds,
    windows: Windows,
}

impl Frame<'_> {
    /// Takes away what the text of `schedule` says itself.
    fn drop_said(&mut self, parsed: &Parsed) {
        if parsed.start_at.is_some() {
            self.bounds.start_at = None;
        }
        if parsed.end_at.is_some() {
            self.bounds.end_at = None;
        }
        if parsed.only_between.is_some() {
            self.windows.only_between = None;
        }
        let mut said = Windows::default();
        for word in &parsed.not_on {
            match said.exclude(word, &[]) {
                Ok(()) => {}
                // The sentence names its calendars after those of the key.
                Err(_) => {
                    let place = self.windows.calendars.iter().rposition(|one| one.name() == word.trim());
                    place.map(|place| self.windows.calendars.remove(place));
                }
            }
        }
        let left = (0..7).filter(|day| self.windows.not_on.contains(*day) && !said.not_on.contains(*day));
        self.windows.not_on = left.fold(Weekdays::none(), Weekdays::with);
    }
}

/// How a spec is said: the key, its text, and what else the text says if it is English.
struct Said {
    key: &'static str,
    text: String,
    sentence: Option<Parsed>,
}

impl Said {
    /// As it was written, if that still means the same; else in its canonical form.
    fn of(schedule: &Schedule, timing: &Timing) -> Self {
        let text = &schedule.spec;
        let (key, is_same) = match &timing.spec {
            Spec::Cron(cron) => {
                let read = Cron::parse_seeded(text, schedule.dialect, &schedule.id.to_string());
                ("cron", read.is_ok_and(|read| read == *cron))
            }
            Spec::Every(interval) => ("every", text.parse::<Interval>().is_ok_and(|read| read == *interval)),
            Spec::Once(once) => ("at", Once::parse(text, &timing.zone).is_ok_and(|read| read == *once)),
        };
        if is_same {
            return Self { key, text: text.clone(), sentence: None };
        }
        match sentence(text, timing) {
            Some(parsed) => Self { key: "schedule", text: text.clone(), sentence: Some(parsed) },
            None => Self { key, text: timing.spec.to_string(), sentence: None },
        }
    }
}

/// What a text says, if it says this timing and always will.
fn sentence(text: &str, timing: &Timing) -> Option<Parsed> {
    let context = Context { now: timing.created_at, zone: timing.zone.clone() };
    let parsed = human::parse(text, &context).ok()?;
    let said = parsed.timing(&context, &timing.windows.calendars).ok()?;
    let bounds = (said.bounds.start_at, said.bounds.end_at);
    let is_same = said.spec == timing.spec
        && said.zone == timing.zone
        && timing.anchor == Anchor::Fixed
        && (bounds.0.is_none() || bounds.0 == timing.bounds.start_at)
        && (bounds.1.is_none() || bounds.1 == timing.bounds.end_at)
        && (said.windows.only_between.is_none() || said.windows.only_between == timing.windows.only_between);
    (is_same && is_stable(&parsed, text, &context)).then_some(parsed)
}
