//! What is done to all schedules with a tag.

use punctual_store::ScheduleRow;
use serde_json::{Value, json};

use super::change::Taken;
use super::{Call, Flag, Method, Question, Verb};
use crate::{App, Failure, Kind, Listing, shape};

/// Something that is done to all schedules with a tag.
#[derive(Clone, Debug)]
pub struct ActMany {
    /// The tag.
    pub tag: String,
    /// What.
    pub verb: Verb,
}

impl ActMany {
    /// The same; `told` hears of how many it is done.
    ///
    /// # Errors
    /// At the first schedule that cannot be changed; those before it are.
    pub async fn answer_telling(
        &self,
        app: &App,
        told: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<shape::ChangedMany, Failure> {
        let rows = tagged(app, &self.tag).await?;
        let all = rows.len();
        let decide = Taken { app, verb: &self.verb, version: None };
        let acted = app.act_many(rows, decide, &|done| told(done, all)).await?;
        let mut changed = shape::ChangedMany::of(&acted);
        if let Verb::Delete { cancel_running } = self.verb {
            let mut left = 0;
            for one in &acted {
                match cancel_running {
                    Flag::Yes => drop(app.cancel_in_flight(&one.row).await?),
                    Flag::No => left += app.in_flight(&one.row).await?.len(),
                }
            }
            changed.in_flight = Some(left);
        }
        if let Verb::Disable { .. } = self.verb {
            let mut running = Vec::new();
            for one in &acted {
                running.extend(app.in_flight(&one.row).await?.iter().map(ToString::to_string));
            }
            changed.still_running = Some(running);
        }
        Ok(changed)
    }
}

impl Question for ActMany {
    type Answer = shape::ChangedMany;

    fn call(&self) -> Call {
        bulk(&self.tag, &self.verb, Flag::No)
    }

    async fn answer(&self, app: &App) -> Result<shape::ChangedMany, Failure> {
        self.answer_telling(app, &|_, _| {}).await
    }
}

/// What something would do to all schedules with a tag.
#[derive(Clone, Debug)]
pub struct OutlookMany {
    /// The tag.
    pub tag: String,
    /// What.
    pub verb: Verb,
}

impl Question for OutlookMany {
    type Answer = shape::Outlooks;

    fn call(&self) -> Call {
        bulk(&self.tag, &self.verb, Flag::Yes)
    }

    async fn answer(&self, app: &App) -> Result<shape::Outlooks, Failure> {
        let now = app.now().await?;
        let mut schedules = Vec::new();
        for row in tagged(app, &self.tag).await? {
            let step = self.verb.step(app, &row).await?;
            schedules.push(shape::Outlook { dry_run: None, ..shape::Outlook::of(&row, step.as_ref(), now) });
        }
        Ok(shape::Outlooks { dry_run: true, schedules })
    }
}

fn bulk(tag: &str, verb: &Verb, dry_run: Flag) -> Call {
    let (name, more): (&str, Value) = match verb {
        Verb::Update(keys) => ("update", json!({"keys": keys})),
        Verb::Enable => ("enable", json!({})),
        Verb::Disable { note } => ("disable", json!({"note": note})),
        Verb::Delete { cancel_running } => {
            ("delete", json!({"cancel_running": *cancel_running == Flag::Yes}))
        }
        Verb::Rollback { to } => ("rollback", json!({"to": to})),
    };
    let mut body = json!({"tag": tag, "action": name});
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    Call { body: Some(body), ..Call::new(Method::Post, "/schedules/bulk").when("dry_run", dry_run) }
}

/// The living schedules with a tag.
async fn tagged(app: &App, tag: &str) -> Result<Vec<ScheduleRow>, Failure> {
    let rows = app.list(&Listing { tag: Some(tag.to_owned()), ..Listing::default() }).await?;
    match rows.is_empty() {
        false => Ok(rows),
        true => Err(Failure {
            kind: Kind::NotFound,
            message: format!("no schedule has the tag `{tag}`"),
            hint: Some("`punctual schedule list --json` shows the tags".to_owned()),
        }),
    }
}
