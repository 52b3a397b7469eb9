//! Strips: one schedule, planned, changed and resumed again and again by hand, each plan held against its own walk.
//!
//! The cursor is all that is carried from call to call, so every step is a restart.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Before, CATCH_UP_MAX, CatchUp, Change, Changed, Cursor, EntryState, LateRow, MISSED_ROWS_MAX, Open,
    OpenKind, PLAN_ENTRIES_MAX, PLAN_RANGES_MAX, Pace, Plan, Policy, Reason, RunKey, ScheduleId, Status,
    Subject, Window, change, plan, resume,
};
use punctual_time::{Anchor, Timing};

use crate::dice::Dice;
use crate::schedule;

/// Steps of one strip; a failing seed is cut down to the steps that it needs.
const STEPS: usize = 400;

/// A range of more ticks is not walked: that would take longer than all plans together.
const WALK_MAX: u64 = 200_000;

/// What a strip came to.
pub(crate) struct Strip {
    pub(crate) plans: u64,
    pub(crate) ticks: u64,
    pub(crate) broken: Option<String>,
}

/// Runs the strip of a seed, and if it fails, names its first bad step.
pub(crate) fn run(seed: u64) -> Strip {
    let mut dice = Dice::new(seed);
    let mut desk = Desk::new(&mut dice, seed);
    let mut steps = 0;
    while steps < STEPS && desk.broken.is_none() && !desk.is_over {
        desk.step(&mut dice);
        steps += 1;
    }
    let broken = desk.broken.map(|broken| {
        format!(
            "seed {seed}, step {steps} at {}: {broken}\n{:?}\n{:?}\n{:?}",
            desk.now, desk.timing, desk.policy, desk.cursor
        )
    });
    Strip { plans: desk.plans, ticks: desk.ticks, broken }
}

/// A schedule, its rows and the walk beside it.
struct Desk {
    id: ScheduleId,
    timing: Timing,
    policy: Policy,
    pace: Pace,
    cursor: Cursor,
    now: Timestamp,
    armed: Vec<LateRow>,
    /// The last tick that the walk has seen an entry for; none before the first.
    walked: Timestamp,
    launched_through: Option<Timestamp>,
    plan_at: Option<Timestamp>,
    version: i64,
    runs: i64,
    is_over: bool,
    plans: u64,
    ticks: u64,
    broken: Option<String>,
}

impl Desk {
    fn new(dice: &mut Dice, seed: u64) -> Self {
        let now = schedule::start(dice);
        let lookahead = SignedDuration::from_secs(dice.pick(&[2, 60, 60, 60, 300]));
        Self {
            id: ScheduleId(uuid::Uuid::from_u128(seed.into())),
            timing: fixed(dice, now),
            policy: schedule::policy(dice),
            pace: Pace { lookahead, catch_up_per_tick_max: dice.pick(&[1, 7, 100]), ..Pace::default() },
            cursor: Cursor::starting(now),
            now,
            armed: Vec::new(),
            walked: now,
            launched_through: None,
            plan_at: Some(now),
            version: 1,
            runs: 0,
            is_over: false,
            plans: 0,
            ticks: 0,
            broken: None,
        }
    }

    fn fail(&mut self, what: impl Into<String>) {
        self.broken.get_or_insert(what.into());
    }

    fn step(&mut self, dice: &mut Dice) {
        match dice.below(100) {
            0..=3 => self.sleep(dice),
            4 => self.edit(dice),
            5 => self.pause(dice),
            6..=7 => {
                // A clock that goes back: what was decided stays decided.
                let now = self.now;
                self.now = now - dice.seconds(4_000);
                self.plan_once(None);
                self.now = now;
            }
            _ => self.live(dice),
        }
    }

    /// The node is up: what is due is admitted, and the next window is planned when it wants to be.
    fn live(&mut self, dice: &mut Dice) {
        let Some(plan_at) = self.plan_at else {
            self.is_over = true;
            return;
        };
        self.now = self.now.max(plan_at) + SignedDuration::from_millis(dice.below(1_500));
        self.admit_through(self.now);
        self.plan_once(None);
    }

    /// No node looks for a while; some of what was due may have been admitted before it died.
    fn sleep(&mut self, dice: &mut Dice) {
        let died = self.now + dice.seconds(70);
        self.admit_through(died);
        let gap = self.timing.spec.smallest_gap().map_or(60, |gap| gap.as_secs()).max(1);
        let is_long = dice.percent(2);
        let ticks = if is_long { 5_000 } else { dice.pick(&[0, 1, 1, 2, 2, 5, 5, 20, 50, 99, 101, 300]) };
        self.now =
            died + SignedDuration::from_secs(gap.saturating_mul(ticks).min(40_000_000)) + dice.seconds(130);
        self.plan_once(None);
    }

