//! An org is paused for maintenance, and goes on.

use serde_json::json;

use super::{Call, Method, Question};
use crate::{App, Extent, Failure, shape};

const PATH: &str = "/maintenance";

/// What pauses the org.
#[derive(Clone, Copy, Debug, Default)]
pub struct Maintenances;

impl Question for Maintenances {
    type Answer = shape::Maintenances;

    fn call(&self) -> Call {
        Call::new(Method::Get, PATH)
    }

    async fn answer(&self, app: &App) -> Result<shape::Maintenances, Failure> {
        let found = app.maintenance().await?;
        Ok(shape::Maintenances { maintenance: found.iter().map(shape::Maintenance::from).collect() })
    }
}

/// A pause of the org.
#[derive(Clone, Debug)]
pub struct Pause {
    /// Why.
    pub note: String,
}

impl Question for Pause {
    type Answer = shape::Paused;

    fn call(&self) -> Call {
        Call { body: Some(json!({"note": self.note})), ..Call::new(Method::Post, PATH) }
    }

    async fn answer(&self, app: &App) -> Result<shape::Paused, Failure> {
        let noted = app.note_maintenance(Extent::Org, &self.note).await?;
        let paused = app.pause_all(&noted).await?;
        Ok(shape::Paused { maintenance: (&noted).into(), paused })
    }
}

/// The end of the org's pause.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume;

impl Question for Resume {
    type Answer = shape::Resumed;

    fn call(&self) -> Call {
        Call::new(Method::Delete, PATH)
    }

    async fn answer(&self, app: &App) -> Result<shape::Resumed, Failure> {
        let ended = app.forget_maintenance(Extent::Org).await?;
        let resumed = app.resume_all().await?;
        let left = app.maintenance().await?.iter().map(shape::Maintenance::from).collect();
        Ok(shape::Resumed { ended, resumed, left })
    }
}
