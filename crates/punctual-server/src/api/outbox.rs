//! The outbox: messages in the order of their places, a page at a time or as a stream that can be resumed.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream};
use futures_core::Stream;
use jiff::Timestamp;
use punctual_app::App;
use punctual_store::{OutboxRow, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::queue::wait_of;
use crate::auth::Caller;
use crate::hear::{Answer, Asked, Body};
use crate::problem::{Problem, Refused};
use crate::shared::{Shared, Waited};

/// Messages of one page.
const PAGE_MAX: usize = 1_000;

/// Messages of one page, unless another number is asked for.
const PAGE: usize = 100;

/// The outbox is looked at this often although nobody says that there is something: another node may have written it.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A silent stream says so often that it is still there, before proxies believe otherwise.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Events that a slow reader may be behind before the stream waits for it.
const BUFFER: usize = 100;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(stream)).routes(routes!(acknowledge))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Messages behind this place: `next` of the page before; from the first that is kept without it.
    after: Option<i64>,
    /// At most so many, 1 to 1000; 100 without it.
    limit: Option<usize>,
    /// How long to wait for the first one, up to 20 seconds; not at all without it.
    wait_seconds: Option<u64>,
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
struct Message {
    /// Its place in the stream.
    position: i64,
    /// Its id, for whoever deduplicates.
    message_id: String,
    /// The run that it belongs to.
    run_id: String,
    /// When it was written.
    at: Timestamp,
    /// What it says.
    #[schema(value_type = Object)]
    message: Value,
}

impl Message {
    fn of(row: OutboxRow) -> Self {
        Self {
            position: row.position,
            message_id: row.message_id,
            run_id: row.run.to_string(),
            at: row.at,
            message: serde_json::from_str(&row.body).unwrap_or(Value::String(row.body)),
        }
    }
}

/// A page of messages.
#[derive(Debug, Serialize, ToSchema)]
struct Messages {
    /// The messages, in the order of their places.
    messages: Vec<Message>,
    /// The place to go on from.
    next: i64,
}

/// Messages that wait for their reader
///
/// They stay until they are acknowledged, or until their runs are past retention. Each is given at least once.
#[utoipa::path(get, path = "/outbox", tag = "outbox", operation_id = "list_messages", params(ListQuery),
    responses((status = 200, description = "A page of messages", body = Messages), Refused))]
async fn list(
    State(shared): State<Shared>,
    Caller(app): Caller,
    Asked(query): Asked<ListQuery>,
) -> Answer<Messages> {
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=PAGE_MAX).contains(&limit) {
        let message = format!("`limit` cannot be {limit}");
        return Err(Problem::malformed(message, format!("ask for 1 to {PAGE_MAX}, and go on with `after`")));
    }
    let after = query.after.unwrap_or(0);
    let give_up_at = Instant::now() + wait_of(query.wait_seconds)?;
    loop {
        let news = shared.pulse().news();
        let rows = read(&app, after, limit).await?;
        let left = give_up_at.saturating_duration_since(Instant::now());
        // What is not heard of is found by the next look.
        if !rows.is_empty()
            || left.is_zero()
            || shared.wait(LOOK_EVERY.min(left), news.heard()).await == Waited::Stopping
        {
            let messages: Vec<Message> = rows.into_iter().map(Message::of).collect();
            let next = messages.last().map_or(after, |message| message.position);
            return Ok(Json(Messages { messages, next }));
        }
    }
}

async fn read(app: &App, after: i64, limit: usize) -> Result<Vec<OutboxRow>, punctual_app::Failure> {
    Ok(app.store().outbox(app.scope(), after, limit).await?)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// Messages behind this place; `Last-Event-ID` counts before it.
    after: Option<i64>,
}

/// Messages as they come
///
/// Server-sent events: `id` is the place of a message, `event` is `message`, `data` the message as JSON. A reader that
/// comes back with `Last-Event-ID` goes on behind it.
#[utoipa::path(get, path = "/outbox/stream", tag = "outbox", operation_id = "stream_messages",
    params(StreamQuery, ("Last-Event-ID" = Option<i64>, Header, description = "The place to go on from")),
    responses((status = 200, description = "A stream of messages", content_type = "text/event-stream", body = String), Refused))]
async fn stream(
    State(shared): State<Shared>,
    Caller(app): Caller,
    headers: HeaderMap,
    Asked(query): Asked<StreamQuery>,
) -> Result<Sse<KeepAliveStream<Events>>, Problem> {
    let after = match headers.get("last-event-id").map(|value| value.to_str().unwrap_or_default()) {
        None | Some("") => query.after.unwrap_or(0),
        Some(said) => said.parse().map_err(|_| {
            Problem::malformed(
                format!("`Last-Event-ID: {said}` is no place"),
                "send the `id` of the last event",
            )
        })?,
    };
    let Some(place) = shared.stream_place() else { return Err(Problem::busy()) };
    let (sender, receiver) = mpsc::channel(BUFFER);
    tokio::spawn(follow(shared, app, after, sender));
    let events = Events { receiver, _place: place };
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Sends messages until nobody listens, the server stops, or the database fails: then the reader comes back and goes on
/// where it was.
async fn follow(shared: Shared, app: App, mut after: i64, sender: mpsc::Sender<Result<Event, Infallible>>) {
    loop {
        let news = shared.pulse().news();
        let Ok(rows) = read(&app, after, PAGE).await else { return };
        let is_page = rows.len() == PAGE;
        for row in rows {
            after = row.position;
            let event = Event::default().id(row.position.to_string()).event("message").data(row.body);
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if is_page {
            continue;
        }
        tokio::select! {
            () = sender.closed() => return,
            waited = shared.wait(LOOK_EVERY, news.heard()) => {
                if waited == Waited::Stopping {
                    return;
                }
            }
        }
    }
}

/// The events of a stream.
struct Events {
    receiver: mpsc::Receiver<Result<Event, Infallible>>,
    /// Its place among the streams that are open.
    _place: OwnedSemaphorePermit,
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}

/// Messages that were read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AcknowledgeBody {
    /// All messages up to this place, itself included.
    through: i64,
}

/// What was forgotten.
#[derive(Debug, Serialize, ToSchema)]
struct Acknowledged {
    /// How many messages.
    acknowledged: u64,
}

/// Forget messages that were read
#[utoipa::path(post, path = "/outbox/acknowledge", tag = "outbox", operation_id = "acknowledge_messages",
    request_body = AcknowledgeBody,
    responses((status = 200, description = "How many are gone", body = Acknowledged), Refused))]
async fn acknowledge(Caller(app): Caller, Body(body): Body<AcknowledgeBody>) -> Answer<Acknowledged> {
    let acknowledged = app.store().acknowledge_outbox(app.scope(), body.through).await;
    let acknowledged = acknowledged.map_err(punctual_app::Failure::from)?;
    Ok(Json(Acknowledged { acknowledged }))
}
