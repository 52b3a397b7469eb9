//! `trigger`, and `punctual request create`: runs that a person asks for.

use clap::{Args, Subcommand};
use punctual::{App, Failure, Kind, Triggered, Wanted};
use punctual_plan::{Object, RunStatus};
use serde_json::Value;

use super::fields::{RequestFields, TOLD, WAYS};
use super::which::{Meant, Whose};
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
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let is_one = matches!(self.whose.meant(app).await?, Meant::One(_));
        let rows = match self.whose.meant(app).await? {
            Meant::One(selector) => vec![app.living(selector).await?],
            Meant::Many(rows) => rows,
        };
        let payload = self.payload.as_deref().map(object).transpose()?;
        if self.dry_run {
            return schedules::would_trigger(output, &rows);
        }
        let wanted = Wanted { request_key: self.request_key.clone(), is_forced: self.force, payload };
        let mut triggered = Vec::new();
        for row in &rows {
            triggered.push((row.definition.name.clone(), app.trigger(row, &wanted).await?));
        }
        match triggered.as_slice() {
            [(name, one)] if is_one => schedules::triggered(output, name, one)?,
            several => schedules::triggered_many(output, several)?,
        }
        let is_served = app.is_served().await?;
        if !is_served {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        if self.wait && is_served {
            wait(app, &triggered).await?;
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

/// Waits for the ends of runs; the first that is no success is an error.
async fn wait(app: &App, triggered: &[(String, Triggered)]) -> Result<(), Failure> {
    for (name, one) in triggered {
        let row = app.wait(one.run).await?;
        let status = row.run.state.status();
        note(&format!("{} of `{name}`: {status}", one.run));
        if status != RunStatus::Success {
            let why = row.run.state.reason().map_or(String::new(), |reason| format!(": {reason}"));
            return Err(Failure {
                kind: Kind::Fault,
                message: format!("{} of `{name}` ended as {status}{why}", one.run),
                hint: Some(format!(
                    "`punctual schedule run-details --run-id {}` shows what it printed",
                    one.run
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
    pub(crate) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        let Self::Create(create) = self;
        let keys = create.fields.0.keys()?;
        if keys.get("target").is_none_or(|target| target["type"] != "queue") {
            return Err(Failure::invalid(
                "a request goes to a queue",
                "give `--queue`, or `--worker-type` for the queue of the same name",
            ));
        }
        if let Some(way) = WAYS.into_iter().find(|way| keys.contains_key(*way)) {
            return Err(Failure::invalid(
                format!("`--{way}` has no meaning here: a request is made at once"),
                "use `punctual schedule create` for what comes later",
            ));
        }
        let wanted = Wanted { request_key: create.request_key.clone(), is_forced: true, payload: None };
        if create.dry_run {
            app.check_request(keys, TOLD).await?;
            return schedules::would_request(output);
        }
        let triggered = app.request(keys, &wanted, TOLD).await?;
        schedules::requested(output, &triggered)
    }
}
