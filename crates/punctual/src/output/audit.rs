//! An audit, the audit log and its chain on the screen.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::Failure;
use punctual::shape::{Audit, AuditLog, Broken, Chain, Hole};

use super::prose::hung;
use super::table::{table, table_without};
use super::{Answer, Output, clock};

/// Holes of one schedule that a person is shown; JSON has all.
const HOLES_SHOWN: usize = 20;

/// Lines of one table; a longer audit has its headings again after so many.
const PAGE_ROWS_MAX: usize = 1_000;

/// Audits that are told one by one.
pub(crate) struct Audits<'a> {
    output: &'a Output,
    answer: Option<Answer>,
    /// Those of the present page of a table.
    page: Vec<Audit>,
    count: usize,
    /// Holes that were found.
    holes: usize,
}

impl<'a> Audits<'a> {
    pub(crate) fn begin(output: &'a Output, stretch: RangeInclusive<Timestamp>) -> Result<Self, Failure> {
        let answer = match output.is_json() {
            true => {
                let mut answer = Answer::begin()?;
                answer.value("from", stretch.start())?;
                answer.value("to", stretch.end())?;
                answer.begin_list("audits")?;
                Some(answer)
            }
            false => None,
        };
        Ok(Self { output, answer, page: Vec::new(), count: 0, holes: 0 })
    }

    /// What the audit of a schedule found.
    pub(crate) fn add(&mut self, one: Audit) -> Result<(), Failure> {
        self.count += 1;
        self.holes += one.holes.len();
        match &mut self.answer {
            Some(answer) => answer.item(&one.plain()),
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
        // What is not recorded is told below, so a narrow terminal misses nothing.
        self.output.text(&table_without(&["RECORDED"], &headings, audits.iter().map(cells)))?;
        audits.iter().try_for_each(|one| self.output.text(&hung(&notes(one), 2)))
    }
}

fn zone_of(one: &Audit) -> TimeZone {
    super::zone(one.timezone.as_deref())
}

fn proved(one: &Audit) -> &'static str {
    match (one.holes.is_empty(), one.proved) {
        (false, _) => "no",
        (true, true) => "yes",
        (true, false) => "by its runs",
    }
}

fn cells(one: &Audit) -> Vec<String> {
    let counts: Vec<String> = one.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let through = one.through.map_or("-".to_owned(), |at| clock(at, &zone_of(one)));
    let planned = one.planned.map_or("-".to_owned(), |planned| planned.to_string());
    vec![
        one.schedule_name.clone(),
        planned,
        one.recorded.to_string(),
        through,
        proved(one).to_owned(),
        counts.join(", "),
    ]
}

fn notes(one: &Audit) -> String {
    let (name, zone) = (&one.schedule_name, zone_of(one));
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
        Hole::Miscounted { first, last, count, found } => format!(
            "the stretch from {} to {} counts {count} ticks and has {found}",
            clock(*first, zone),
            clock(*last, zone),
        ),
    }
}

/// Events of the audit log.
pub(crate) fn log(output: &Output, log: &AuditLog) -> Result<(), Failure> {
    output.write(log, || {
        if log.events.is_empty() {
            return "no event fits\n".to_owned();
        }
        let cells = log.events.iter().map(|event| {
            vec![
                event.seq.to_string(),
                clock(event.at, &TimeZone::UTC),
                event.actor.clone(),
                event.kind.clone(),
                event.detail.clone(),
            ]
        });
        table(&["SEQ", "AT", "WHO", "KIND", "WHAT"], cells)
    })
}

/// What a check of the chain found.
pub(crate) fn chain(output: &Output, chain: &Chain) -> Result<(), Failure> {
    output.write(chain, || {
        let tail = match chain.unsealed {
            0 => "none waits for its seal".to_owned(),
            1 => "the latest one waits for its seal".to_owned(),
            more => format!("the latest {more} wait for their seals"),
        };
        match &chain.broken {
            None => format!("{} sealed events are as they were written; {tail}\n", chain.checked),
            Some(Broken { seq, what }) => format!("event {seq} does not fit its seal: {what}; {tail}\n"),
        }
    })
}
