//! Breakers: shown, and closed by hand.

use jiff::Timestamp;
use punctual_plan::{Breaker, Event};

use super::data::Data;
use super::table::{BreakerRecord, EventRecord};
use crate::{BreakerRow, Error, Scope, TransitionRow};

impl Data {
    pub(super) fn breaker_rows(&self, scope: &Scope) -> Vec<BreakerRow> {
        let open = self
            .breakers
            .iter()
            .filter(|((org, _), record)| scope.covers(*org) && record.breaker != Breaker::default());
        let row = |((_, target), record): (&(punctual_plan::OrgKey, String), &BreakerRecord)| BreakerRow {
            target: target.clone(),
            breaker: record.breaker,
            changed_at: record.changed_at,
        };
        open.map(row).collect()
    }

    pub(super) fn transition_rows(&self, scope: &Scope, target: &str, limit: u32) -> Vec<TransitionRow> {
        let moves = self.transitions.values().rev();
        let moves = moves.filter(|one| scope.covers(one.org) && one.target == target).take(limit as usize);
        let row = |one: &super::table::TransitionRecord| TransitionRow {
            target: one.target.clone(),
            at: one.at,
            from: one.from.clone(),
            to: one.to.clone(),
            run: one.run,
        };
        moves.map(row).collect()
    }

    pub(super) fn reset_breaker(
        &mut self,
        scope: &Scope,
        target: String,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let place = (scope.one()?, target);
        let Some(before) = self.breakers.get(&place).map(|record| record.breaker) else { return Ok(false) };
        let to = Breaker::default();
        self.move_breaker(place.clone(), BreakerRecord { breaker: to, changed_at: now }, None);
        let was_shut = before.name() != to.name();
        if was_shut {
            let event = Event::BreakerMoved { target: place.1, to };
            let actor = scope.user();
            self.record(EventRecord {
                org: place.0,
                at: now,
                actor,
                kind: event.name().to_owned(),
                schedule: None,
                run: None,
                detail: event.to_string(),
            });
        }
        Ok(was_shut)
    }
}
