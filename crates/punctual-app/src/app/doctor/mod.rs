//! The doctor: what may keep an installation from doing what it promises, one check each.
//!
//! Start with [`App::doctor`]; `host` looks at this machine, `ledger` at the database, `reference` at what schedules
//! refer to.

mod host;
mod ledger;
mod reference;

use super::App;
use crate::Failure;

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it must be.
    Ok,
    /// Somebody should look at it.
    Warn,
    /// A promise is in danger.
    Fail,
}

impl Health {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it went.
    pub health: Health,
    /// In a sentence.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Check {
    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, health: Health::Ok, text: text.into(), hint: None }
    }

    fn warn(name: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, health: Health::Warn, text: text.into(), hint: Some(hint.into()) }
    }

    fn fail(name: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, health: Health::Fail, text: text.into(), hint: Some(hint.into()) }
    }
}

/// What the doctor is told.
#[derive(Clone, Debug)]
pub struct Consultation {
    /// The folder whose disk fills up with the ledger; none if it is on another machine.
    pub folder: Option<std::path::PathBuf>,
    /// Bytes that must be free there.
    pub disk_min: u64,
}

impl App {
    /// Looks at everything.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn doctor(&self, told: &Consultation) -> Result<Vec<Check>, Failure> {
        let mut checks = vec![host::clock_sync()];
        checks.extend(self.check_clock_offset().await?);
        checks.push(self.check_tz().await?);
        checks.push(self.check_durability().await?);
        checks.push(
            told.folder
                .as_ref()
                .map_or_else(host::disk_elsewhere, |folder| host::disk(folder, told.disk_min)),
        );
        checks.push(host::descriptors());
        checks.push(self.check_served().await?);
        checks.push(self.check_leases().await?);
        checks.push(self.check_overdue().await?);
        checks.extend(self.check_references().await?);
        Ok(checks)
    }
}
