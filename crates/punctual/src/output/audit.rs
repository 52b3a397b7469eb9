//! An audit, the audit log and its chain on the screen.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::{Audited, Failure};
use punctual_plan::{Basis, Hole};
use punctual_store::{Actor, AuditRow, Chain};
use serde_json::{Value, json};

use super::table::table;
use super::{Answer, Output, clock};

/// Holes of one schedule that a person is shown; JSON has all.
const HOLES_SHOWN: usize = 20;

/// Lines of one table; a longer audit has its headings again after so many.
const PAGE_ROWS_MAX: usize = 1_000;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// Audits that are told one by one.
pub(crate) struct Audits<'a> {
    output: &'a Output,
    answer: Option<Answer>,
    /// Those of the present page of a table.
    page: Vec<Audited>,
    count: usize,
    /// Holes that were found.
    pub(crate) holes: usize,
}

impl<'a> Audits<'a> {
    pub(crate) fn begin(output: &'a Output, stretch: Stretch) -> Result<Self, Failure> {
        let answer = match output.is_json() {
            true => {
                let mut answer = Answer::begin()?;
                answer.value("from", &stretch.from)?;
                answer.value("to", &stretch.to)?;
                answer.begin_list("audits")?;
                Some(answer)
            }
            false => None,
        };
        Ok(Self { output, answer, page: Vec::new(), count: 0, holes: 0 })
    }

    /// What the audit of a schedule found.
    pub(crate) fn add(&mut self, one: Audited) -> Result<(), Failure> {
        self.count += 1;
        self.holes += one.holes.len();
        match &mut self.answer {
            Some(answer) => answer.item(&audit_json(&one)),
            None => {
                self.page.push(one);
                if self.page.len() == PAGE_ROWS_MAX { self.show() } else { Ok(()) }
            }
        }
    }

    /// The end; how many holes there are.
    pub(crate) fn end(mut self) -> Result<usize, Failure> {
        if let Some(mut answer) = self.answer.take() {
            answer.end_list()?;
            answer.value("whole", &(self.holes == 0))?;
            answer.end()?;
        } else if self.count == 0 {
            self.output.text("there is no schedule to audit\n")?;
        } else {
            self.show()?;
        }
        Ok(self.holes)
    }

    fn show(&mut self) -> Result<(), Failure> {
        let audits = std::mem::take(&mut self.page);
        if audits.is_empty() {
            return Ok(());
        }
        let headings = ["SCHEDULE", "PLANNED", "RECORDED", "THROUGH", "PROVED", "COUNTS"];
        self.output.text(&table(&headings, audits.iter().map(cells)))?;
        audits.iter().try_for_each(|one| self.output.text(&notes(one)))
    }
}

fn zone_of(one: &Audited) -> TimeZone {
    punctual::zone_of(&one.schedule).to_jiff()
}

fn proved(one: &Audited) -> &'static str {
    match (one.holes.is_empty(), one.basis) {
        (false, _) => "no",
        (true, Basis::Spec) => "yes",
        (true, Basis::Runs) => "by its runs",
    }
}

fn cells(one: &Audited) -> Vec<String> {
    let counts: Vec<String> = one.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let through = one.through.map_or("-".to_owned(), |at| clock(at, &zone_of(one)));
    let planned = if one.basis == Basis::Spec { one.planned.to_string() } else { "-".to_owned() };
    vec![
        one.schedule.definition.name.clone(),
        planned,
        one.recorded.to_string(),
        through,
        proved(one).to_owned(),
        counts.join(", "),
    ]
}

fn notes(one: &Audited) -> String {
    let (name, zone) = (&one.schedule.definition.name, zone_of(one));
    let mut said = String::new();
    if let Some(open) = &one.open {
        said += &format!("\n`{name}` is open since {}: {}\n", clock(open.since, &zone), open.why);
    }
    for hole in one.holes.iter().take(HOLES_SHOWN) {
        said += &format!("\nhole in `{name}`: {}\n", hole_text(hole, &zone));
    }
    if let Some(more) = one.holes.len().checked_sub(HOLES_SHOWN).filter(|more| *more > 0) {
        said += &format!("… and {more} more holes of it; `--json` has them\n");
    }
    said
}

