//! Which schedule is meant, and how that is said in a path.

use punctual_store::{ScheduleRow, Selector};

use super::{Call, Method, in_path};
use crate::{App, Failure};

/// Calls that stand where the name of a schedule may stand.
const CALLS: [&str; 4] = ["bulk", "file", "pause", "upsert"];

/// What the text that names a schedule is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Its name, else the first letters of its id.
    #[default]
    Either,
    /// Its name.
    Name,
    /// Its id, or the first letters of it.
    Id,
}

impl By {
    /// Its word in a query.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Either => None,
            Self::Name => Some("name"),
            Self::Id => Some("id"),
        }
    }
}

/// A schedule, as somebody calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// What they call it.
    pub text: String,
    /// What that is.
    pub by: By,
}

impl Which {
    /// By its name.
    pub fn name(text: impl Into<String>) -> Self {
        Self { text: text.into(), by: By::Name }
    }

    /// By its id, or the first letters of it.
    pub fn id(text: impl Into<String>) -> Self {
        Self { text: text.into().to_lowercase(), by: By::Id }
    }

    /// By its name, else by its id.
    pub fn either(text: impl Into<String>) -> Self {
        Self { text: text.into(), by: By::Either }
    }

    /// The schedule, living or deleted.
    ///
    /// # Errors
    /// When there is none, with the one that was probably meant.
    pub async fn row(&self, app: &App) -> Result<ScheduleRow, Failure> {
        match self.by {
            By::Either => app.find(&self.text).await,
            By::Name => app.get(Selector::Name(self.text.clone())).await,
            By::Id => app.get(Selector::IdPrefix(self.text.clone())).await,
        }
    }

    /// What a living schedule is looked up by.
    ///
    /// # Errors
    /// When there is none, with the one that was probably meant.
    pub async fn selector(&self, app: &App) -> Result<Selector, Failure> {
        match self.by {
            By::Either => Ok(Selector::Id(app.find(&self.text).await?.definition.id)),
            By::Name => Ok(Selector::Name(self.text.clone())),
            By::Id => Ok(Selector::IdPrefix(self.text.clone())),
        }
    }

    /// A living schedule.
    ///
    /// # Errors
    /// When there is none, with the one that was probably meant.
    pub async fn living(&self, app: &App) -> Result<ScheduleRow, Failure> {
        app.living(self.selector(app).await?).await
    }

    /// A call about it.
    pub(super) fn call(&self, method: Method, below: &str) -> Call {
        // A schedule may be called as a call is; its bytes are written out then, which no call is.
        let text = match CALLS.contains(&self.text.as_str()) {
            true => self.text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            false => in_path(&self.text),
        };
        let path = format!("/schedules/{text}{below}");
        Call::new(method, path).with("by", self.by.word())
    }
}