    fn admit_through(&mut self, through: Timestamp) {
        let launched =
            self.armed.iter().filter(|row| row.fire_at <= through).map(|row| row.scheduled_for).max();
        self.launched_through = self.launched_through.max(launched);
        self.armed.retain(|row| row.fire_at > through);
    }

    fn edit(&mut self, dice: &mut Dice) {
        self.version += 1;
        let what = Change::Edit { version: self.version };
        self.change(&what, None);
        self.timing = fixed(dice, self.timing.created_at);
        self.policy = schedule::policy(dice);
        self.walked = self.cursor.planned_through;
        self.plan_once(None);
    }

    fn pause(&mut self, dice: &mut Dice) {
        let status = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
        self.change(&Change::Leave(status.clone()), None);
        self.walked = self.cursor.planned_through;
        self.now += dice.seconds(5_000);
        self.plan_once(Some(&status));
    }

    /// Changes the schedule: afterwards nothing of the future is left, and everything up to now has its entry.
    fn change(&mut self, what: &Change, slept: Option<Reason>) {
        let open: Vec<Open> = self
            .armed
            .iter()
            .map(|row| Open { run: row.run, scheduled_for: row.scheduled_for, kind: OpenKind::Unlaunched })
            .collect();
        let before = Before {
            timing: Some(&self.timing),
            cursor: self.cursor,
            open: &open,
            slept,
            launched_through: self.launched_through,
        };
        let Changed { removed, plan, .. } = change(&before, what, self.now);
        let at = self.now.max(self.cursor.decided_through);
        for row in std::mem::take(&mut self.armed) {
            let is_removed = removed.contains(&row.run);
            let is_closed = plan.closed.iter().filter(|closed| closed.run == row.run).count();
            if is_removed != (row.scheduled_for > at) || usize::from(is_removed) + is_closed != 1 {
                self.fail(format!("7: a change at {at} leaves {row:?}"));
            }
        }
        if plan.entries.iter().any(|entry| !matches!(entry.state, EntryState::Ended(_))) {
            self.fail("7: a change fires something");
        }
        let through = at.max(self.walked.min(self.cursor.planned_through));
        self.walk(&plan, self.cursor.planned_through.max(at).min(through.max(at)));
        self.cursor = plan.cursor;
    }

    fn plan_once(&mut self, resumed: Option<&Status>) {
        let due = self.now.max(self.cursor.decided_through);
        let late: Vec<LateRow> = self.armed.iter().filter(|row| row.fire_at <= due).cloned().collect();
        let subject = Subject {
            id: self.id,
            timing: &self.timing,
            policy: &self.policy,
            cursor: self.cursor,
            late: &late,
            outstanding: 0,
            slept: None,
        };
        let window = Window { now: self.now, pace: self.pace };
        let plan = match resumed {
            None => plan(&subject, window),
            Some(status) => resume(&subject, status, window),
        };
        self.plans += 1;
        self.check(&plan, &late);
        self.walk(&plan, plan.cursor.planned_through);
        self.write(plan);
    }

    /// Promises 6, 8 and 11 of one plan.
    fn check(&mut self, plan: &Plan, late: &[LateRow]) {
        let at = self.now.max(self.cursor.decided_through);
        if plan.cursor.decided_through != at || plan.cursor.planned_through < self.cursor.planned_through {
            self.fail(format!("8: the cursor goes from {:?} to {:?}", self.cursor, plan.cursor));
        }
        let rows_max = PLAN_ENTRIES_MAX + CATCH_UP_MAX as usize + MISSED_ROWS_MAX;
        if plan.entries.len() > rows_max || plan.ranges.len() > PLAN_RANGES_MAX {
            self.fail(format!("11: {} rows and {} ranges", plan.entries.len(), plan.ranges.len()));
        }
        for entry in &plan.entries {
            let holds = match entry.state {
                EntryState::Scheduled => entry.fire_at >= at,
                EntryState::Suppressed(_) => entry.scheduled_for > at && entry.fire_at == entry.scheduled_for,
                EntryState::Ended(_) => entry.scheduled_for <= at,
            };
            if !holds {
                self.fail(format!("6: planned at {at}: {entry:?}"));
            }
        }
        if plan.ranges.iter().any(|range| range.last > at) {
            self.fail("1: a range ends ahead");
        }
        for row in late {
            let closed = plan.closed.iter().filter(|closed| closed.run == row.run).count();
            let refired = plan.refired.iter().filter(|refired| refired.run == row.run).count();
            if closed + refired > 1 {
                self.fail(format!("2: {row:?} is decided {} times", closed + refired));
            }
        }
        self.check_rows(plan, late);
        let want = self.timing.planned_after(plan.cursor.planned_through);
        if plan.next_tick != want && !self.timing.is_exhausted() {
            self.fail(format!("8: next is {:?}, by the walk {want:?}", plan.next_tick));
        }
        self.check_catch_up(plan, at);
    }

