//! What a file of schedules does to the database, on the screen.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::shape::proposal::{change, shared, verb};
use punctual::{Applied, Failure, Proposal, Proposed};
use punctual_plan::{Drift, FieldDrift, FiresChanged};
use serde_json::{Value, json};

use super::table::table;
use super::{Answer, Output, clock};

/// Schedules of a table; JSON has all.
const ROWS_MAX: usize = 200;

/// Fires of a schedule in a table.
const FIRES_MAX: usize = 3;

/// What would be done.
pub(crate) fn proposed(output: &Output, proposal: &Proposal) -> Result<(), Failure> {
    match output.is_json() {
        true => begin_json(proposal)?.end(),
        false => output.text(&proposal_text(proposal)),
    }
}

/// What was done.
pub(crate) fn applied(output: &Output, proposal: &Proposal, applied: Applied) -> Result<(), Failure> {
    if output.is_json() {
        let mut answer = begin_json(proposal)?;
        answer.value("applied", &true)?;
        answer.value("summary", &summary_json(applied))?;
        return answer.end();
    }
    let Applied { added, changed, removed, toggled, shared, unchanged } = applied;
    let shared = match shared {
        0 => String::new(),
        many => format!("; {many} shared things written"),
    };
    let toggled = match toggled {
        0 => String::new(),
        many => format!(", {many} enabled or disabled"),
    };
    output.text(&format!(
        "{}applied the set `{}`: {added} added, {changed} changed, {removed} removed{toggled}, \
         {unchanged} as before{shared}\n",
        changes_text(proposal),
        proposal.set
    ))
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
fn begin_json(proposal: &Proposal) -> Result<Answer, Failure> {
    let mut answer = Answer::begin()?;
    answer.value("set", &proposal.set)?;
    answer.value("from", &proposal.now)?;
    answer.value("to", &proposal.until)?;
    answer.value("unchanged", &proposal.unchanged)?;
    answer.list("changes", proposal.changes.iter().map(|one| change(proposal, one)))?;
    answer.list("shared", proposal.shared.iter().map(shared))?;
    Ok(answer)
}

fn proposal_text(proposal: &Proposal) -> String {
    let same = proposal.unchanged;
    if proposal.drift().next().is_none() {
        return format!("the database is as the file says: {same} schedules\n");
    }
    let fires = proposal.changes.iter().map(|change| proposal.fires(change));
    let (added, removed) = fires
        .fold((0, 0), |(added, removed), fires| (added + fires.added_count, removed + fires.removed_count));
    let until = clock(proposal.until, &TimeZone::UTC);
    format!(
        "{}until {until}: {added} fires more, {removed} fewer; {same} schedules as before\n",
        changes_text(proposal)
    )
}

fn changes_text(proposal: &Proposal) -> String {
    let changes = &proposal.changes;
    let mut text = String::new();
    for one in &proposal.shared {
        let verb = if one.is_stored { "changes" } else { "adds" };
        text += &format!("{verb} `{}` of the {}\n", one.name, one.kind.table().replace('_', " "));
    }
    if changes.is_empty() {
        return text;
    }
    let cells = |change: &Proposed| {
        vec![verb(change).to_owned(), change.name.clone(), fires(&proposal.fires(change)), what(change)]
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
