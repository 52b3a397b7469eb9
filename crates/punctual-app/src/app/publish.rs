//! The other way round: what is stored, as the file that would declare it.

use punctual_plan::Status;
use punctual_store::{Document, DocumentKind, ScheduleRow};
use serde_json::{Map, Value, json};

use super::{App, Listing};
use crate::Failure;
use crate::declare::length;

/// What goes into a file.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Schedules with these names; all if none is given.
    pub names: Vec<String>,
    /// Schedules with this tag.
    pub tag: Option<String>,
    /// Schedules of this declared set.
    pub set: Option<String>,
}

/// A file, and what could not go into it.
#[derive(Clone, Debug)]
pub struct Published {
    /// The sections of the file.
    pub file: Map<String, Value>,
    /// Schedules that cannot be read any more, and why.
    pub left_out: Vec<(String, String)>,
}

impl App {
    /// The file that declares what is stored: applied to an empty database, it gives the same schedules.
    ///
    /// # Errors
    /// When a name is not there, or the database fails.
    pub async fn publish(&self, wish: &Wish) -> Result<Published, Failure> {
        let mut file = Map::new();
        let mut put = |section: &str, value: Map<String, Value>| {
            if !value.is_empty() {
                file.insert(section.to_owned(), Value::Object(value));
            }
        };
        put("settings", self.settings().await?);
        for (section, kind) in [
            ("calendars", DocumentKind::Calendar),
            ("quiet_hours", DocumentKind::QuietHours),
            ("templates", DocumentKind::Template),
        ] {
            let documents = self.documents(kind).await?;
            let bodies = documents.iter().map(|one| Ok((one.name.clone(), body(one)?)));
            put(section, bodies.collect::<Result<_, Failure>>()?);
        }
        let mut schedules = Vec::new();
        let mut left_out = Vec::new();
        for row in self.wished(wish).await? {
            match &row.invalid {
                Some(error) => left_out.push((row.definition.name.clone(), error.clone())),
                None => schedules.push(Value::Object(self.declared(&row).await?)),
            }
        }
        file.insert("schedules".to_owned(), Value::Array(schedules));
        Ok(Published { file, left_out })
    }

    async fn wished(&self, wish: &Wish) -> Result<Vec<ScheduleRow>, Failure> {
        let mut rows = self.list(&Listing { tag: wish.tag.clone(), ..Listing::default() }).await?;
        rows.retain(|row| wish.set.is_none() || row.declared_set == wish.set);
        for name in &wish.names {
            if rows.iter().all(|row| row.definition.name != *name) {
                self.living(punctual_store::Selector::Name(name.clone())).await?;
                let hint = "`--tag` and `--set-name` choose among the names";
                return Err(Failure::invalid(format!("`{name}` is not among the chosen schedules"), hint));
            }
        }
        rows.retain(|row| wish.names.is_empty() || wish.names.contains(&row.definition.name));
        Ok(rows)
    }

    /// The keys of a schedule as a file has them.
    async fn declared(&self, row: &ScheduleRow) -> Result<Map<String, Value>, Failure> {
        let mut keys = self.export(row).await?;
        if matches!(row.state.status, Status::PausedManual { .. }) {
            keys.insert("enabled".to_owned(), json!(false));
        }
        Ok(keys)
    }

    /// The org's own settings, and its name if it is not the usual one.
    async fn settings(&self) -> Result<Map<String, Value>, Failure> {
        let mut settings = Map::new();
        if self.identity.org_id != super::Identity::default().org_id {
            settings.insert("org_id".to_owned(), json!(self.identity.org_id));
        }
        let limits = self.documents(DocumentKind::Limits).await?;
        let Some(stored) = limits.iter().find(|one| one.name == "org").map(body).transpose()? else {
            return Ok(settings);
        };
        if let Some(ms) = stored["min_interval_ms"].as_i64().filter(|ms| *ms != 1_000) {
            let least = jiff::SignedDuration::from_millis(ms);
            settings.insert("min_interval".to_owned(), json!(length(least)));
        }
        let keys = ["schedules", "runs_per_minute", "runs_in_flight", "over"];
        let set = keys.iter().filter(|key| !stored[**key].is_null());
        let mut limits: Map<String, Value> =
            set.map(|key| ((*key).to_owned(), stored[*key].clone())).collect();
        // Without a limit there is nothing to be over.
        if limits.len() == 1 && limits.contains_key("over") {
            limits.clear();
        }
        if !limits.is_empty() {
            settings.insert("limits".to_owned(), Value::Object(limits));
        }
        Ok(settings)
    }
}

fn body(document: &Document) -> Result<Value, Failure> {
    let unreadable = |error| {
        Failure::world(format!(
            "`{}` of the {}: {error}",
            document.name,
            document.kind.table().replace('_', " ")
        ))
    };
    serde_json::from_str(&document.body).map_err(unreadable)
}
