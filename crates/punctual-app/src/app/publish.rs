//! The other way round: what is stored, as the file that would declare it.

use punctual_plan::Status;
use punctual_store::{Document, DocumentKind, ScheduleRow, Selector};
use serde_json::{Map, Value, json};

use super::list::REQUESTS;
use super::{App, Listing, Pages};
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

/// A file that is written as it is read: its sections first, then the schedules some at a time.
pub struct Publishing<'a> {
    /// The sections before the schedules.
    pub sections: Map<String, Value>,
    app: &'a App,
    set: Option<String>,
    source: Source<'a>,
}

/// Where the schedules of a file come from.
enum Source<'a> {
    All(Pages<'a>),
    Named(Option<Vec<ScheduleRow>>),
}

/// A schedule of a file.
#[derive(Clone, Debug)]
pub enum Publication {
    /// Its keys.
    Keys(Map<String, Value>),
    /// It cannot be read any more.
    LeftOut {
        /// Its name.
        name: String,
        /// Why.
        error: String,
    },
}

impl Publishing<'_> {
    /// The next schedules by name; nothing at the end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self) -> Result<Option<Vec<Publication>>, Failure> {
        let rows = match &mut self.source {
            Source::All(pages) => pages.next().await?,
            Source::Named(rows) => rows.take(),
        };
        let Some(rows) = rows else { return Ok(None) };
        let mut published = Vec::with_capacity(rows.len());
        for row in rows.iter().filter(|row| self.set.is_none() || row.declared_set == self.set) {
            published.push(match &row.invalid {
                Some(error) => {
                    Publication::LeftOut { name: row.definition.name.clone(), error: error.clone() }
                }
                None => Publication::Keys(self.app.declared(row).await?),
            });
        }
        Ok(Some(published))
    }
}

impl App {
    /// The file that declares what is stored: applied to an empty database, it gives the same schedules.
    ///
    /// # Errors
    /// When a name is not there, or the database fails.
    pub async fn publish(&self, wish: &Wish) -> Result<Publishing<'_>, Failure> {
        let mut sections = Map::new();
        let mut put = |section: &str, value: Map<String, Value>| {
            if !value.is_empty() {
                sections.insert(section.to_owned(), Value::Object(value));
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
        let source = match wish.names.is_empty() {
            true => Source::All(self.pages(&Listing { tag: wish.tag.clone(), ..Listing::default() })),
            false => Source::Named(Some(self.wished(wish).await?)),
        };
        Ok(Publishing { sections, app: self, set: wish.set.clone(), source })
    }

    /// The schedules of some names, which must be among those of the tag and the set.
    async fn wished(&self, wish: &Wish) -> Result<Vec<ScheduleRow>, Failure> {
        let mut names = wish.names.clone();
        names.sort_unstable();
        names.dedup();
        let mut rows = Vec::with_capacity(names.len());
        for name in names {
            let row = self.living(Selector::Name(name.clone())).await?;
            let has_tag = wish.tag.as_ref().is_none_or(|tag| row.definition.tags.contains(tag));
            let is_shown = row.declared_set.as_deref() != Some(REQUESTS);
            if !(has_tag && is_shown && (wish.set.is_none() || row.declared_set == wish.set)) {
                let hint = "`--tag` and `--set-name` choose among the names";
                return Err(Failure::invalid(format!("`{name}` is not among the chosen schedules"), hint));
            }
            rows.push(row);
        }
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
