//! Rules: which edition of the zones' rules holds for which ticks, and that the newest one soon holds for all to come.
//!
//! Each plan holds for what it planned. Whoever brings newer rules plans again what they move; what was planned before, and
//! is the same by both, stays.

use jiff::Timestamp;
use punctual_plan::{ScheduleKey, Status};
use punctual_store::{PlanCommit, ScheduleRow, ScheduleWrite, Write};

use super::known::floor;
use super::{Moment, Oracle, Standing};
use crate::wall::Stretch;

impl Oracle {
    /// The newest rules that a node has brought.
    pub(crate) fn rules(&self) -> usize {
        self.rules
    }

    /// A node has come that may plan by these.
    pub(crate) fn brought(&mut self, moment: Moment, rules: usize) {
        if rules > self.rules {
            (self.rules, self.ruled_since) = (rules, moment.real);
        }
    }

    /// Somebody with the newest rules has changed a schedule that was planned so far, at an instant.
    pub(crate) fn ruled(&mut self, key: ScheduleKey, planned_through: Timestamp, at: Timestamp) {
        self.cut(key, (planned_through, at), self.rules);
    }

    /// What was not planned is decided with the change; if all was, what was planned beyond it is planned anew.
    fn cut(&mut self, key: ScheduleKey, (planned_through, at): (Timestamp, Timestamp), rules: usize) {
        if let Some(known) = self.schedules.get_mut(&key) {
            let is_behind = planned_through <= at;
            let from = if is_behind { floor(planned_through) } else { floor(at).max(known.reached) };
            known.rule(from, rules);
        }
    }

    /// A node has planned by its rules.
    pub(crate) fn planned(&mut self, plan: &PlanCommit, rules: usize) {
        if let Some(known) = self.schedules.get_mut(&plan.schedule) {
            known.rule(floor(plan.from.planned_through), rules);
        }
    }

    /// A node has planned a schedule again, for its rules move something.
    pub(crate) fn replanned(&mut self, moment: Moment, write: &ScheduleWrite, rules: usize) {
        let Write::Change { schedule, from, changed, .. } = &write.write else { return };
        let at = changed.plan.cursor.decided_through;
        self.cut(*schedule, (from.planned_through, at), rules);
        self.say(moment, *schedule, &write.note);
        if let Some(known) = self.schedules.get_mut(schedule) {
            known.edit(std::sync::Arc::clone(known.present()), at, rules);
            known.decided_through = known.decided_through.max(at);
        }
    }

    /// Where nothing is wrong, and has not been since newer rules came, all that is still to come is where they put it.
    pub(super) fn unruled(&self, moment: Moment, row: &ScheduleRow) -> Option<String> {
        let known = self.schedules.get(&row.key)?;
        let is_active = known.standing == Standing::Active && row.state.status == Status::Active;
        let is_over = row.spent_at.is_some() || moment.real < self.ruled_since + self.rhythm.calm_after();
        if self.rules == 0 || !is_active || is_over || !self.is_calm(moment) {
            return None;
        }
        let sketch = known.present();
        let wall = self.walls.of(sketch, self.rules);
        let planned = floor(row.state.cursor.planned_through);
        let from = floor(moment.db).max(floor(row.state.cursor.decided_through)).max(known.reached) + 1;
        let ticks = sketch.ticks(wall, known.made, Stretch { after: from, through: planned });
        let rows: Vec<i64> = known.rows.range(from + 1..).copied().collect();
        if ticks != rows {
            return Some(format!("{rows:?} are to come, and by the newest rules {ticks:?}"));
        }
        let next = row.next_tick?.as_second();
        let ticks = sketch.ticks(wall, known.made, Stretch { after: planned, through: next });
        (ticks != [next]).then(|| format!("{next} is to come next, and by the newest rules {ticks:?}"))
    }
}
