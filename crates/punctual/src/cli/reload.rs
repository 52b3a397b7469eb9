//! SIGHUP: a server reads its settings anew, takes what it can and says what it cannot.

use punctual::Settings;
use tokio::signal::unix::Signal;
use tracing::{error, info, warn};

use super::config::SettingFlags;

/// Changes how much is logged; whether that worked.
pub(crate) type SetLevel = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What is needed to read the settings anew.
pub(crate) struct Reload {
    /// The flags that the server was started with.
    pub(crate) flags: SettingFlags,
    /// The settings that it works by.
    pub(crate) settings: Settings,
    /// How the level of the log is changed.
    pub(crate) log: SetLevel,
}

impl Reload {
    /// Reads the settings anew at each signal, for as long as the server runs.
    pub(crate) async fn at_each(mut self, mut hangup: Signal) {
        while hangup.recv().await.is_some() {
            self.once();
        }
    }

    fn once(&mut self) {
        let new = match self.flags.resolve() {
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
