//! What a file of schedules would do to the database, as JSON.

use punctual_plan::{Drift, FieldDrift};
use serde_json::{Value, json};

use crate::{Proposal, Proposed, SharedChange, Toggle};

/// A proposal; what stays as it is is only counted.
pub fn proposal(proposal: &Proposal) -> Value {
    let changes: Vec<Value> = proposal.changes.iter().map(|one| change(proposal, one)).collect();
    let shared: Vec<Value> = proposal.shared.iter().map(shared).collect();
    json!({
        "set": proposal.set,
        "from": proposal.now,
        "to": proposal.until,
        "unchanged": proposal.unchanged,
        "changes": changes,
        "shared": shared,
    })
}

/// A shared thing that is added or changed.
pub fn shared(one: &SharedChange) -> Value {
    let change = if one.is_stored { "changed" } else { "added" };
    json!({"kind": one.kind.table(), "name": one.name, "change": change})
}

/// What becomes of one schedule, and of its fires.
pub fn change(proposal: &Proposal, change: &Proposed) -> Value {
    let fires = proposal.fires(change);
    let mut json = json!({
        "name": change.name,
        "change": verb(change),
        "fires_added": fires.added_count,
        "fires_removed": fires.removed_count,
        "added": fires.added,
        "removed": fires.removed,
    });
    match &change.drift {
        Drift::Changed(fields) => {
            let field =
                |one: &FieldDrift| json!({"field": one.field, "before": one.stored, "after": one.declared});
            json["fields"] = fields.iter().map(field).collect();
        }
        Drift::Taken { by } => json["made_by"] = json!(by),
        _ => {}
    }
    if let Some(toggle) = change.toggle {
        json["enabled"] = json!(toggle == Toggle::Enable);
    }
    json
}

/// What becomes of a schedule, in a word.
pub fn verb(change: &Proposed) -> &'static str {
    match (&change.drift, change.toggle) {
        (Drift::Added, _) => "added",
        (Drift::Removed, _) => "removed",
        (Drift::Changed(_), _) => "changed",
        (Drift::Taken { .. }, _) => "taken",
        (Drift::Unchanged, Some(Toggle::Disable)) => "disabled",
        (Drift::Unchanged, Some(Toggle::Enable)) => "enabled",
        (Drift::Unchanged, None) => "unchanged",
    }
}
