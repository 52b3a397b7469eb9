//! What is done to one schedule: edited, enabled, disabled, deleted, rolled back; or what each would do.

use punctual_plan::rule::{Rule, holds};
use punctual_store::{ScheduleRow, Selector};
use serde_json::{Map, Value, json};

use super::toggle::Toggle;
use super::{Call, Flag, Method, Question, Which};
use crate::declare::Patch;
use crate::{App, Decide, Failure, Kind, Request, Step, shape};

/// Keys whose own keys are changed one by one; another value takes the place of the whole.
const GROUPS: [&str; 3] = ["target", "launch", "dst"];

/// What is done to a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Some of its keys become others; `null` clears one, and `enabled` says whether it fires.
    Update(Map<String, Value>),
    /// It fires again.
    Enable,
    /// It does not fire until it is enabled.
    Disable {
        /// Why.
        note: String,
    },
    /// It is deleted.
    Delete {
        /// Whether its runs in flight are ended.
        cancel_running: Flag,
    },
    /// It gets the definition of an earlier version.
    Rollback {
        /// Which.
        to: i64,
    },
}

impl Verb {
    /// How a server is asked for it.
    fn call(&self, which: &Which) -> Call {
        match self {
            Self::Update(keys) => {
                Call { body: Some(Value::Object(keys.clone())), ..which.call(Method::Patch, "") }
            }
            Self::Enable => which.call(Method::Post, "/enable"),
            Self::Disable { note } => {
                Call { body: Some(json!({"note": note})), ..which.call(Method::Post, "/disable") }
            }
            Self::Delete { cancel_running } => {
                which.call(Method::Delete, "").when("cancel_running", *cancel_running)
            }
            Self::Rollback { to } => {
                Call { body: Some(json!({"to": to})), ..which.call(Method::Post, "/rollback") }
            }
        }
    }

    /// The step that it takes from a row; nothing if it is so already.
    ///
    /// # Errors
    /// When it cannot be taken.
    pub(super) async fn step(&self, app: &App, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        match self {
            Self::Update(keys) => update(app, row, keys.clone()).await,
            Self::Enable => Toggle::Enabled.step(row),
            Self::Disable { note } => {
                Toggle::Disabled { by: app.actor().to_owned(), note: note.clone() }.step(row)
            }
            Self::Delete { .. } => Ok(Some(Step::Delete)),
            Self::Rollback { to } => app.way_back(row, *to).await,
        }
    }
}

/// An edit, and whether it fires afterwards, in one step.
async fn update(app: &App, row: &ScheduleRow, mut keys: Map<String, Value>) -> Result<Option<Step>, Failure> {
    let toggle = Toggle::taken_from(&mut keys, app.actor())?;
    let edit = if keys.is_empty() { None } else { edit(app, row, &patch_of(&keys)).await? };
    match (edit, toggle) {
        (edit, None) => Ok(edit),
        (None, Some(toggle)) => toggle.step(row),
        (Some(edit), Some(toggle)) => Ok(Some(toggle.with(row, edit))),
    }
}

async fn edit(app: &App, row: &ScheduleRow, patch: &Patch) -> Result<Option<Step>, Failure> {
    if let Some(Value::String(name)) = patch.get("name")
        && *name != row.definition.name
    {
        app.refuse_taken(name).await?;
    }
    app.redraft(row, patch, &app.door().told).await
}

/// The changes that some keys make: `null` clears one, and the keys of a group are changed one by one.
///
/// ```
/// use punctual_app::ask::patch_of;
/// use serde_json::json;
///
/// let body = json!({"grace": null, "launch": {"attempts": 5}});
/// let patch = patch_of(body.as_object().unwrap());
/// assert_eq!(patch.get("launch.attempts"), Some(&json!(5)));
/// assert!(patch.has("grace") && patch.get("grace").is_none());
/// ```
pub fn patch_of(keys: &Map<String, Value>) -> Patch {
    let mut patch = Patch::default();
    let mut lay = |path: &str, value: &Value| match value {
        Value::Null => patch.clear(path),
        value => patch.set(path, value.clone()),
    };
    for (key, value) in keys {
        match value {
            Value::Object(below) if GROUPS.contains(&key.as_str()) => {
                // Another kind of target begins it anew, so its kind comes first.
                let first = below.get_key_value("type");
                let rest = below.iter().filter(|(name, _)| *name != "type");
                for (name, value) in first.into_iter().chain(rest) {
                    lay(&format!("{key}.{name}"), value);
                }
            }
            value => lay(key, value),
        }
    }
    patch
}

/// Something that is done to a schedule.
#[derive(Clone, Debug)]
pub struct Act {
    /// Which.
    pub which: Which,
    /// What.
    pub verb: Verb,
    /// The version that is to be changed; any if none is said.
    pub version: Option<i64>,
    /// The request's own key.
    pub request_key: Option<String>,
}

