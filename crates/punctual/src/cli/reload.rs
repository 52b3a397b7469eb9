//! SIGHUP: a server reads its settings and its file of schedules anew, works on by them, and says what stays.

use std::sync::Arc;

use punctual::{Database, Failure, Settings};
use punctual_engine::{HostTargets, Tuner, Tuning};
use punctual_store::AnyStore;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info, warn};

use super::config::SettingFlags;
use super::config_file::ConfigFile;
use super::log::LogControl;

/// What a process is for as long as it runs.
const FIXED: &str = "database, org_id, user_id, node, listen, http_programs, metrics_access";

/// Settings that count when the server starts.
const AT_START: [&str; 3] = ["listen", "http_programs", "metrics_access"];

/// What the server hands runs to.
type Targets = Arc<HostTargets<AnyStore>>;

/// What is needed to read the settings anew.
pub(crate) struct Reload {
    /// The flags that the server was started with.
    pub(crate) flags: SettingFlags,
    /// The settings that it works by.
    pub(crate) settings: Settings,
    /// How the log is changed.
    pub(crate) log: LogControl,
    /// The schedules that it brings with it.
    pub(crate) config: ConfigFile,
    /// Where they are stored.
    pub(crate) database: Database,
}

impl Reload {
    /// Listens on a thread of its own, for as long as the process lives: a large file never holds up the loop.
    pub(crate) fn listen(self, tuner: Tuner, targets: Targets) -> Result<(), Failure> {
        let unheard = |error: std::io::Error| Failure::world(format!("cannot listen for SIGHUP: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unheard)?;
        let hangup = {
            let _inside = runtime.enter();
            signal(SignalKind::hangup()).map_err(unheard)?
        };
        let listen = move || runtime.block_on(self.at_each(hangup, (tuner, targets)));
        std::thread::Builder::new().name("reload".to_owned()).spawn(listen).map(drop).map_err(unheard)
    }

    /// How the engine works by the settings.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { pace: self.settings.pace(), retention: self.settings.retention() }
    }

    /// Lets targets work by the settings.
    pub(crate) fn apply_to(&self, targets: &HostTargets<AnyStore>) {
        targets.reach(self.settings.reach(), self.settings.proxy());
        targets.execute_by(self.settings.workflow_executor());
    }

    /// Reads everything anew at each signal.
    async fn at_each(mut self, mut hangup: Signal, (tuner, targets): (Tuner, Targets)) {
        while hangup.recv().await.is_some() {
            if self.once() {
                tuner.set(self.tuning());
                self.apply_to(&targets);
            }
            if let Err(Failure { message, hint, .. }) =
                self.config.bring_in(&self.database, &self.settings).await
            {
                let hint = hint.unwrap_or_default();
                error!(problem = message, hint, "the file is not applied; what is stored stays");
            }
        }
    }

    /// Takes the settings as they are now; whether they could be.
    fn once(&mut self) -> bool {
        let new = match self.flags.resolve(self.config.file()) {
            Ok(new) => new,
            Err(failure) => {
                let hint = failure.hint.unwrap_or_default();
                error!(problem = failure.message, hint, "the settings cannot be meant; the old ones stay");
                return false;
            }
        };
        if !self.log.set(new.log_level(), new.log_format()) {
            error!(setting = "log_level", "the log goes on as before");
        }
        let mut changed = 0;
        for (old, new) in self.settings.all.iter().zip(&new.all).filter(|(old, new)| old.value != new.value) {
            changed += 1;
            let (name, value, source) = (new.setting.name, new.value.as_str(), new.source.to_string());
            if AT_START.contains(&name) {
                warn!(setting = name, from = old.value, to = value, source, "changes with a restart");
            } else {
                info!(setting = name, from = old.value, to = value, source, "reloaded");
            }
        }
        if changed == 0 {
            info!("reloaded: no setting has changed");
        }
        info!(fixed = FIXED, "these stay as they are until a restart");
        self.settings = new;
        true
    }
}
