//! What people do during a trial, as they write it.

use jiff::Timestamp;
use punctual_plan::{Act, Request, Schedule, Status};

use super::instant;
use crate::Failure;
use crate::declare::Overlay;

/// Something that a person does to a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// When.
    pub at: Timestamp,
    /// To which schedule.
    pub schedule: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Pause,
    Resume,
    Delete,
    Trigger,
    Force,
    Cancel,
    Set(Overlay),
}

const HINT: &str = "write `TIME NAME pause`, or `resume`, `delete`, `trigger`, `force` (a run beside what is in flight), \
                    `cancel`, or `set KEY=VALUE`";

impl Deed {
    /// Reads `TIME NAME WHAT`.
    ///
    /// ```
    /// let deed = punctual_app::Deed::parse("2026-11-15T10:00Z backup pause")?;
    /// assert_eq!(deed.schedule, "backup");
    /// assert!(punctual_app::Deed::parse("2026-11-15T10:00Z backup sleep").is_err());
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When it is no such thing.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let refuse = |what: &str| Failure::invalid(format!("`{what}` is nothing that can be done"), HINT);
        let mut words = text.trim().splitn(3, char::is_whitespace);
        let (Some(at), Some(schedule), Some(what)) = (words.next(), words.next(), words.next()) else {
            return Err(refuse(text));
        };
        let what = match what.trim() {
            "pause" => What::Pause,
            "resume" => What::Resume,
            "delete" => What::Delete,
            "trigger" => What::Trigger,
            "force" => What::Force,
            "cancel" => What::Cancel,
            other => match other.strip_prefix("set ") {
                Some(overlay) => What::Set(Overlay::parse(overlay)?.only_for(schedule)),
                None => return Err(refuse(other)),
            },
        };
        Ok(Self { at: instant(at)?, schedule: schedule.to_owned(), what })
    }

    /// What it lays over the file from then on.
    pub(super) fn overlay(&self) -> Option<Overlay> {
        match &self.what {
            What::Set(overlay) => Some(overlay.clone()),
            _ => None,
        }
    }

    /// The same for the simulation; `changed` reads the definition after it.
    pub(super) fn act(&self, changed: impl FnOnce() -> Result<Schedule, Failure>) -> Result<Act, Failure> {
        let request = |is_forced| Act::Trigger(Request { nonce: format!("trial at {}", self.at), is_forced });
        Ok(match &self.what {
            What::Pause => {
                Act::Leave(Status::PausedManual { by: "you".to_owned(), note: "in the trial".to_owned() })
            }
            What::Resume => Act::Resume,
            What::Delete => Act::Delete,
            What::Trigger => request(false),
            What::Force => request(true),
            What::Cancel => Act::Cancel { by: "you".to_owned() },
            What::Set(_) => Act::Replace(Box::new(changed()?)),
        })
    }
}
