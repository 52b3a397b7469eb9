//! Which schedules are meant: one by name or id, or many by tag.

use clap::Args;
use punctual::{App, Failure, Listing};
use punctual_store::{ScheduleRow, Selector};

/// The schedule that is meant.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// By name
    #[arg(long)]
    name: Option<String>,
    /// By id, or the first letters of it
    #[arg(long)]
    id: Option<String>,
}

impl Which {
    pub(crate) fn selector(&self) -> Selector {
        selector(self.name.as_deref(), self.id.as_deref())
    }
}

/// The schedules that are meant.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Whose {
    /// The one of this name
    #[arg(long)]
    name: Option<String>,
    /// The one with this id, or the first letters of it
    #[arg(long)]
    id: Option<String>,
    /// All with this tag
    #[arg(long)]
    tag: Option<String>,
}

/// One schedule, or all with a tag.
pub(crate) enum Meant {
    One(Selector),
    Many(Vec<ScheduleRow>),
}

impl Whose {
    /// Looks up whom a tag means.
    pub(crate) async fn meant(&self, app: &App) -> Result<Meant, Failure> {
        let Some(tag) = &self.tag else {
            return Ok(Meant::One(selector(self.name.as_deref(), self.id.as_deref())));
        };
        let rows = app.list(&Listing { tag: Some(tag.clone()), ..Listing::default() }).await?;
        if rows.is_empty() {
            return Err(Failure {
                kind: punctual::Kind::NotFound,
                message: format!("no schedule has the tag `{tag}`"),
                hint: Some("`punctual schedule list --json` shows the tags".to_owned()),
            });
        }
        Ok(Meant::Many(rows))
    }
}

fn selector(name: Option<&str>, id: Option<&str>) -> Selector {
    match (name, id) {
        (Some(name), _) => Selector::Name(name.to_owned()),
        (None, id) => Selector::IdPrefix(id.unwrap_or_default().to_lowercase()),
    }
}
