//! Schedules that are made: many in one transaction, one statement a table.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{Cursor, OrgKey, Plan, Schedule, ScheduleKey, Status};

use super::connection::{Arg, Tx, col};
use super::ledger::{About, Ending, Events, Planned};
use super::{Postgres, sql};
use crate::definition::encode;
use crate::stored::{Limits, shard_of, status_detail, uses};
use crate::{Actor, Error, ScheduleWrite, Scope, Write, Written};

/// A schedule to be made.
pub(super) struct New<'a> {
    pub(super) write: &'a ScheduleWrite,
    pub(super) definition: &'a Arc<Schedule>,
    status: &'a Status,
    plan: Option<&'a Plan>,
    declared_set: Option<&'a str>,
    org: OrgKey,
}

impl<'a> New<'a> {
    pub(super) fn of(write: &'a ScheduleWrite) -> Option<Self> {
        let Write::Create { definition, status, plan, declared_set } = &write.write else { return None };
        let (plan, declared_set) = (plan.as_ref(), declared_set.as_deref());
        Some(Self { write, definition, status, plan, declared_set, org: OrgKey(0) })
    }

    fn cursor(&self) -> Cursor {
        self.plan.map_or(Cursor::starting(self.write.now), |plan| plan.cursor)
    }

    fn now(&self) -> i64 {
        self.write.now.as_microsecond()
    }
}