impl Act {
    /// Something that is done, whatever the version.
    pub fn new(which: Which, verb: Verb) -> Self {
        Self { which, verb, version: None, request_key: None }
    }

    /// Whether the same request was heard before.
    async fn is_repeated(&self, app: &App) -> Result<bool, Failure> {
        let Some(key) = self.request_key.clone() else { return Ok(false) };
        let question = format!("{:?} {:?} {:?}", self.which, self.verb, self.version);
        Ok(app.once(&Request { key, question }, String::new()).await?.is_some())
    }

    async fn delete(&self, app: &App, cancel_running: Flag) -> Result<shape::Changed, Failure> {
        let row = self.which.living(app).await?;
        let acted = self.act(app, Selector::Id(row.definition.id)).await?;
        let in_flight = match cancel_running {
            Flag::Yes => {
                app.cancel_in_flight(&row).await?;
                0
            }
            Flag::No => app.in_flight(&row).await?.len(),
        };
        Ok(shape::Changed { deleted: Some(true), in_flight: Some(in_flight), ..acted })
    }

    /// What was admitted before a pause may still be delivered: the answer tells.
    async fn disable(&self, app: &App) -> Result<shape::Changed, Failure> {
        let row = self.which.living(app).await?;
        let changed = self.act(app, Selector::Id(row.definition.id)).await?;
        let running = app.in_flight(&row).await?;
        let running = running.iter().filter(|_| holds(Rule::PauseTells));
        let still_running = running.map(ToString::to_string).collect();
        Ok(shape::Changed { still_running: Some(still_running), ..changed })
    }

    async fn act(&self, app: &App, selector: Selector) -> Result<shape::Changed, Failure> {
        let acted = app.act(selector, Taken { app, verb: &self.verb, version: self.version }).await?;
        Ok(shape::Changed::of(&acted))
    }
}

impl Question for Act {
    type Answer = shape::Changed;

    fn call(&self) -> Call {
        let call = self.verb.call(&self.which);
        Call { key: self.request_key.clone(), version: self.version, ..call }
    }

    async fn answer(&self, app: &App) -> Result<shape::Changed, Failure> {
        let is_repeated = self.is_repeated(app).await?;
        if is_repeated {
            // What was asked for has been done; a version that was meant then is not the present one any more.
            let row = self.which.row(app).await?;
            let again = Self { version: None, request_key: None, ..self.clone() };
            if row.deleted_at.is_some() {
                let schedule = shape::Schedule::alone(&row);
                let (in_flight, still_running) = (None, None);
                return Ok(shape::Changed {
                    schedule,
                    changed: false,
                    deleted: Some(true),
                    in_flight,
                    still_running,
                });
            }
            return again.once(app).await;
        }
        self.once(app).await
    }
}

/// A verb and where it is taken.
pub(super) struct Taken<'a> {
    pub(super) app: &'a App,
    pub(super) verb: &'a Verb,
    /// The version that is to be changed; any if none is said.
    pub(super) version: Option<i64>,
}

impl Decide for Taken<'_> {
    async fn decide(&self, row: &ScheduleRow) -> Result<Option<Step>, Failure> {
        self.refuse_other(row)?;
        self.verb.step(self.app, row).await
    }
}

impl Taken<'_> {
    fn refuse_other(&self, row: &ScheduleRow) -> Result<(), Failure> {
        match self.version.filter(|version| *version != row.definition.version) {
            None => Ok(()),
            Some(version) => Err(Failure {
                kind: Kind::Stale,
                message: format!(
                    "`{}` is in version {}, not {version}",
                    row.definition.name, row.definition.version
                ),
                hint: Some("read it again, and decide anew".to_owned()),
            }),
        }
    }
}

impl Act {
    async fn once(&self, app: &App) -> Result<shape::Changed, Failure> {
        match self.verb {
            Verb::Delete { cancel_running } => self.delete(app, cancel_running).await,
            Verb::Disable { .. } => self.disable(app).await,
            _ => self.act(app, self.which.selector(app).await?).await,
        }
    }
}

/// What something would do to a schedule.
#[derive(Clone, Debug)]
pub struct Consider {
    /// Which.
    pub which: Which,
    /// What.
    pub verb: Verb,
}

impl Question for Consider {
    type Answer = shape::Outlook;

    fn call(&self) -> Call {
        self.verb.call(&self.which).when("dry_run", Flag::Yes)
    }

    async fn answer(&self, app: &App) -> Result<shape::Outlook, Failure> {
        let row = self.which.living(app).await?;
        let step = self.verb.step(app, &row).await?;
        Ok(shape::Outlook::of(&row, step.as_ref(), app.now().await?))
    }
}
