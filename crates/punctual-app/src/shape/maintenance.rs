//! Maintenance: what pauses an org, and what its beginning and its end came to.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{self as app, Extent};

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Maintenance {
    /// What is paused: `org` or `installation`.
    pub extent: String,
    /// Why.
    pub note: String,
    /// Who said so.
    pub by: String,
    /// Since when.
    pub since: Timestamp,
}

impl From<&app::Maintenance> for Maintenance {
    fn from(one: &app::Maintenance) -> Self {
        let extent = match one.extent {
            Extent::Org => "org",
            Extent::Installation => "installation",
        };
        Self { extent: extent.to_owned(), note: one.note.clone(), by: one.by.clone(), since: one.since }
    }
}

/// What pauses an org.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Maintenances {
    /// Its own pause, and that of the installation.
    pub maintenance: Vec<Maintenance>,
}

/// A pause that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Paused {
    /// The pause.
    pub maintenance: Maintenance,
    /// How many schedules it paused.
    pub paused: usize,
}

/// A pause that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resumed {
    /// Whether there was one.
    pub ended: bool,
    /// How many schedules are enabled again.
    pub resumed: usize,
    /// What still pauses the org.
    pub left: Vec<Maintenance>,
}
