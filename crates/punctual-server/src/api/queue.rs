//! Queues for workers in any language: lease, heartbeat, complete, fail; and the status that executors report.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use jiff::{SignedDuration, Timestamp};
use punctual_app::{
    Failure, Holding, Kind, LEASE_MAX, LEASE_RUNS_MAX, LEASE_USUAL, LeaseAsked, Reported, executor_status,
    run_named,
};
use punctual_plan::Outcome;
use punctual_store::{Held, RunRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::hear::{Answer, Body};
use crate::problem::{Problem, Refused};
use crate::shared::{Shared, Waited};

/// How long a question for runs may wait for one: less than a request may take.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// A queue is looked at this often although nobody says that there is something: another node may have put it there.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a worker says of a failure is kept up to this many bytes.
const ERROR_BYTES_MAX: usize = 8 * 1024;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(lease))
        .routes(routes!(heartbeat))
        .routes(routes!(complete))
        .routes(routes!(fail))
        .routes(routes!(status))
}

/// A worker's wish for runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LeaseBody {
    /// Its own name, for people.
    worker: Option<String>,
    /// At most so many runs, 1 to 100; 1 without it.
    limit: Option<usize>,
    /// How long it holds them without a heartbeat, 1 to 3600 seconds; 15 without it.
    lease_seconds: Option<u64>,
    /// How long to wait for the first one, up to 20 seconds; not at all without it.
    wait_seconds: Option<u64>,
}

/// Runs that a worker holds.
#[derive(Debug, Serialize, ToSchema)]
struct Leased {
    /// Each with everything that its worker needs: `run_id`, `attempt`, `token`, `lease_until`, `prompt`, `context` …
    runs: Vec<Map<String, Value>>,
}

/// Take runs from a queue
///
/// Each run goes to one worker, which holds it by its `token` until `lease_until` and longer with heartbeats.
#[utoipa::path(post, path = "/queues/{queue}/lease", tag = "queues", operation_id = "lease_runs",
    params(("queue" = String, Path, description = "The queue")), request_body = LeaseBody,
    responses((status = 200, description = "The runs; none, if there is nothing to do", body = Leased), Refused))]
async fn lease(
    State(shared): State<Shared>,
    Caller(app): Caller,
    Path(queue): Path<String>,
    Body(body): Body<LeaseBody>,
) -> Answer<Leased> {
    let limit = body.limit.unwrap_or(1);
    if !(1..=LEASE_RUNS_MAX).contains(&limit) {
        let message = format!("`limit` cannot be {limit}");
        return Err(Problem::malformed(message, format!("ask for 1 to {LEASE_RUNS_MAX}")));
    }
    let worker = body.worker.unwrap_or_else(|| "a worker".to_owned());
    let asked = LeaseAsked { queue, worker, limit, lease: lease_of(body.lease_seconds)? };
    let give_up_at = Instant::now() + wait_of(body.wait_seconds)?;
    loop {
        let news = shared.pulse().news();
        let runs = app.lease(&asked).await?;
        let left = give_up_at.saturating_duration_since(Instant::now());
        // What is not heard of is found by the next look. Nothing is taken any more for a worker whose server stops.
        if !runs.is_empty()
            || left.is_zero()
            || shared.wait(LOOK_EVERY.min(left), news.heard()).await == Waited::Stopping
        {
            return Ok(Json(Leased { runs }));
        }
    }
}

fn lease_of(seconds: Option<u64>) -> Result<SignedDuration, Problem> {
    let usual = u64::try_from(LEASE_USUAL.as_secs()).unwrap_or_default();
    let most = u64::try_from(LEASE_MAX.as_secs()).unwrap_or_default();
    match seconds.unwrap_or(usual) {
        count if (1..=most).contains(&count) => {
            Ok(SignedDuration::from_secs(i64::try_from(count).unwrap_or(i64::MAX)))
        }
        other => Err(Problem::malformed(
            format!("`lease_seconds` cannot be {other}"),
            format!("hold a run for 1 to {most} seconds, and renew it with heartbeats"),
        )),
    }
}

/// How long a question may wait.
pub(super) fn wait_of(seconds: Option<u64>) -> Result<Duration, Problem> {
    match Duration::from_secs(seconds.unwrap_or(0)) {
        wait if wait <= WAIT_MAX => Ok(wait),
        _ => Err(Problem::malformed(
            format!("`wait_seconds` cannot be {}", seconds.unwrap_or(0)),
            format!("wait up to {} seconds, and ask again", WAIT_MAX.as_secs()),
        )),
    }
}

/// A worker that is still there.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct HeartbeatBody {
    /// The token of the attempt.
    token: String,
    /// How long it holds the run from now, 1 to 3600 seconds; 15 without it.
    lease_seconds: Option<u64>,
}

/// Whether a run is still its worker's.
#[derive(Debug, Default, Serialize, ToSchema)]
struct HeartbeatAnswer {
    /// Whether to go on. If not, what the worker does counts no more, and it should end it.
    held: bool,
    /// Until when, if it is held.
    lease_until: Option<Timestamp>,
    /// Whether somebody cancelled the run.
    cancelled: bool,
    /// Where the run stands, if it is not held.
    status: Option<String>,
    /// Why, in a sentence.
    reason: Option<String>,
}

/// Hold a run longer
///
/// The answer tells a worker that its run was cancelled, or is not its own any more.
#[utoipa::path(post, path = "/runs/{run}/heartbeat", tag = "queues", operation_id = "heartbeat_run",
    params(("run" = String, Path, description = "The run, such as `run-12`")), request_body = HeartbeatBody,
    responses((status = 200, description = "Whether to go on", body = HeartbeatAnswer), Refused))]
