//! Schedules that are made: many in one transaction, one statement a table and piece.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use jiff::Timestamp;
use punctual_plan::{Cursor, OrgKey, Plan, Schedule, ScheduleId, ScheduleKey, Status};
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::ledger::{About, Ending, Events, Planned};
use super::said::is_duplicate;
use super::{Postgres, sql};
use crate::stored::{Limits, status_detail, uses};
use crate::text::Text;
use crate::{Actor, Error, ScheduleWrite, Scope, Write, Written};

/// Schedules of one statement: few enough that the server has the first ones early and is never idle, enough that its
/// work for a statement does not count.
const PIECE_MAX: usize = 1_600;

/// From so many on it is first tried whether all of them are new; for a few that would only be another round trip. So many
/// are also the first piece of that, so that the server has something to do at once.
const BULK_MIN: usize = 200;

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

    /// What no two of them share.
    fn place(&self) -> (OrgKey, ScheduleId) {
        (self.org, self.definition.id)
    }

    fn now(&self) -> i64 {
        self.write.now.as_microsecond()
    }
}

/// A schedule that is in its table already.
struct Made<'a> {
    schedule: ScheduleKey,
    new: &'a New<'a>,
    text: &'a Text,
}

impl Made<'_> {
    fn shard(&self) -> i64 {
        self.text.shard.into()
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
        let orgs: HashSet<i64> = new.iter().map(|new| new.org.0).collect();
        let room = room(tx, orgs.into_iter().collect()).await?;
        self.create_within(tx, scope, (new, room)).await
    }

    /// Makes schedules of one org, and nothing else; each is made or refused on its own.
    pub(super) async fn create_all(
        &self,
        scope: &Scope,
        org: OrgKey,
        mut new: Vec<New<'_>>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        new.iter_mut().for_each(|new| new.org = org);
        let ask = |tx: Arc<Tx>| async move { room(&tx, vec![org.0]).await };
        let (tx, room) = self.connections.begin_asking(Role::Keyed(org), "writing schedules", ask).await?;
        let result = self.create_within(&tx, scope, (new, room)).await;
        tx.finish(result).await
    }

    /// Makes schedules as far as there is room for them, and says so to those who wait for changes.
    async fn create_within(
        &self,
        tx: &Tx,
        scope: &Scope,
        (new, room): (Vec<New<'_>>, Room),
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        let fits = fitting(&new, room);
        let wanted: Vec<&New<'_>> =
            new.iter().zip(&fits).filter(|(_, fits)| **fits).map(|(new, _)| new).collect();
        let inserted = insert_schedules(tx, &wanted).await?;
        let (mut keys, mut texts) =
            (HashMap::with_capacity(wanted.len()), HashMap::with_capacity(wanted.len()));
        for piece in &inserted {
            for row in &piece.rows {
                let id: &str = col(row, 2)?;
                let id =
                    id.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("`{id}` is no id")))?;
                keys.insert((OrgKey(col(row, 1)?), id), ScheduleKey(col(row, 0)?));
            }
            for (new, text) in piece.new.iter().zip(&piece.texts) {
                texts.entry(new.place()).or_insert(text);
            }
        }
        let mut made: Vec<Made<'_>> = Vec::with_capacity(wanted.len());
        let mut results = Vec::with_capacity(new.len());
        for (new, fits) in new.iter().zip(&fits) {
            // Taken out: of two with the same id only the first was made.
            let key = keys.remove(&new.place()).zip(texts.get(&new.place()));
            results.push(match key {
                Some((schedule, text)) => {
                    made.push(Made { schedule, new, text });
                    Ok(Written::Schedule(schedule))
                }
                None if *fits => Err(Error::NameTaken { name: new.definition.name.clone() }),
                None => Err(Error::Forbidden { what: "have more schedules than its limit" }),
            });
        }
        let complete = |made| self.complete(tx, scope, made);
        tokio::try_join!(all(made.chunks(PIECE_MAX).map(complete).collect()), self.notify(tx))?;
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

    /// Everything beside the schedule's own row.
    async fn complete(&self, tx: &Tx, scope: &Scope, made: &[Made<'_>]) -> Result<(), Error> {
        let now = made.first().map_or(Timestamp::UNIX_EPOCH, |made| made.new.write.now);
        let planned: Vec<Planned<'_>> = made
            .iter()
            .filter_map(|made| {
                Some(Planned {
                    schedule: made.schedule,
                    org: made.new.org,
                    shard: made.shard(),
                    version: made.new.definition.version,
                    definition: Some(made.new.definition),
                    plan: made.new.plan?,
                })
            })
            .collect();
        // What does not hang on each other is sent at once: one is read in while the last is carried out.
        tokio::try_join!(
            insert_versions(tx, scope, made),
            insert_uses(tx, made),
            insert_states(tx, made),
            self.write_ticks(tx, &planned, now),
            self.note(tx, scope, (made, &planned)),
        )?;
        let is_over = |new: &New<'_>| {
            let plan = new.plan.filter(|plan| plan.next_tick.is_none() && plan.plan_at.is_none());
            plan.is_some() && new.status.is_active()
        };
        let over = made.iter().filter(|made| is_over(made.new));
        let over = over.map(|made| Ending::of(made.schedule, made.new.definition)).collect();
        self.exhaust(tx, over, now).await
    }

    /// Tells the audit log, and remembers the definitions.
    async fn note(
        &self,
        tx: &Tx,
        scope: &Scope,
        (made, planned): (&[Made<'_>], &[Planned<'_>]),
    ) -> Result<(), Error> {
        let now = made.first().map_or(Timestamp::UNIX_EPOCH, |made| made.new.write.now);
        let mut events = Events::default();
        // One that is new has no rows yet that its plan could have closed.
        planned.iter().for_each(|planned| planned.tell(&HashSet::new(), now, &mut events));
        let actor = actor(scope);
        for Made { schedule, new, .. } in made {
            let about = About { org: new.org, schedule: Some(*schedule), run: None };
            events.say(about, &actor, (new.write.kind, &new.write.note));
        }
        let written = events.write(tx, now);
        let remembered = async {
            // After the events are sent: the server is at work on them meanwhile.
            for Made { schedule, new, .. } in made {
                self.cache.put(*schedule, new.definition);
            }
            Ok(())
        };
        tokio::try_join!(written, remembered).map(|_| ())
    }
}

