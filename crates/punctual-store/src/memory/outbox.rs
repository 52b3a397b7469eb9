//! The outbox: messages get their place after the commit that wrote them.

use super::data::Data;
use super::table::MessageRecord;
use crate::{OutboxRow, Scope};

impl Data {
    pub(super) fn sequence_outbox(&mut self) -> u64 {
        // Places are given in the order of writing, so what has none yet stands at the end.
        let new = self.outbox.iter().rev().take_while(|(_, row)| row.position.is_none());
        let new: Vec<i64> = new.map(|(seq, _)| *seq).collect();
        for seq in new.iter().rev() {
            self.position_last += 1;
            if let Some(row) = self.outbox.get_mut(seq) {
                row.position = Some(self.position_last);
            }
            self.outbox_positions.insert(self.position_last, *seq);
        }
        new.len() as u64
    }

    pub(super) fn messages(&self, scope: &Scope, after: i64, limit: usize) -> Vec<OutboxRow> {
        let places = self.outbox_positions.range(after.saturating_add(1)..);
        let rows = places.filter_map(|(position, seq)| Some((*position, self.outbox.get(seq)?)));
        let row = |(position, row): (i64, &MessageRecord)| OutboxRow {
            position,
            org: row.org,
            run: row.run,
            message_id: row.message_id.clone(),
            body: row.body.clone(),
            at: row.at,
        };
        rows.filter(|(_, row)| scope.covers(row.org)).take(limit).map(row).collect()
    }

    pub(super) fn acknowledge_outbox(&mut self, scope: &Scope, through: i64) -> u64 {
        let done = self
            .outbox_positions
            .range(..=through)
            .filter(|(_, seq)| self.outbox.get(seq).is_some_and(|row| scope.covers(row.org)));
        let done: Vec<(i64, i64)> = done.map(|(position, seq)| (*position, *seq)).collect();
        for (position, seq) in &done {
            self.outbox_positions.remove(position);
            self.outbox.remove(seq);
        }
        done.len() as u64
    }
}