fn hole_text(hole: &Hole, zone: &TimeZone) -> String {
    match hole {
        Hole::Missing { first, count: 1, .. } => format!("the tick at {} has no entry", clock(*first, zone)),
        Hole::Missing { first, last, count } => {
            format!("{count} ticks from {} to {} have no entry", clock(*first, zone), clock(*last, zone))
        }
        Hole::Doubled { tick, entries } => {
            format!("the tick at {} has {entries} entries", clock(*tick, zone))
        }
        Hole::Foreign { at } => format!("there is an entry at {}, which is no tick", clock(*at, zone)),
        Hole::Miscounted { span, found } => format!(
            "the stretch from {} to {} counts {} ticks and has {found}",
            clock(span.first, zone),
            clock(span.last, zone),
            span.count
        ),
    }
}

fn hole_json(hole: &Hole) -> Value {
    match hole {
        Hole::Missing { first, last, count } => {
            json!({"hole": "missing", "first": first, "last": last, "count": count})
        }
        Hole::Doubled { tick, entries } => json!({"hole": "doubled", "tick": tick, "entries": entries}),
        Hole::Foreign { at } => json!({"hole": "foreign", "at": at}),
        Hole::Miscounted { span, found } => json!({
            "hole": "miscounted", "first": span.first, "last": span.last, "count": span.count, "found": found,
        }),
    }
}

fn audit_json(one: &Audited) -> Value {
    json!({
        "schedule_id": one.schedule.definition.id.to_string(),
        "schedule_name": one.schedule.definition.name,
        "from": one.from,
        "through": one.through,
        "planned": (one.basis == Basis::Spec).then_some(one.planned),
        "recorded": one.recorded,
        "proved": one.basis == Basis::Spec && one.holes.is_empty(),
        "basis": if one.basis == Basis::Spec { "spec" } else { "runs" },
        "counts": one.counts,
        "holes": one.holes.iter().map(hole_json).collect::<Vec<_>>(),
        "open": one.open.as_ref().map(|open| json!({"since": open.since, "why": open.why})),
    })
}

/// Events of the audit log.
pub(crate) fn log(output: &Output, events: &[AuditRow]) -> Result<(), Failure> {
    let event = |row: &AuditRow| {
        json!({
            "seq": row.seq,
            "at": row.at,
            "actor": actor(row),
            "kind": row.kind,
            "schedule_id": row.schedule.map(|id| id.to_string()),
            "run_id": row.run.map(|run| run.to_string()),
            "detail": row.detail,
            "position": row.sealed.as_ref().map(|(position, _)| position),
            "hash": row.sealed.as_ref().map(|(_, hash)| hash),
        })
    };
    output.write(&json!({"events": events.iter().map(event).collect::<Vec<_>>()}), || {
        if events.is_empty() {
            return "no event fits\n".to_owned();
        }
        let cells = events.iter().map(|row| {
            vec![
                row.seq.to_string(),
                clock(row.at, &TimeZone::UTC),
                actor(row).to_owned(),
                row.kind.clone(),
                row.detail.clone(),
            ]
        });
        table(&["SEQ", "AT", "WHO", "KIND", "WHAT"], cells)
    })
}

fn actor(row: &AuditRow) -> &str {
    match &row.actor {
        Actor::Engine => "engine",
        Actor::User(name) => name,
    }
}

/// What a check of the chain found.
pub(crate) fn chain(output: &Output, chain: &Chain) -> Result<(), Failure> {
    let json = json!({
        "verified": chain.broken.is_none(),
        "checked": chain.checked,
        "unsealed": chain.unsealed,
        "broken": chain.broken.as_ref().map(|(seq, what)| json!({"seq": seq, "what": what})),
    });
    output.write(&json, || {
        let tail = match chain.unsealed {
            0 => "none waits for its seal".to_owned(),
            1 => "the latest one waits for its seal".to_owned(),
            more => format!("the latest {more} wait for their seals"),
        };
        match &chain.broken {
            None => format!("{} sealed events are as they were written; {tail}\n", chain.checked),
            Some((seq, what)) => format!("event {seq} does not fit its seal: {what}; {tail}\n"),
        }
    })
}
