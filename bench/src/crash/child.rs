//! The process that is killed: this program, started by itself, with an engine on a database and a closure that notes each
//! start.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::Arc;

use punctual_engine::{Callbacks, Engine, HostTargets, Settings, SystemClock, Vault};
use tokio::sync::watch;

use crate::Failure;
use crate::engine::TASK;

use super::notes::Notes;
use super::place::{self, Place};

/// The word by which this program starts itself.
const WORD: &str = "serve-until-killed";

/// A process that serves.
pub(super) struct Child {
    process: Process,
    /// It stops when this is closed.
    stdin: Option<ChildStdin>,
}

impl Child {
    /// Starts one on a place.
    pub(super) fn start(place: &Place) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(WORD).arg(&place.database).arg(place.folder());
        let mut process = command.stdin(Stdio::piped()).spawn()?;
        let stdin = process.stdin.take();
        Ok(Self { process, stdin })
    }

    /// Ends it as a power switch ends a program, but for what the system holds of it.
    pub(super) fn kill(mut self) -> Result<(), Failure> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Ends it in good order.
    pub(super) fn stop(mut self) -> Result<(), Failure> {
        drop(self.stdin.take());
        let status = self.process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the process ended with {status}").into()) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // One that has ended already needs no killing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `serve-until-killed DATABASE FOLDER`: what the process does; nothing if the words say something else.
pub(crate) async fn serve(words: &[String]) -> Option<Result<(), Failure>> {
    match words {
        [word, database, folder] if word == WORD => Some(work(database, Path::new(folder)).await),
        _ => None,
    }
}

async fn work(database: &str, folder: &Path) -> Result<(), Failure> {
    let store = Arc::new(place::open(database).await?);
    let notes = Arc::new(Notes::open(&place::notes(folder))?);
    let callbacks = Callbacks::new().add(TASK, move |context| {
        let noted = notes.write(&context);
        async move { Ok(noted?) }
    });
    let vault = Vault::new(folder.join("key"));
    let targets = HostTargets::new(Arc::clone(&store), vault).with(callbacks);
    let settings = Settings::new(folder.join("launches"));
    let engine = Engine::start(store, Arc::new(SystemClock), Arc::new(targets), settings)
        .await
        .map_err(|error| error.to_string())?;
    let (stop, stopped) = watch::channel(false);
    // A thread and not a task: a read of standard input cannot be called off.
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        // Whoever listened is gone only when it has stopped.
        let _ = stop.send(true);
    });
    engine.run(stopped).await;
    Ok(())
}