impl Postgres {
    /// Makes schedules; each is made or refused on its own.
    pub(super) async fn create(
        &self,
        tx: &Tx,
        scope: &Scope,
        mut new: Vec<New<'_>>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        self.find_orgs(tx, scope, &mut new).await?;
        let room = room(tx, &new).await?;
        let fits = fitting(&new, room);
        let wanted: Vec<&New<'_>> =
            new.iter().zip(&fits).filter(|(_, fits)| **fits).map(|(new, _)| new).collect();
        let made = insert_schedules(tx, scope, &wanted).await?;
        let mut seen = HashSet::new();
        let mut living: Vec<(ScheduleKey, &New<'_>)> = Vec::with_capacity(wanted.len());
        let mut results = Vec::with_capacity(new.len());
        for (new, fits) in new.iter().zip(&fits) {
            let id = new.definition.id.to_string();
            results.push(match made.get(&(new.org.0, id.clone())).filter(|_| seen.insert((new.org.0, id))) {
                Some(key) => {
                    living.push((*key, new));
                    Ok(Written::Schedule(*key))
                }
                None if *fits => Err(Error::NameTaken { name: new.definition.name.clone() }),
                None => Err(Error::Forbidden { what: "have more schedules than its limit" }),
            });
        }
        if !living.is_empty() {
            self.complete(tx, scope, &living).await?;
        }
        Ok(results)
    }

    async fn find_orgs(&self, tx: &Tx, scope: &Scope, new: &mut [New<'_>]) -> Result<(), Error> {
        if let Scope::Org { org, .. } = scope {
            new.iter_mut().for_each(|new| new.org = *org);
            return Ok(());
        }
        let mut keys: HashMap<&str, OrgKey> = HashMap::new();
        for new in new {
            let id = new.definition.owner.org_id.as_str();
            new.org = match keys.get(id) {
                Some(key) => *key,
                None => *keys.entry(id).or_insert(super::schedules::make_org(tx, id).await?),
            };
        }
        Ok(())
    }

    /// Everything beside the definition itself.
    async fn complete(&self, tx: &Tx, scope: &Scope, made: &[(ScheduleKey, &New<'_>)]) -> Result<(), Error> {
        let now = made.first().map_or(Timestamp::UNIX_EPOCH, |(_, new)| new.write.now);
        let planned: Vec<Planned<'_>> = made
            .iter()
            .filter_map(|(key, new)| {
                Some(Planned {
                    schedule: *key,
                    org: new.org,
                    shard: shard_of(new.definition.id).into(),
                    version: new.definition.version,
                    definition: Some(new.definition),
                    plan: new.plan?,
                })
            })
            .collect();
        // What does not hang on each other is sent at once: one is read in while the last is carried out.
        tokio::try_join!(
            insert_uses(tx, made),
            insert_states(tx, made),
            self.write_plans(tx, &planned, now),
        )?;
        let mut events = Events::default();
        let actor = actor(scope);
        for (key, new) in made {
            let about = About { org: new.org, schedule: Some(*key), run: None };
            events.say(about, &actor, (new.write.kind, &new.write.note));
            self.cache.put(*key, new.definition);
        }
        events.write(tx, now).await?;
        let is_over = |new: &New<'_>| {
            let plan = new.plan.filter(|plan| plan.next_tick.is_none() && plan.plan_at.is_none());
            plan.is_some() && new.status.is_active()
        };
        let over =
            made.iter().filter(|(_, new)| is_over(new)).map(|(key, new)| Ending::of(*key, new.definition));
        let over = over.collect();
        self.exhaust(tx, over, now).await
    }
}

/// Who writes.
pub(super) fn actor(scope: &Scope) -> Actor {
    match scope {
        Scope::Org { user: Some(user), .. } => Actor::User(user.clone()),
        Scope::Org { user: None, .. } | Scope::Engine => Actor::Engine,
    }
}

/// How many schedules each limited org may still have.
async fn room(tx: &Tx, new: &[New<'_>]) -> Result<HashMap<OrgKey, u64>, Error> {
    let orgs: HashSet<i64> = new.iter().map(|new| new.org.0).collect();
    let orgs: Vec<i64> = orgs.into_iter().collect();
    let mut room = HashMap::new();
    for row in tx.rows(sql!("limits"), &[&orgs]).await? {
        let org: i64 = col(&row, 0)?;
        let Some(max) = Limits::read(col(&row, 1)?)?.schedules else { continue };
        let living = tx.row(sql!("count_living"), &[&org]).await?;
        let living = living.map(|row| col::<i64>(&row, 0)).transpose()?.unwrap_or_default();
        room.insert(OrgKey(org), max.saturating_sub(super::plan::unsigned(living)));
    }
    Ok(room)
}

fn fitting(new: &[New<'_>], mut room: HashMap<OrgKey, u64>) -> Vec<bool> {
    let mut fits = |new: &New<'_>| match room.get_mut(&new.org) {
        None => true,
        Some(0) => false,
        Some(left) => {
            *left -= 1;
            true
        }
    };
    new.iter().map(&mut fits).collect()
}

async fn insert_schedules(
    tx: &Tx,
    scope: &Scope,
    new: &[&New<'_>],
) -> Result<HashMap<(i64, String), ScheduleKey>, Error> {
    let by = match scope {
        Scope::Org { user, .. } => user.as_deref(),
        Scope::Engine => None,
    };
    let org: Vec<i64> = new.iter().map(|new| new.org.0).collect();
    let id: Vec<String> = new.iter().map(|new| new.definition.id.to_string()).collect();
    let name: Vec<&str> = new.iter().map(|new| new.definition.name.as_str()).collect();
    let user: Vec<Option<&str>> = new.iter().map(|new| new.definition.owner.user_id.as_deref()).collect();
    let description: Vec<Option<&str>> =
        new.iter().map(|new| new.definition.description.as_deref()).collect();
    let tags: Vec<String> = new.iter().map(|new| tags(new.definition)).collect();
    let spec: Vec<&str> = new.iter().map(|new| new.definition.spec.as_str()).collect();
    let text: Vec<String> = new.iter().map(|new| encode(new.definition)).collect();
    let set: Vec<Option<&str>> = new.iter().map(|new| new.declared_set).collect();
    let version: Vec<i64> = new.iter().map(|new| new.definition.version).collect();
    let at: Vec<i64> = new.iter().map(|new| new.now()).collect();
    let arguments: [&dyn Arg; 12] =
        [&org, &id, &name, &user, &description, &tags, &spec, &text, &set, &version, &at, &by];
    let rows = tx.rows(sql!("insert_schedules"), &arguments).await?;
    rows.iter().map(|row| Ok(((col(row, 1)?, col(row, 2)?), ScheduleKey(col(row, 0)?)))).collect()
}

/// Tags as JSON.
pub(super) fn tags(definition: &Schedule) -> String {
    serde_json::to_string(&definition.tags).expect("strings can always be written")
}

async fn insert_uses(tx: &Tx, made: &[(ScheduleKey, &New<'_>)]) -> Result<(), Error> {
    let (mut org, mut kind, mut name, mut schedule) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (key, new) in made {
        for (what, which) in uses(new.definition) {
            org.push(new.org.0);
            kind.push(what.name());
            name.push(which);
            schedule.push(key.0);
        }
    }
    if !org.is_empty() {
        tx.run(sql!("insert_uses"), &[&org, &kind, &name, &schedule]).await?;
    }
    Ok(())
}

async fn insert_states(tx: &Tx, made: &[(ScheduleKey, &New<'_>)]) -> Result<(), Error> {
    let number = |read: &dyn Fn(&New<'_>) -> i64| made.iter().map(|(_, new)| read(new)).collect::<Vec<i64>>();
    let maybe = |read: &dyn Fn(&New<'_>) -> Option<i64>| {
        made.iter().map(|(_, new)| read(new)).collect::<Vec<Option<i64>>>()
    };
    let schedule: Vec<i64> = made.iter().map(|(key, _)| key.0).collect();
    let org = number(&|new| new.org.0);
    let shard = number(&|new| shard_of(new.definition.id).into());
    let version = number(&|new| new.definition.version);
    let status: Vec<&str> = made.iter().map(|(_, new)| new.status.name()).collect();
    let detail: Vec<String> = made.iter().map(|(_, new)| status_detail(new.status)).collect();
    let left_at = maybe(&|new| (!new.status.is_active()).then(|| new.now()));
    let planned = number(&|new| new.cursor().planned_through.as_microsecond());
    let decided = number(&|new| new.cursor().decided_through.as_microsecond());
    let next_tick = maybe(&|new| new.plan.and_then(|plan| plan.next_tick).map(Timestamp::as_second));
    let plan_at = maybe(&|new| match new.plan {
        _ if !new.status.is_active() => None,
        Some(plan) => plan.plan_at.map(Timestamp::as_microsecond),
        // Nobody has planned it yet: the planner does.
        None => new.definition.when.timing().map(|_| new.now()),
    });
    let arguments: [&dyn Arg; 11] = [
        &schedule, &org, &shard, &version, &status, &detail, &left_at, &planned, &decided, &next_tick,
        &plan_at,
    ];
    tx.run(sql!("insert_states"), &arguments).await?;
    Ok(())
}
