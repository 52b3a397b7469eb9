//! SIGHUP: a server reads its settings and its file of schedules anew, takes what it can and says what it cannot.

use punctual::{Database, Failure, Settings};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info, warn};

use super::config::SettingFlags;
use super::config_file::ConfigFile;
use super::log::SetLevel;

/// What is needed to read the settings anew.
pub(crate) struct Reload {
    /// The flags that the server was started with.
    pub(crate) flags: SettingFlags,
    /// The settings that it works by.
    pub(crate) settings: Settings,
    /// How the level of the log is changed.
    pub(crate) log: SetLevel,
    /// The schedules that it brings with it.
    pub(crate) config: ConfigFile,
    /// Where they are stored.
    pub(crate) database: Database,
}

impl Reload {
    /// Listens on a thread of its own, for as long as the process lives: a large file never holds up the loop.
    pub(crate) fn listen(self) -> Result<(), Failure> {
        let unheard = |error: std::io::Error| Failure::world(format!("cannot listen for SIGHUP: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unheard)?;
        let hangup = {
            let _inside = runtime.enter();
            signal(SignalKind::hangup()).map_err(unheard)?
        };
        let listen = move || runtime.block_on(self.at_each(hangup));
        std::thread::Builder::new().name("reload".to_owned()).spawn(listen).map(drop).map_err(unheard)
    }

    /// Reads everything anew at each signal.
    async fn at_each(mut self, mut hangup: Signal) {
        while hangup.recv().await.is_some() {
            self.once();
            if let Err(Failure { message, hint, .. }) = self.config.bring_in(&self.database).await {
                let hint = hint.unwrap_or_default();
                error!(problem = message, hint, "the file is not applied; what is stored stays");
            }
        }
    }

    fn once(&mut self) {
        let new = match self.flags.resolve(self.config.file()) {
            Ok(new) => new,
            Err(failure) => {
                let hint = failure.hint.unwrap_or_default();
                error!(problem = failure.message, hint, "the settings cannot be meant; the old ones stay");
                return;
            }
        };
        let mut changed = 0;
        for (old, new) in self.settings.all.iter_mut().zip(&new.all) {
            if old.value == new.value {
                continue;
            }
            changed += 1;
            let (name, value, source) = (new.setting.name, new.value.as_str(), new.source.to_string());
            if new.setting.is_reloaded && (self.log)(value) {
                info!(setting = name, from = old.value, to = value, source, "reloaded");
                *old = new.clone();
            } else {
                warn!(setting = name, from = old.value, to = value, source, "takes effect after a restart");
            }
        }
        if changed == 0 {
            info!("reloaded: no setting has changed");
        }
    }
}
