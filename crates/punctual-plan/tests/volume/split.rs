//! Splits: however a horizon is cut into plans, its ledger is the same.
//!
//! Two rules of their own: `max_runs` cuts nothing here, it is counted when runs are admitted; `spread` decides late
//! ticks by how many there are at the decision, so that only what is ahead is compared, and `strip` holds its slots
//! against their formula.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Cursor, Entry, Pace, Policy, ScheduleId, Subject, Window, plan};
use punctual_time::{Anchor, Timing};

use crate::dice::Dice;
use crate::schedule;

/// The longest horizon that one plan may arm row by row, even of a schedule of every second.
const HORIZON: SignedDuration = SignedDuration::from_mins(50);

/// What a split came to.
pub(crate) struct Split {
    pub(crate) plans: u64,
    pub(crate) ticks: u64,
    pub(crate) broken: Option<String>,
}

struct Case {
    timing: Timing,
    policy: Policy,
    start: Timestamp,
}

impl Case {
    fn plan(&self, cursor: Cursor, now: Timestamp, lookahead: SignedDuration) -> punctual_plan::Plan {
        let subject = Subject {
            id: ScheduleId(uuid::Uuid::from_u128(9)),
            timing: &self.timing,
            policy: &self.policy,
            cursor,
            late: &[],
            outstanding: 0,
            slept: None,
        };
        plan(&subject, Window { now, pace: Pace { lookahead, ..Pace::default() } })
    }
}

/// Plans the horizon of a seed in pieces and at once.
pub(crate) fn run(seed: u64) -> Split {
    let mut dice = Dice::new(seed);
    let start = schedule::start(&mut dice);
    let mut timing = schedule::timing(&mut dice, start);
    timing.anchor = Anchor::Fixed;
    timing.bounds.max_runs = None;
    let case = Case { timing, policy: schedule::policy(&mut dice), start };
    let lookahead = SignedDuration::from_secs(60);
    let (mut pieces, mut cursor, mut now, mut plans): (Vec<Entry>, _, _, u64) =
        (Vec::new(), Cursor::starting(start), start, 0);
    while now.duration_since(start) < HORIZON {
        let plan = case.plan(cursor, now, lookahead);
        cursor = plan.cursor;
        pieces.extend(plan.entries);
        plans += 1;
        now += dice.seconds(60) + SignedDuration::from_millis(dice.below(999));
    }
    let through = cursor.planned_through;
    let early = case.policy.jitter.early_max();
    let at_once = case.plan(Cursor::starting(start), start, through.duration_since(start) - early);
    // A long window may end before its time.
    let (through, at_once) = (at_once.cursor.planned_through, at_once.entries);
    pieces.retain(|entry| entry.scheduled_for <= through);
    let said = pieces.iter().zip(&at_once).find(|(piece, whole)| piece != whole);
    let broken = (pieces != at_once).then(|| {
        format!(
            "seed {seed}: {} entries in pieces, {} at once, first {said:?}\n{:?}\n{:?} from {}",
            pieces.len(),
            at_once.len(),
            case.timing,
            case.policy,
            case.start
        )
    });
    Split { plans: plans + 1, ticks: pieces.len() as u64, broken }
}
