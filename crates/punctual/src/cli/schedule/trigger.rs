//! `trigger`, and `punctual request create`: runs that a person asks for.

use clap::{Args, Subcommand};
use punctual::ask::{Flag, Get, List, One, Which};
use punctual::shape::{Item, Schedule, Triggered, TriggeredMany, TriggeredOne, WouldTrigger};
use punctual::{Failure, Kind, Listing, ask};
use punctual_plan::{Object, RunStatus};
use serde_json::Value;

use super::fields::RequestFields;
use super::which::{Meant, Whose};
use crate::cli::door::Door;
use crate::output::{Output, note, schedules};

#[derive(Debug, Args)]
pub(crate) struct Trigger {
    #[command(flatten)]
    whose: Whose,
    /// Run beside whatever is in flight
    #[arg(long)]
    force: bool,
    /// What this run carries on top of what runs of the schedule do: a JSON object, key by key
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// A key of your own: the same request with the same key runs once
    #[arg(long, value_name = "KEY")]
    request_key: Option<String>,
    /// Wait until the run has ended, and fail if it did
    #[arg(long)]
    wait: bool,
    /// Show what would run, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Trigger {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let meant = self.whose.meant();
        let names = named(door, &meant).await?;
        let payload = self.payload.as_deref().map(object).transpose()?;
        if self.dry_run {
            let schedules = names.into_iter().map(|(name, _)| name).collect();
            return schedules::would_trigger(output, &WouldTrigger { dry_run: true, schedules });
        }
        let mut requests = Vec::new();
        for (name, which) in names {
            let (force, payload, request_key) =
                (self.force.into(), payload.clone(), self.request_key.clone());
            let one = door.ask(&ask::Trigger { which, force, payload, request_key }).await?;
            requests.push(TriggeredOne { name, request_id: one.request_id, run_id: one.run_id });
        }
        match (&meant, requests.as_slice()) {
            (Meant::One(_), [TriggeredOne { name, request_id, run_id }]) => {
                let (request_id, run_id) = (request_id.clone(), run_id.clone());
                schedules::triggered(output, name, &Triggered { triggered: true, request_id, run_id })?;
            }
            _ => {
                let all = TriggeredMany { triggered: true, requests: requests.clone() };
                schedules::triggered_many(output, &all)?;
            }
        }
        let is_served = door.is_served().await?;
        if !is_served {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        if self.wait && is_served {
            wait(door, &requests).await?;
        }
        Ok(())
    }
}

/// Reads a JSON object.
fn object(text: &str) -> Result<Object, Failure> {
    let refuse = |why: &str| {
        let hint = r#"write an object such as `{"key": "value"}`, in single quotes for the shell"#;
        Failure::invalid(format!("--payload: this is {why}"), hint)
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(refuse("JSON, but no object")),
        Err(error) => Err(refuse(&format!("not JSON: {error}"))),
    }
}

/// Those who are meant, with their names.
async fn named(door: &Door, meant: &Meant) -> Result<Vec<(String, Which)>, Failure> {
    match meant {
        Meant::One(which) => {
            let schedule = door.ask(&Get { which: which.clone(), aside: Flag::No }).await?.schedule.schedule;
            let id = schedule.definition.id;
            Ok(vec![(
                schedule.definition.name,
                if schedule.deleted_at.is_some() { which.clone() } else { Which::id(id) },
            )])
        }
        Meant::Many(tag) => {
            let listing = Listing { tag: Some(tag.clone()), ..Listing::default() };
            let mut pages = door.list(List { listing });
            let one = |one: Schedule| (one.definition.name, Which::id(one.definition.id));
            let mut found = Vec::new();
            while let Some(page) = pages.next().await? {
                found.extend(page.into_iter().map(one));
            }
            if found.is_empty() {
                return Err(Failure {
                    kind: Kind::NotFound,
                    message: format!("no schedule has the tag `{tag}`"),
                    hint: Some("`punctual schedule list --json` shows the tags".to_owned()),
                });
            }
            Ok(found)
        }
    }
}

/// Waits for the ends of runs; the first that is no success is an error.
async fn wait(door: &Door, triggered: &[TriggeredOne]) -> Result<(), Failure> {
    for TriggeredOne { name, run_id, .. } in triggered {
        let asked = One { run: run_id.clone(), aside: Flag::No };
        let run = loop {
            let run = door.ask(&asked).await?.run.run;
            if run.is_over() {
                break run;
            }
            door.changed().await;
        };
        note(&format!("{run_id} of `{name}`: {}", run.status));
        if run.status != RunStatus::Success.name() {
            let why = run.reason_text.map_or(String::new(), |reason| format!(": {reason}"));
            return Err(Failure {
                kind: Kind::Fault,
                message: format!("{run_id} of `{name}` ended as {}{why}", run.status),
                hint: Some(format!(
                    "`punctual schedule run-details --run-id {run_id}` shows what it printed"
                )),
            });
        }
    }
    Ok(())
}

/// `punctual request …`
#[derive(Debug, Subcommand)]
pub(crate) enum Request {
    /// Put one item on a queue, without a schedule
    Create(RequestCreate),
}

#[derive(Debug, Args)]
pub(crate) struct RequestCreate {
    #[command(flatten)]
    fields: RequestFields,
    /// A key of your own: the same request with the same key runs once
    #[arg(long, value_name = "KEY")]
    request_key: Option<String>,
    /// Check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Request {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let Self::Create(create) = self;
        let keys = create.fields.0.keys()?;
        let (request_key, dry_run) = (create.request_key, create.dry_run.into());
        match door.ask(&ask::Item { keys, request_key, dry_run }).await? {
            Item::Would { .. } => schedules::would_request(output),
            Item::Made(made) => schedules::requested(output, &made),
        }
    }
}