    /// Where a late stretch is decided, the late rows are decided with it; those that were caught up before are not.
    fn check_rows(&mut self, plan: &Plan, late: &[LateRow]) {
        let is_whole = plan.entries.iter().any(|entry| matches!(entry.state, EntryState::Ended(_)));
        // With jitter nobody but the planner knows whether a row is at its own instant or a later one.
        let is_open = |row: &&LateRow| row.verdict.is_some() || row.fire_at <= row.scheduled_for;
        for row in late.iter().filter(is_open).filter(|_| is_whole) {
            let is_closed = plan.closed.iter().any(|closed| closed.run == row.run);
            let is_refired = plan.refired.iter().any(|refired| refired.run == row.run);
            if !(is_closed || is_refired && row.verdict.is_none()) {
                self.fail(format!("1: {row:?} is left behind by the stretch after it"));
            }
        }
    }

    /// No more late ticks fire than the policy lets, and those of `spread` fire at their own even distances.
    fn check_catch_up(&mut self, plan: &Plan, at: Timestamp) {
        let is_late =
            |entry: &&punctual_plan::Entry| entry.state == EntryState::Scheduled && entry.scheduled_for <= at;
        let mut fired: Vec<Timestamp> =
            plan.entries.iter().filter(is_late).map(|entry| entry.fire_at).collect();
        // The newest may be ahead of its own jittered instant.
        let jitter = self.policy.jitter.max;
        if jitter > SignedDuration::ZERO {
            fired.pop();
        }
        fired.extend(plan.refired.iter().map(|refired| refired.fire_at));
        fired.sort_unstable();
        let max = match self.policy.catch_up {
            CatchUp::Skip | CatchUp::RunOnce => 1,
            CatchUp::RunAll | CatchUp::Spread => self.policy.max_catch_up as usize,
        };
        if fired.len() > max {
            self.fail(format!("11: {} late ticks fire, {max} may", fired.len()));
        }
        if self.policy.catch_up == CatchUp::Spread && jitter == SignedDuration::ZERO {
            let count = fired.len() as i128;
            let slot = |place: usize| self.pace.lookahead.as_micros() * place as i128 / count;
            let is_even =
                |(place, fire_at): (usize, &Timestamp)| fire_at.duration_since(at).as_micros() == slot(place);
            if !fired.iter().enumerate().all(is_even) {
                self.fail(format!("spread at {at} is uneven: {fired:?}"));
            }
        }
    }

    /// Promise 1: what is written stands for the ticks up to an instant, each once, in their order.
    fn walk(&mut self, plan: &Plan, through: Timestamp) {
        let mut spans: Vec<(Timestamp, Timestamp, u64)> =
            plan.entries.iter().map(|entry| (entry.scheduled_for, entry.scheduled_for, 1)).collect();
        spans.extend(plan.ranges.iter().map(|range| (range.first, range.last, range.count)));
        if !plan.ranges.is_empty() {
            spans.sort_unstable();
        }
        if self.timing.is_exhausted() {
            return;
        }
        let mut at = self.walked;
        for (first, last, count) in spans {
            let next = self.timing.planned_after(at);
            if next != Some(first) {
                return self.fail(format!("1: after {at} comes {next:?}, and the entry is for {first}"));
            }
            at = last;
            if (2..=WALK_MAX).contains(&count) {
                let rest = std::iter::successors(Some(first), |tick| self.timing.planned_after(*tick));
                let found = rest.take_while(|tick| *tick <= last).count() as u64;
                if found != count {
                    return self.fail(format!("1: {first}..{last} counts {count}, there are {found}"));
                }
            }
            self.ticks += count;
        }
        if let Some(left) = self.timing.planned_after(at).filter(|tick| *tick <= through) {
            return self.fail(format!("1: {left} has no entry, planned through {through}"));
        }
        self.walked = at.max(through);
    }

    fn write(&mut self, plan: Plan) {
        self.armed.retain(|row| !plan.closed.iter().any(|closed| closed.run == row.run));
        for refired in &plan.refired {
            let row = self.armed.iter_mut().find(|row| row.run == refired.run);
            row.expect("only armed rows fire again").fire_at = refired.fire_at;
        }
        for entry in plan.entries {
            let verdict = match entry.state {
                EntryState::Scheduled => None,
                EntryState::Suppressed(reason) => Some(reason),
                EntryState::Ended(_) => continue,
            };
            self.runs += 1;
            let (scheduled_for, fire_at) = (entry.scheduled_for, entry.fire_at);
            self.armed.push(LateRow { run: RunKey(self.runs), scheduled_for, fire_at, verdict });
        }
        self.cursor = plan.cursor;
        self.plan_at = plan.plan_at;
    }
}

/// Ticks that the walk can know ahead: those of the floating anchors are the stories' business.
fn fixed(dice: &mut Dice, around: Timestamp) -> Timing {
    let mut timing = schedule::timing(dice, around);
    timing.anchor = Anchor::Fixed;
    timing
}
