//! The schedules of files are made, or only checked.

use serde_json::{Value, json};

use super::{Call, Flag, Method, Question};
use crate::declare::{Declared, Text};
use crate::{App, Failure, Listing, shape};

/// Files of schedules.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// What they say.
    pub texts: Vec<Text>,
    /// Only the schedule of this name; all, if none.
    pub name: Option<String>,
}

impl Files {
    fn call(&self, dry_run: Flag) -> Call {
        let mut body = json!({"files": self.texts});
        if let Some(name) = &self.name {
            body["name"] = Value::from(name.as_str());
        }
        let call = Call::new(Method::Post, "/schedules/file").when("dry_run", dry_run);
        Call { body: Some(body), ..call }
    }

    async fn read(&self, app: &App) -> Result<Declared, Failure> {
        app.draft_texts(self.texts.clone(), &|_| {}).await?.only(self.name.as_deref())
    }
}

/// The schedules of files that are made.
#[derive(Clone, Debug, Default)]
pub struct CreateFiles(pub Files);

impl Question for CreateFiles {
    type Answer = shape::Schedules;

    fn call(&self) -> Call {
        self.0.call(Flag::No)
    }

    async fn answer(&self, app: &App) -> Result<shape::Schedules, Failure> {
        let declared = self.0.read(app).await?;
        app.create_file(&declared, &|_| {}).await?;
        let mut schedules = Vec::with_capacity(declared.schedules.len());
        let mut pages = app.pages(&Listing::default());
        while let Some(rows) = pages.next().await? {
            let shapes = shape::Schedule::all(&rows);
            let is_made = |id| declared.schedules.iter().any(|one| one.definition.id == id);
            let made = rows.iter().zip(shapes).filter(|(row, _)| is_made(row.definition.id));
            schedules.extend(made.map(|(_, one)| one));
        }
        Ok(shape::Schedules { schedules, next: None })
    }
}

/// The schedules of files that are only checked.
#[derive(Clone, Debug, Default)]
pub struct DraftFiles(pub Files);

impl Question for DraftFiles {
    type Answer = shape::WouldCreateMany;

    fn call(&self) -> Call {
        self.0.call(Flag::Yes)
    }

    async fn answer(&self, app: &App) -> Result<shape::WouldCreateMany, Failure> {
        let (declared, now) = (self.0.read(app).await?, app.now().await?);
        let schedules = declared.schedules.iter().map(|one| shape::Drafted::of(one, now)).collect();
        Ok(shape::WouldCreateMany { dry_run: true, schedules })
    }
}
