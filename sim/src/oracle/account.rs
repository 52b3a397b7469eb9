//! The account: every tick has exactly one entry, and every entry is a tick.
//!
//! Rows are known one by one. What retention turned into digests and what was missed in long stretches is known by its
//! count, so the sum is compared: ticks walked = rows + counts, schedule by schedule, at any moment.

use std::collections::HashMap;
use std::ops::Bound;

use jiff::Timestamp;
use punctual_plan::{ScheduleId, Status};
use punctual_store::{RangeRow, ScheduleRow};

use super::known::{Seen, floor};
use super::{Grain, Moment, Oracle, Standing};
use crate::wall::Stretch;

/// What the ledger says of all schedules at one moment.
pub(crate) struct Books {
    /// The schedules, deleted ones too.
    pub(crate) schedules: Vec<ScheduleRow>,
    /// The ranges of all of them.
    pub(crate) ranges: Vec<RangeRow>,
}

impl Oracle {
    /// Holds the books against what must be in them.
    pub(crate) fn audit(&mut self, moment: Moment, books: &Books) {
        let mut ranges: HashMap<ScheduleId, Vec<&RangeRow>> = HashMap::new();
        for range in &books.ranges {
            ranges.entry(range.schedule_id).or_default().push(range);
        }
        for row in &books.schedules {
            let of = ranges.remove(&row.definition.id).unwrap_or_default();
            self.audit_cursor(moment, row);
            self.audit_ticks(moment, row, &of);
        }
        self.audit_chains(moment);
    }

    fn audit_cursor(&mut self, moment: Moment, row: &ScheduleRow) {
        let Some(known) = self.schedules.get_mut(&row.key) else { return };
        let decided = row.state.cursor.decided_through;
        let before = std::mem::replace(&mut known.decided_through, decided);
        let (version, number) = (known.version, known.present().number);
        if decided < before {
            self.complain(
                moment,
                format!("3: s{number:02} was decided through {before} and is through {decided}"),
            );
        }
        let come = moment.db.max(self.believed_max);
        if decided.duration_since(come) > self.rhythm.early_max() {
            self.complain(
                moment,
                format!("6: s{number:02} is decided through {decided}, which has not come"),
            );
        }
        if row.definition.version != version {
            self.complain(
                moment,
                format!("7: s{number:02} has version {}, it should be {version}", row.definition.version),
            );
        }
        let standing = if row.deleted_at.is_some() { Standing::Deleted } else { self.standing(row) };
        let known = self.schedules.get(&row.key).map(|known| known.standing);
        if known.is_some_and(|known| known == Standing::Deleted && standing != Standing::Deleted) {
            self.complain(moment, format!("10: s{number:02} was deleted and lives"));
        }
        let lasts = self.schedules.get(&row.key).is_some_and(|known| known.present().is_endless());
        if lasts && matches!(row.state.status, Status::Exhausted { .. }) {
            self.complain(moment, format!("1: s{number:02} has come to its end, and has none"));
        }
        if known == Some(Standing::Left) && row.state.status.is_active() && standing != Standing::Deleted {
            self.complain(moment, format!("10: s{number:02} was paused and is active"));
        }
    }

    fn standing(&self, row: &ScheduleRow) -> Standing {
        if row.state.status.is_active() { Standing::Active } else { Standing::Left }
    }

    fn audit_ticks(&mut self, moment: Moment, row: &ScheduleRow, ranges: &[&RangeRow]) {
        // Where starts are not seen one by one, the ledger says when the last one was.
        if let (Grain::Coarse, Some(at)) = (self.grain, row.spent_at)
            && let Some(known) = self.schedules.get_mut(&row.key)
        {
            known.close(at);
        }
        let Some(known) = self.schedules.get(&row.key) else { return };
        let sketch = known.present();
        if known.sketches.values().any(|sketch| sketch.is_floating() || sketch.is_chained()) {
            return self.audit_hanging(moment, row);
        }
        let number = sketch.number;
        let cursor = row.state.cursor;
        let planned = floor(cursor.planned_through).max(known.counted_through);
        // What was started or has ended is never decided again either, though the cursor stands before it.
        let decided =
            floor(cursor.decided_through).max(known.reached).min(planned).max(known.counted_through);
        let walk = |after, through| known.ticks(&self.walls, Stretch { after, through });
        let (new, ahead) = (walk(known.counted_through, decided), walk(decided, planned));
        let mut wrong = Vec::new();
        let counted: u64 = ranges.iter().map(|range| range.range.count).sum();
        let rows = known.rows.range(..=decided).count() as u64;
        let wanted = known.counted + new.len() as u64;
        if wanted != rows + counted {
            let missing = new.iter().find(|tick| !known.rows.contains(tick));
            let example = missing.map(|tick| format!(", such as {}", instant(*tick))).unwrap_or_default();
            wrong.push(format!(
                "{wanted} ticks through {}, {rows} rows and {counted} in ranges{example}",
                instant(decided)
            ));
        }
        let is_in = |ticks: &[i64], row: &i64| ticks.binary_search(row).is_ok();
        let strange = known
            .rows
            .range((Bound::Excluded(known.counted_through), Bound::Included(decided)))
            .find(|row| !is_in(&new, row));
        let strange = strange.or_else(|| known.rows.range(decided + 1..).find(|row| !is_in(&ahead, row)));
        wrong.extend(strange.map(|row| format!("a row for {}, which is no tick of it", instant(*row))));
        let hole = ahead.iter().find(|tick| !known.rows.contains(tick));
        wrong.extend(hole.map(|tick| {
            format!("no row for {}, though planned through {}", instant(*tick), instant(planned))
        }));
        wrong.extend(self.unplanned(moment, row, planned));
        wrong.extend(self.unruled(moment, row));
        let checked = new.len() as u64;
        self.ticks += checked;
        if let Some(known) = self.schedules.get_mut(&row.key) {
            (known.counted, known.counted_through) = (wanted, decided);
        }
        for what in wrong {
            self.complain(moment, format!("1: s{number:02}: {what}"));
        }
    }

