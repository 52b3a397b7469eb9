//! Trials: what the schedules of a file would do in a world that the person describes.
//!
//! Start with [`Trial`]; `world` reads what happens in it (outages, run times, failures), `deed` what people do.

mod deed;
mod world;

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Behaviour, Edit, Member, OrgLimits, Outage, Scenario, Simulated, Status, simulate};
use punctual_time::{Once, Zone};

use crate::Failure;
use crate::declare::{self, Declared, Overlay};

pub use deed::Deed;
pub use world::{Failures, RunTime, outage};

/// The longest stretch of one trial.
const SPAN_MAX: SignedDuration = SignedDuration::from_hours(3_660 * 24);

/// How long a trial lasts that does not say.
const SPAN: SignedDuration = SignedDuration::from_hours(24);

/// A file of schedules and the world to try it in.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The file or folder.
    pub file: PathBuf,
    /// When it is applied to an empty installation that starts then.
    pub from: Timestamp,
    /// Where it ends, included.
    pub to: Timestamp,
    /// Keys laid over its schedules.
    pub overlays: Vec<Overlay>,
    /// When no node runs.
    pub outages: Vec<Outage>,
    /// How long runs take.
    pub run_times: Vec<RunTime>,
    /// Which attempts fail.
    pub failures: Vec<Failures>,
    /// What people do.
    pub deeds: Vec<Deed>,
}

/// What a trial came to.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What the file says.
    pub declared: Declared,
    /// The ledger, its accounts in the order of the declared schedules.
    pub simulated: Simulated,
}

impl Trial {
    /// A day of a file from an instant on, in a world where every run ends well at once.
    pub fn new(file: impl Into<PathBuf>, from: Timestamp) -> Self {
        Self {
            file: file.into(),
            from,
            to: from.saturating_add(SPAN).unwrap_or(Timestamp::MAX),
            overlays: Vec::new(),
            outages: Vec::new(),
            run_times: Vec::new(),
            failures: Vec::new(),
            deeds: Vec::new(),
        }
    }

    /// Lets the schedules run through their time.
    ///
    /// # Errors
    /// When the file cannot be meant, or the world names a schedule that it does not declare.
    pub fn run(&self) -> Result<Tried, Failure> {
        let declared = declare::read_over(&self.file, &declare::Ground::alone(self.from), &self.overlays)?;
        let simulated = simulate(&self.scenario(&declared)?);
        Ok(Tried { declared, simulated })
    }

    fn scenario(&self, declared: &Declared) -> Result<Scenario, Failure> {
        let span = self.to.duration_since(self.from);
        if span.is_negative() || span.is_zero() {
            return Err(Failure::invalid(
                format!("the trial ends at {} and begins only at {}", self.to, self.from),
                "let `--to` be later than `--from`",
            ));
        }
        if span > SPAN_MAX {
            return Err(Failure::invalid("the trial is longer than ten years", "choose a nearer `--to`"));
        }
        self.refuse_elsewhen()?;
        let mut scenario = Scenario::new(self.from, self.to, members(declared));
        scenario.pace = declared.settings.pace;
        scenario.limits = Some(declared.settings.limits).filter(OrgLimits::is_limiting);
        scenario.outages = world::merge(&self.outages);
        for run_time in &self.run_times {
            let (behaviour, takes) =
                (self.behaviour(&mut scenario, run_time.schedule.as_deref(), declared)?, run_time.takes);
            behaviour.for_each(|behaviour| behaviour.run_time = takes);
        }
        for failures in &self.failures {
            let behaviour = self.behaviour(&mut scenario, failures.schedule.as_deref(), declared)?;
            behaviour.for_each(|behaviour| {
                behaviour.failing = failures.failing;
                behaviour.how = failures.how;
            });
        }
        scenario.edits = self.edits(declared)?;
        Ok(scenario)
    }

    /// Refuses what would be ignored because it happens before or after the trial.
    fn refuse_elsewhen(&self) -> Result<(), Failure> {
        let refuse = |what: String| {
            let message = format!("{what} is not within the trial, from {} to {}", self.from, self.to);
            Err(Failure::invalid(message, "choose a time within it, or another `--from` or `--to`"))
        };
        if let Some(outage) = self.outages.iter().find(|one| one.to <= self.from || one.from > self.to) {
            return refuse(format!("the outage from {} to {}", outage.from, outage.to));
        }
        match self.deeds.iter().find(|deed| deed.at < self.from || deed.at > self.to) {
            Some(deed) => refuse(format!("what is done to `{}` at {}", deed.schedule, deed.at)),
            None => Ok(()),
        }
    }

    /// The behaviour of one schedule, or of all of them.
    fn behaviour<'a>(
        &self,
        scenario: &'a mut Scenario,
        schedule: Option<&str>,
        declared: &Declared,
    ) -> Result<Box<dyn Iterator<Item = &'a mut Behaviour> + 'a>, Failure> {
        let Some(name) = schedule else {
            let all = scenario.behaviours.values_mut().chain(std::iter::once(&mut scenario.behaviour));
            return Ok(Box::new(all));
        };
        declared.get(name)?;
        let usual = scenario.behaviour.clone();
        Ok(Box::new(std::iter::once(scenario.behaviours.entry(name.to_owned()).or_insert(usual))))
    }

    fn edits(&self, declared: &Declared) -> Result<Vec<Edit>, Failure> {
        let mut edits = Vec::new();
        let mut overlays = self.overlays.clone();
        let mut deeds: Vec<&Deed> = self.deeds.iter().collect();
        deeds.sort_by_key(|deed| deed.at);
        for deed in deeds {
            let schedule = declared.get(&deed.schedule)?.definition.id;
            overlays.extend(deed.overlay());
            let changed = || -> Result<punctual_plan::Schedule, Failure> {
                let declared = declare::read_over(&self.file, &declare::Ground::alone(self.from), &overlays)?;
                Ok(declared.get(&deed.schedule)?.definition.clone())
            };
            edits.push(Edit { at: deed.at, schedule, act: deed.act(changed)? });
        }
        Ok(edits)
    }
}

/// The schedules as they start: a declared file on an empty database follows the first-start rule.
fn members(declared: &Declared) -> Vec<Member> {
    let member = |schedule: &declare::Schedule| {
        let status = match schedule.enabled {
            true => Status::Active,
            false => Status::PausedManual { by: "the file".to_owned(), note: "enabled: false".to_owned() },
        };
        Member {
            schedule: schedule.definition.clone(),
            status,
            starts_at_once: schedule.after_start.is_none(),
        }
    };
    declared.schedules.iter().map(member).collect()
}

/// Reads an instant: RFC 3339, or a local time in UTC.
///
/// # Errors
/// When it is neither.
pub fn instant(text: &str) -> Result<Timestamp, Failure> {
    let read = Once::parse(text.trim(), &Zone::utc());
    let hint = "write `2026-12-24T18:00:00+01:00`, or `2026-12-24T18:00` for a time in UTC";
    let once = read.map_err(|error| Failure { hint: Some(hint.to_owned()), ..error.into() })?;
    Ok(once.instant())
}
