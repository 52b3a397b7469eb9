//! Which schedules are meant: one by name or id, or many by tag.

use clap::Args;
use punctual::ask;

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
    pub(crate) fn which(&self) -> ask::Which {
        which(self.name.as_deref(), self.id.as_deref())
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
    One(ask::Which),
    Many(String),
}

impl Whose {
    /// Whom they mean.
    pub(crate) fn meant(&self) -> Meant {
        match &self.tag {
            Some(tag) => Meant::Many(tag.clone()),
            None => Meant::One(which(self.name.as_deref(), self.id.as_deref())),
        }
    }
}

fn which(name: Option<&str>, id: Option<&str>) -> ask::Which {
    match (name, id) {
        (Some(name), _) => ask::Which::name(name),
        (None, id) => ask::Which::id(id.unwrap_or_default()),
    }
}
