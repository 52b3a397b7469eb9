//! What a file of schedules does to the database, on the screen.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::{Applied, Failure, Proposal, Proposed, Toggle};
use punctual_plan::{Drift, FieldDrift, FiresChanged};
use serde_json::{Value, json};

use super::table::table;
use super::{Output, clock};

/// Schedules of a table; JSON has all.
const ROWS_MAX: usize = 200;

/// Fires of a schedule in a table.
const FIRES_MAX: usize = 3;

/// What would be done.
pub(crate) fn proposed(output: &Output, proposal: &Proposal) -> Result<(), Failure> {
    output.write(&proposal_json(proposal), || proposal_text(proposal))
}

/// What was done.
pub(crate) fn applied(output: &Output, proposal: &Proposal, applied: Applied) -> Result<(), Failure> {
    let mut json = proposal_json(proposal);
    json["applied"] = json!(true);
    json["summary"] = summary_json(applied);
    output.write(&json, || {
        let Applied { added, changed, removed, toggled, shared, unchanged } = applied;
        let shared = match shared {
            0 => String::new(),
            many => format!("; {many} shared things written"),
        };
        let toggled = match toggled {
            0 => String::new(),
            many => format!(", {many} enabled or disabled"),
        };
        format!(
            "{}applied the set `{}`: {added} added, {changed} changed, {removed} removed{toggled}, \
             {unchanged} as before{shared}\n",
            changes_text(proposal),
            proposal.set
        )
    })
}

fn summary_json(applied: Applied) -> Value {
    let Applied { added, changed, removed, toggled, shared, unchanged } = applied;
    json!({
        "added": added,
        "changed": changed,
        "removed": removed,
        "toggled": toggled,
        "shared": shared,
        "unchanged": unchanged,
    })
}

/// The proposal in JSON; what stays as it is is only counted.
pub(crate) fn proposal_json(proposal: &Proposal) -> Value {
    let changes: Vec<Value> =
        proposal.changes.iter().filter(|change| change.is_change()).map(change_json).collect();
    let shared: Vec<Value> = proposal
        .shared
        .iter()
        .map(|one| {
            let change = if one.is_stored { "changed" } else { "added" };
            json!({"kind": one.kind.table(), "name": one.name, "change": change})
        })
        .collect();
    json!({
        "set": proposal.set,
        "from": proposal.now,
        "to": proposal.until,
        "unchanged": proposal.changes.len() - changes.len(),
        "changes": changes,
        "shared": shared,
    })
}

fn change_json(change: &Proposed) -> Value {
    let mut json = json!({
        "name": change.name,
        "change": verb(change),
        "fires_added": change.fires.added_count,
        "fires_removed": change.fires.removed_count,
        "added": change.fires.added,
        "removed": change.fires.removed,
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

fn verb(change: &Proposed) -> &'static str {
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

fn proposal_text(proposal: &Proposal) -> String {
    let drift = proposal.drift();
    if drift.is_empty() {
        return format!("the database is as the file says: {} schedules\n", proposal.changes.len());
    }
    let (added, removed) = proposal.changes.iter().fold((0, 0), |(added, removed), change| {
        (added + change.fires.added_count, removed + change.fires.removed_count)
    });
    let until = clock(proposal.until, &TimeZone::UTC);
    let same = proposal.changes.iter().filter(|change| !change.is_change()).count();
    format!(
        "{}until {until}: {added} fires more, {removed} fewer; {same} schedules as before\n",
        changes_text(proposal)
    )
}

fn changes_text(proposal: &Proposal) -> String {
    let changes: Vec<&Proposed> = proposal.changes.iter().filter(|change| change.is_change()).collect();
    let mut text = String::new();
    for one in &proposal.shared {
        let verb = if one.is_stored { "changes" } else { "adds" };
        text += &format!("{verb} `{}` of the {}\n", one.name, one.kind.table().replace('_', " "));
    }
    if changes.is_empty() {
        return text;
    }
    let cells = |change: &&Proposed| {
        vec![verb(change).to_owned(), change.name.clone(), fires(&change.fires), what(change)]
    };
    text += &table(&["CHANGE", "NAME", "FIRES (UTC)", "WHAT"], changes.iter().take(ROWS_MAX).map(cells));
    if changes.len() > ROWS_MAX {
        text += &format!("… and {} more; `--json` has all of them\n", changes.len() - ROWS_MAX);
    }
    text
}

fn what(change: &Proposed) -> String {
    match &change.drift {
        Drift::Changed(fields) if fields.is_empty() => "it could not be read any more".to_owned(),
        Drift::Changed(fields) => fields.iter().map(field_text).collect::<Vec<_>>().join("; "),
        Drift::Taken { by: Some(set) } => format!("the set `{set}` made it; it is left alone"),
        Drift::Taken { by: None } => "somebody made it by hand; it is left alone".to_owned(),
        _ => String::new(),
    }
}

fn field_text(field: &FieldDrift) -> String {
    let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") };
    format!("{} {} → {}", field.field, shown(&field.stored), shown(&field.declared))
}

fn fires(fires: &FiresChanged) -> String {
    let first = |some: &[Timestamp], count: u64, sign: &str| -> Option<String> {
        let times: Vec<String> = some.iter().take(FIRES_MAX).map(|at| minute(*at)).collect();
        let more = count.saturating_sub(times.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (count > 0).then(|| format!("{sign} {}{more}", times.join(", ")))
    };
    let added = first(&fires.added, fires.added_count, "+");
    let removed = first(&fires.removed, fires.removed_count, "-");
    added.into_iter().chain(removed).collect::<Vec<_>>().join("; ")
}

/// A day and a time of it; its second where it is not the first of the minute.
fn minute(at: Timestamp) -> String {
    let form = if at.as_second() % 60 == 0 { "%m-%d %H:%M" } else { "%m-%d %H:%M:%S" };
    at.strftime(form).to_string()
}