/// Awaits all of some work over one connection. Each is sent before the first has answered, so that the server is at work
/// while the next one is put into words; the first that fails is what is told.
pub(super) async fn all<T>(work: Vec<impl Future<Output = Result<T, Error>>>) -> Result<Vec<T>, Error> {
    let mut work: Vec<_> = work.into_iter().map(|one| (Box::pin(one), None)).collect();
    poll_fn(|context| {
        let mut is_waiting = false;
        for (one, done) in work.iter_mut().filter(|(_, done)| done.is_none()) {
            match one.as_mut().poll(context) {
                Poll::Ready(Ok(value)) => *done = Some(value),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_waiting = true,
            }
        }
        if is_waiting { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    Ok(work.into_iter().filter_map(|(_, done)| done).collect())
}

/// Who writes.
pub(super) fn actor(scope: &Scope) -> Actor {
    match scope {
        Scope::Org { user: Some(user), .. } => Actor::User(user.clone()),
        Scope::Org { user: None, .. } | Scope::Engine => Actor::Engine,
    }
}

/// How many schedules each limited org may still have.
type Room = HashMap<OrgKey, u64>;

async fn room(tx: &Tx, orgs: Vec<i64>) -> Result<Room, Error> {
    let mut limited = Vec::new();
    for row in tx.rows(sql!("limits"), &[&orgs]).await? {
        if let Some(max) = Limits::read(col(&row, 1)?)?.schedules {
            limited.push((col::<i64>(&row, 0)?, max));
        }
    }
    let mut room = Room::new();
    if limited.is_empty() {
        return Ok(room);
    }
    // Whoever else makes schedules of these orgs waits: what is counted would not be all there is.
    tx.rows(sql!("lock_limits"), &[&orgs]).await?;
    for (org, max) in limited {
        let living = tx.row(sql!("count_living"), &[&org]).await?;
        let living = living.map(|row| col::<i64>(&row, 0)).transpose()?.unwrap_or_default();
        room.insert(OrgKey(org), max.saturating_sub(super::plan::unsigned(living)));
    }
    Ok(room)
}

fn fitting(new: &[New<'_>], mut room: Room) -> Vec<bool> {
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

/// Schedules of one statement, as they were written.
struct Inserted<'a> {
    new: Vec<&'a New<'a>>,
    texts: Vec<Text>,
    /// Key, org and id of those that are new.
    rows: Vec<Row>,
}

async fn insert_schedules<'a>(tx: &Tx, new: &[&'a New<'a>]) -> Result<Vec<Inserted<'a>>, Error> {
    if new.len() >= BULK_MIN {
        tx.batch("SAVEPOINT bulk").await?;
        // In the order of their ids: the index is gone through once instead of at random.
        let mut sorted = new.to_vec();
        sorted.sort_unstable_by_key(|new| new.place());
        let (first, rest) = sorted.split_at(BULK_MIN);
        let pieces = std::iter::once(first).chain(rest.chunks(PIECE_MAX));
        let insert = |piece| insert_piece(tx, sql!("insert_schedules_or_none"), piece);
        match all(pieces.map(insert).collect()).await {
            Ok(inserted) => {
                tx.batch("RELEASE bulk").await?;
                return Ok(inserted);
            }
            Err(error) if is_duplicate(&error) => tx.batch("ROLLBACK TO bulk; RELEASE bulk").await?,
            Err(error) => return Err(error),
        }
    }
    let insert = |piece| insert_piece(tx, sql!("insert_schedules"), piece);
    all(new.chunks(PIECE_MAX).map(insert).collect()).await
}

async fn insert_piece<'a>(tx: &Tx, statement: &str, new: &[&'a New<'a>]) -> Result<Inserted<'a>, Error> {
    let texts: Vec<Text> = new.iter().map(|new| Text::of(new.definition)).collect();
    let org: Vec<i64> = new.iter().map(|new| new.org.0).collect();
    let id: Vec<&str> = texts.iter().map(|text| text.id.as_str()).collect();
    let name: Vec<&str> = new.iter().map(|new| new.definition.name.as_str()).collect();
    let user: Vec<Option<&str>> = new.iter().map(|new| new.definition.owner.user_id.as_deref()).collect();
    let description: Vec<Option<&str>> =
        new.iter().map(|new| new.definition.description.as_deref()).collect();
    let tags: Vec<&str> = texts.iter().map(|text| text.tags.as_str()).collect();
    let spec: Vec<&str> = new.iter().map(|new| new.definition.spec.as_str()).collect();
    let set: Vec<Option<&str>> = new.iter().map(|new| new.declared_set).collect();
    let version: Vec<i64> = new.iter().map(|new| new.definition.version).collect();
    let at: Vec<i64> = new.iter().map(|new| new.now()).collect();
    let arguments: [&dyn Arg; 10] =
        [&org, &id, &name, &user, &description, &tags, &spec, &set, &version, &at];
    let rows = tx.rows(statement, &arguments).await?;
    Ok(Inserted { new: new.to_vec(), texts, rows })
}

async fn insert_versions(tx: &Tx, scope: &Scope, made: &[Made<'_>]) -> Result<(), Error> {
    let by = match scope {
        Scope::Org { user, .. } => user.as_deref(),
        Scope::Engine => None,
    };
    let schedule: Vec<i64> = made.iter().map(|made| made.schedule.0).collect();
    let version: Vec<i64> = made.iter().map(|made| made.new.definition.version).collect();
    let org: Vec<i64> = made.iter().map(|made| made.new.org.0).collect();
    let since: Vec<i64> = made.iter().map(|made| made.new.now()).collect();
    let definition: Vec<&str> = made.iter().map(|made| made.text.definition.as_str()).collect();
    let arguments: [&dyn Arg; 6] = [&schedule, &version, &org, &since, &definition, &by];
    tx.run(sql!("insert_versions"), &arguments).await.map(|_| ())
}

async fn insert_uses(tx: &Tx, made: &[Made<'_>]) -> Result<(), Error> {
    let (mut org, mut kind, mut name, mut schedule) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for one in made {
        for (what, which) in uses(one.new.definition) {
            org.push(one.new.org.0);
            kind.push(what.name());
            name.push(which);
            schedule.push(one.schedule.0);
        }
    }
    if !org.is_empty() {
        tx.run(sql!("insert_uses"), &[&org, &kind, &name, &schedule]).await?;
    }
    Ok(())
}

async fn insert_states(tx: &Tx, made: &[Made<'_>]) -> Result<(), Error> {
    let number =
        |read: &dyn Fn(&New<'_>) -> i64| made.iter().map(|made| read(made.new)).collect::<Vec<i64>>();
    let maybe = |read: &dyn Fn(&New<'_>) -> Option<i64>| {
        made.iter().map(|made| read(made.new)).collect::<Vec<Option<i64>>>()
    };
    let schedule: Vec<i64> = made.iter().map(|made| made.schedule.0).collect();
    let org = number(&|new| new.org.0);
    let shard: Vec<i64> = made.iter().map(Made::shard).collect();
    let version = number(&|new| new.definition.version);
    let status: Vec<&str> = made.iter().map(|made| made.new.status.name()).collect();
    let detail: Vec<String> = made.iter().map(|made| status_detail(made.new.status)).collect();
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