    /// Where ticks hang on runs no walk knows them, but there is always one to come.
    fn audit_hanging(&mut self, moment: Moment, row: &ScheduleRow) {
        self.say(moment, row.key, format_args!("{:?}, next {:?}", row.state.cursor, row.next_run_at));
        let Some(known) = self.schedules.get(&row.key) else { return };
        let is_active = known.standing == Standing::Active && row.state.status == Status::Active;
        let hangs = known.present().is_floating() && is_active;
        let is_open = |seen: &Seen| seen.schedule == row.key && !seen.status.is_terminal();
        let is_over = hangs && row.next_run_at.is_none() && !self.runs.values().any(is_open);
        // A clock that was set back has to come to it again first.
        let has_come = |tick: &i64| *tick <= floor(moment.db);
        let last = known.rows.last().copied().filter(|_| is_over && self.is_calm(moment)).filter(has_come);
        let is_stuck = last.is_some() && last == known.hung_on;
        let (number, new) = (known.present().number, known.rows.range(known.counted_through + 1..).count());
        self.ticks += new as u64;
        let through = floor(row.state.cursor.decided_through);
        if let Some(known) = self.schedules.get_mut(&row.key) {
            known.counted_through = known.counted_through.max(through);
            known.hung_on = last;
        }
        if is_stuck {
            self.complain(
                moment,
                format!("1: nothing follows {} of s{number:02}", instant(last.unwrap_or_default())),
            );
        }
    }

    /// Where nothing is wrong, nothing that has come is unplanned.
    fn unplanned(&self, moment: Moment, row: &ScheduleRow, planned: i64) -> Option<String> {
        let known = self.schedules.get(&row.key)?;
        let is_active = known.standing == Standing::Active && row.state.status == Status::Active;
        if !is_active || !self.is_calm(moment) {
            return None;
        }
        let stretch = Stretch { after: planned, through: floor(moment.db) - 1 };
        let late = known.ticks(&self.walls, stretch);
        late.first().map(|tick| format!("nothing is wrong and {} is not planned", instant(*tick)))
    }

    /// Whoever follows a run has a run of its own for it.
    fn audit_chains(&mut self, moment: Moment) {
        let mut missing = Vec::new();
        for one in std::mem::take(&mut self.to_follow) {
            let Some(known) = self.schedules.get_mut(&one.schedule) else { continue };
            if !known.followed.remove(&one.upstream) && known.standing != Standing::Deleted {
                missing.push((known.present().number, one.upstream));
            }
        }
        for (number, upstream) in missing {
            self.complain(moment, format!("1: s{number:02} did not follow {upstream}"));
        }
    }

    /// At the end, with nothing wrong for long: nothing may be stuck.
    pub(crate) fn converged(&mut self, moment: Moment) {
        self.judge_rest(moment);
        let mut stuck: Vec<String> = Vec::new();
        for (key, seen) in &self.runs {
            let Some(known) = self.schedules.get(&seen.schedule) else { continue };
            let timeout =
                known.sketches.get(&seen.version).map_or(0, |sketch| sketch.policy.run_timeout.as_secs());
            let flown = seen.flew.map_or(0, |flew| moment.real.saturating_sub(flew).as_secs());
            let late = moment.db.duration_since(seen.fire_at);
            // What is given up is given up by the database's clock: one that was set back has to come to it again first.
            let is_due = seen.started.is_none_or(|at| moment.db.duration_since(at).as_secs() > timeout + 60);
            let is_stuck = match seen.status {
                status if status.is_in_flight() => {
                    is_due && flown > timeout.unsigned_abs() + 60 + self.rhythm.calm_after().as_secs()
                }
                punctual_plan::RunStatus::Scheduled => late > self.rhythm.late_max() * 2,
                _ => false,
            };
            if is_stuck {
                stuck.push(format!("L1: {key} of tick {} is {} for ever", instant(seen.tick), seen.status));
            }
        }
        stuck.sort();
        stuck.into_iter().for_each(|what| self.complain(moment, what));
    }
}

fn instant(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}