async fn heartbeat(
    Caller(app): Caller,
    Path(run): Path<String>,
    Body(body): Body<HeartbeatBody>,
) -> Answer<HeartbeatAnswer> {
    let until = app.now().await?.saturating_add(lease_of(body.lease_seconds)?).unwrap_or(Timestamp::MAX);
    let held = Held { run: run_named(&run)?, token: body.token, until };
    Ok(Json(match app.hold(held).await? {
        Holding::Held(until) => {
            HeartbeatAnswer { held: true, lease_until: Some(until), ..HeartbeatAnswer::default() }
        }
        Holding::Lost { status, why } => HeartbeatAnswer {
            cancelled: status == punctual_plan::RunStatus::Cancelled,
            status: Some(status.name().to_owned()),
            reason: why,
            ..HeartbeatAnswer::default()
        },
    }))
}

/// A run that was done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CompleteBody {
    /// The token of the attempt.
    token: String,
    /// What was printed; its beginning and its end are kept.
    output: Option<String>,
}

/// A run that was not done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FailBody {
    /// The token of the attempt.
    token: String,
    /// What went wrong.
    error: String,
    /// What was printed; its beginning and its end are kept.
    output: Option<String>,
}

/// Where a run stands after a report.
#[derive(Debug, Serialize, ToSchema)]
struct ReportAnswer {
    /// The run.
    run_id: String,
    /// Where it stands: a failure may be tried again.
    status: String,
    /// The same in the words of executors.
    executor_status: String,
    /// Which attempt was the last.
    attempt: u32,
}

impl ReportAnswer {
    fn of(row: &RunRow) -> Self {
        let status = row.run.state.status();
        Self {
            run_id: row.run.key.to_string(),
            status: status.name().to_owned(),
            executor_status: executor_status(status).to_owned(),
            attempt: row.run.attempts.last().map_or(0, |attempt| attempt.number),
        }
    }
}

/// Say that a run is done
///
/// A success of an older attempt still closes a run that is open; said twice, it counts once.
#[utoipa::path(post, path = "/runs/{run}/complete", tag = "queues", operation_id = "complete_run",
    params(("run" = String, Path, description = "The run, such as `run-12`")), request_body = CompleteBody,
    responses((status = 200, description = "Where it stands", body = ReportAnswer), Refused))]
async fn complete(
    Caller(app): Caller,
    Path(run): Path<String>,
    Body(body): Body<CompleteBody>,
) -> Answer<ReportAnswer> {
    let (run, outcome) = (run_named(&run)?, Outcome::Succeeded);
    let said = Reported { run, token: body.token, attempt: None, outcome, output: body.output };
    Ok(Json(ReportAnswer::of(&app.report(&said).await?)))
}

/// Say that a run failed
///
/// Whether it is tried again is its schedule's choice.
#[utoipa::path(post, path = "/runs/{run}/fail", tag = "queues", operation_id = "fail_run",
    params(("run" = String, Path, description = "The run, such as `run-12`")), request_body = FailBody,
    responses((status = 200, description = "Where it stands", body = ReportAnswer), Refused))]
async fn fail(
    Caller(app): Caller,
    Path(run): Path<String>,
    Body(body): Body<FailBody>,
) -> Answer<ReportAnswer> {
    let (run, outcome) = (run_named(&run)?, failed(Some(body.error)));
    let said = Reported { run, token: body.token, attempt: None, outcome, output: body.output };
    Ok(Json(ReportAnswer::of(&app.report(&said).await?)))
}

fn failed(error: Option<String>) -> Outcome {
    let mut error = error.unwrap_or_else(|| "its executor gave no reason".to_owned());
    error.truncate(error.floor_char_boundary(ERROR_BYTES_MAX));
    Outcome::Reported { error }
}

/// What an executor says about a run.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
enum StatusWord {
    /// It goes on.
    Started,
    /// It is done.
    Success,
    /// It is not done, and will not be.
    Failed,
}

/// What an executor says about a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StatusBody {
    /// `STARTED`, `SUCCESS` or `FAILED`.
    status: StatusWord,
    /// The token of the attempt.
    token: String,
    /// Which attempt; the one that the token belongs to, if it is not said.
    attempt: Option<u32>,
    /// What the executor calls the run.
    run_id: Option<String>,
    /// What went wrong.
    error: Option<String>,
    /// What was printed; its beginning and its end are kept.
    output: Option<String>,
}

/// Report how a run goes
///
/// For executors that answered 202, and for workers alike: `STARTED` lets it go on until its `run_timeout`, `SUCCESS` and
/// `FAILED` end it. Only the token of the attempt counts; a late `SUCCESS` of an older attempt closes an open run.
#[utoipa::path(post, path = "/runs/{run}/status", tag = "queues", operation_id = "report_status",
    params(("run" = String, Path, description = "The run, such as `run-12`")), request_body = StatusBody,
    responses((status = 200, description = "Where it stands", body = ReportAnswer), Refused))]
async fn status(
    Caller(app): Caller,
    Path(run): Path<String>,
    Body(body): Body<StatusBody>,
) -> Answer<ReportAnswer> {
    let run = run_named(&run)?;
    let outcome = match body.status {
        StatusWord::Started => {
            let row = app.begin(run, &body.token, body.run_id).await?;
            return Ok(Json(ReportAnswer::of(&row)));
        }
        StatusWord::Success => Outcome::Succeeded,
        StatusWord::Failed => failed(body.error),
    };
    if body.run_id.is_some() {
        match app.begin(run, &body.token, body.run_id).await {
            // One that has no say any more is told so by the report itself.
            Ok(_) | Err(Failure { kind: Kind::Conflict | Kind::Stale, .. }) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    let said = Reported { run, token: body.token, attempt: body.attempt, outcome, output: body.output };
    Ok(Json(ReportAnswer::of(&app.report(&said).await?)))
}
