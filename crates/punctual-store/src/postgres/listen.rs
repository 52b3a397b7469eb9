//! The hint that somebody changed something: LISTEN where the line allows it, a clock where not.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use punctual_plan::rule::{Rule, holds};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client};

use super::connection::Tx;
use super::tls::Address;
use super::{Postgres, sql};
use crate::Error;

/// Without a word from the server, whoever waits looks again after this long: a pooler may swallow notifications.
const LOOK_EVERY: Duration = Duration::from_millis(1_000);

/// A line of its own on which the server tells of changes.
struct Line {
    // Held so that the line stays open.
    _client: Client,
    heard: Arc<tokio::sync::Notify>,
    pump: JoinHandle<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// Whoever waits for changes.
#[derive(Default)]
pub(super) struct Listener {
    line: Mutex<Option<Line>>,
}

impl Postgres {
    /// Says in a transaction that it changes something others may wait for.
    pub(super) async fn notify(&self, tx: &Tx) -> Result<(), Error> {
        tx.rows(sql!("notify"), &[&self.name]).await?;
        Ok(())
    }

    pub(super) async fn wait_for_change(&self) {
        let mut line = self.listener.line.lock().await;
        if line.as_ref().is_none_or(|line| line.pump.is_finished()) {
            *line = open(&self.connections.address, self.name.clone()).await.ok();
        }
        match line.as_ref() {
            Some(line) if !holds(Rule::LooksUntold) => line.heard.notified().await,
            Some(line) => {
                tokio::time::timeout(LOOK_EVERY, line.heard.notified()).await.ok();
            }
            None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

async fn open(address: &Address, own: String) -> Result<Line, Error> {
    let failed = super::said::failed("listening for changes");
    let (client, mut connection) = address.config.connect(address.connector()?).await.map_err(failed)?;
    let heard = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&heard);
    let pump = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(note) = message
                && note.payload() != own
            {
                told.notify_one();
            }
        }
        // Whoever waits opens a new line; what happened meanwhile is found by looking.
        told.notify_one();
    });
    let failed = super::said::failed("listening for changes");
    client.batch_execute("LISTEN punctual").await.map_err(failed)?;
    Ok(Line { _client: client, heard, pump })
}
