//! Planning: schedules whose next tick comes near, and the plans that are made of them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Counters, Cursor, LateRow, OrgKey, Reason, RunKey, Schedule, ScheduleKey, State,
};
use punctual_time::Anchor;
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::definitions::Asked;
use super::ledger::{Ending, Planned};
use super::node::has_newest_rules;
use super::said::unless_raced;
use super::{By, Postgres, sql};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{answer_of, read_answer};
use crate::{Ask, Batch, Commit, Error, PlanCommit, Plannable, PlannableBatch, Shards, Whose, timing};

/// What a question means to an index: up to which instant, in which shards, how many.
pub(super) struct Bounds {
    pub(super) until: i64,
    pub(super) shards: Option<Vec<i64>>,
    pub(super) limit: i64,
}

impl From<&Ask> for Bounds {
    fn from(ask: &Ask) -> Self {
        let (until, shards) = match &ask.whose {
            Whose::Own(Shards::All) => (ask.now, None),
            Whose::Own(Shards::Some(shards)) => {
                (ask.now, Some(shards.iter().map(|shard| i64::from(*shard)).collect()))
            }
            Whose::Late(late) => (ask.now.saturating_sub(*late).unwrap_or(Timestamp::MIN), None),
        };
        let limit = i64::try_from(ask.limit.min(crate::BATCH_MAX)).unwrap_or(i64::MAX);
        Self { until: until.as_microsecond(), shards, limit }
    }
}

struct Wanting {
    schedule: ScheduleKey,
    org: OrgKey,
    version: i64,
    plan_at: i64,
    hung_until: Option<Timestamp>,
    state: State,
}

fn read_wanting(row: &Row) -> Result<Wanting, Error> {
    let micros = |place| col::<Option<i64>>(row, place)?.map(from_micros).transpose();
    let state = State {
        cursor: Cursor {
            planned_through: from_micros(col(row, 4)?)?,
            decided_through: from_micros(col(row, 5)?)?,
        },
        counters: Counters { admitted: unsigned(col(row, 6)?), ..Counters::default() },
        anchors: Anchors { start: micros(7)?, finish: micros(8)? },
        ..State::starting(Timestamp::UNIX_EPOCH)
    };
    Ok(Wanting {
        schedule: ScheduleKey(col(row, 0)?),
        org: OrgKey(col(row, 1)?),
        version: col(row, 2)?,
        plan_at: col(row, 3)?,
        hung_until: micros(9)?,
        state,
    })
}

/// A count, which the database keeps as a number with a sign.
pub(super) fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

/// Reads one of our names.
pub(super) fn named<T: std::str::FromStr<Err = punctual_plan::UnknownName>>(name: &str) -> Result<T, Error> {
    name.parse().map_err(|error| Error::corrupt(format!("{error}")))
}

/// Reads a reason of two columns.
pub(super) fn read_reason(code: Option<&str>, detail: Option<&str>) -> Result<Option<Reason>, Error> {
    let Some(code) = code else { return Ok(None) };
    let reason = Reason::from_stored(code, detail.unwrap_or_default());
    reason.map(Some).map_err(|error| Error::corrupt(error.to_string()))
}

impl Postgres {
    pub(super) async fn read_plannable(&self, ask: &Ask) -> Result<PlannableBatch, Error> {
        let tx = self.connections.begin(Role::Hot, "looking for schedules to plan").await?;
        let result = self.plannable_in(&tx, ask).await;
        tx.over(result).await
    }

    async fn plannable_in(&self, tx: &Tx, ask: &Ask) -> Result<PlannableBatch, Error> {
        let bounds = Bounds::from(ask);
        let arguments: [&dyn Arg; 3] = [&bounds.until, &bounds.shards, &(bounds.limit + 1)];
        let rows = tx.rows(sql!("plannable"), &arguments).await?;
        let mut wanting: Vec<Wanting> = rows.iter().map(read_wanting).collect::<Result<_, _>>()?;
        let next_plan_at = match wanting.len() > bounds.limit as usize {
            true => wanting.pop().map(|beyond| from_micros(beyond.plan_at)).transpose()?,
            false => {
                let next = tx.row(sql!("next_plan_at"), &[&bounds.until, &bounds.shards]).await?;
                next.map(|row| from_micros(col(&row, 0)?)).transpose()?
            }
        };
        // Of those that want it together the older schedule comes first.
        wanting.sort_unstable_by_key(|want| (want.plan_at, want.schedule));
        Ok(PlannableBatch { next_plan_at, ..self.read_wanting(tx, wanting, ask.now).await? })
    }

    pub(super) async fn read_decidable(
        &self,
        now: Timestamp,
        schedules: &[ScheduleKey],
    ) -> Result<PlannableBatch, Error> {
        let tx = self.connections.begin(Role::Hot, "looking at late schedules").await?;
        let result = async {
            let keys: Vec<i64> = schedules.iter().map(|schedule| schedule.0).collect();
            let rows = tx.rows(sql!("decidable"), &[&keys, &"active"]).await?;
            let wanting = rows.iter().map(read_wanting).collect::<Result<_, _>>()?;
            self.read_wanting(&tx, wanting, now).await
        };
        let result = result.await;
        tx.over(result).await
    }

    /// The definitions, late rows and outstanding ticks of schedules.
    async fn read_wanting(
        &self,
        tx: &Tx,
        wanting: Vec<Wanting>,
        now: Timestamp,
    ) -> Result<PlannableBatch, Error> {
        let mut batch = PlannableBatch::default();
        if wanting.is_empty() {
            return Ok(batch);
        }
        let versions: Vec<_> = wanting.iter().map(|want| (want.schedule, want.version)).collect();
        let known = self.definitions(tx, &versions).await?;
        let outstanding = outstanding(tx, &wanting, &known).await?;
        let mut late = late_rows(tx, &wanting, now).await?;
        for want in wanting {
            let definition = match known.get(&(want.schedule, want.version)) {
                Some(Ok(definition)) => definition,
                Some(Err(error)) => {
                    batch.unreadable.push((want.schedule, error.clone()));
                    continue;
                }
                None => continue,
            };
            let Some(timing) = timing(definition, &want.state) else { continue };
            batch.ready.push(Plannable {
                schedule: want.schedule,
                org: want.org,
                definition: std::sync::Arc::clone(definition),
                timing,
                cursor: want.state.cursor,
                late: late.remove(&want.schedule).unwrap_or_default(),
                outstanding: outstanding.get(&want.schedule).map_or(0, |ticks| ticks.of(definition)),
                hung_until: want.hung_until,
            });
        }
        Ok(batch)
    }

    pub(super) async fn write_plan_batch(
        &self,
        batch: Batch,
        plans: &[PlanCommit],
    ) -> Result<Vec<Commit>, Error> {
        unless_raced(|| self.write_plans_once(batch, plans)).await
    }

    async fn write_plans_once(&self, batch: Batch, plans: &[PlanCommit]) -> Result<Vec<Commit>, Error> {
        let tx = self.connections.begin(Role::Hot, "writing plans").await?;
        let result = self.plans_in(&tx, batch, plans).await;
        let answered = self
            .answer(tx, By::Node(batch), result.map(|commits| (answer_of(commits.iter().copied()), commits)))
            .await?;
        answered.or_else(|before| read_answer(&before))
    }

    async fn plans_in(&self, tx: &Tx, batch: Batch, plans: &[PlanCommit]) -> Result<Vec<Commit>, Error> {
        if !has_newest_rules(tx, batch.fence).await? {
            return Ok(vec![Commit::Stale; plans.len()]);
        }
        lock_decided(tx, plans).await?;
        let moved = move_cursors(tx, plans).await?;
        let mut commits = Vec::with_capacity(plans.len());
        let (mut written, mut over) = (Vec::new(), Vec::new());
        let (mut ended, mut hanging) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for plan in plans {
            let shard = moved.get(&plan.schedule).filter(|_| seen.insert(plan.schedule));
            commits.push(if shard.is_some() { Commit::Done } else { Commit::Stale });
            let Some(shard) = shard else { continue };
            let is_over = plan.plan.next_tick.is_none() && plan.plan.plan_at.is_none();
            let ending = Ending::of(plan.schedule, &plan.definition);
            over.extend(is_over.then_some(ending));
            ended.extend((!plan.plan.closed.is_empty()).then_some(ending));
            hanging.extend(plan.plan.is_hanging.then_some(ending));
            written.push(Planned {
                schedule: plan.schedule,
                org: plan.org,
                shard: *shard,
                version: plan.definition.version,
                definition: Some(&plan.definition),
                plan: &plan.plan,
            });
        }
        self.write_plans(tx, &written, batch.now).await?;
        self.go_on(tx, &ended, batch.now).await?;
        self.go_on_if_free(tx, &hanging, batch.now).await?;
        self.exhaust(tx, over, batch.now).await?;
        Ok(commits)
    }
}

/// Rows that a plan closes or lets fire are held before the cursors, in the order in which admission holds them.
async fn lock_decided(tx: &Tx, plans: &[PlanCommit]) -> Result<(), Error> {
    let closed = plans.iter().flat_map(|plan| plan.plan.closed.iter().map(|row| row.run.0));
    let refired = plans.iter().flat_map(|plan| plan.plan.refired.iter().map(|row| row.run.0));
    let mut runs: Vec<i64> = closed.chain(refired).collect();
    if runs.is_empty() {
        return Ok(());
    }
    runs.sort_unstable();
    tx.rows(sql!("lock_runs"), &[&runs]).await?;
    Ok(())
}

/// Moves the cursors that stand where the plans were made; gives the shards of those that did.
async fn move_cursors(tx: &Tx, plans: &[PlanCommit]) -> Result<HashMap<ScheduleKey, i64>, Error> {
    let mut seen = HashSet::new();
    let mut plans: Vec<&PlanCommit> = plans.iter().filter(|plan| seen.insert(plan.schedule)).collect();
    plans.sort_by_key(|plan| plan.schedule);
    let column = |read: fn(&PlanCommit) -> i64| plans.iter().map(|plan| read(plan)).collect::<Vec<i64>>();
    let schedule = column(|plan| plan.schedule.0);
    let version = column(|plan| plan.definition.version);
    let from_planned = column(|plan| plan.from.planned_through.as_microsecond());
    let from_decided = column(|plan| plan.from.decided_through.as_microsecond());
    let planned = column(|plan| plan.plan.cursor.planned_through.as_microsecond());
    let decided = column(|plan| plan.plan.cursor.decided_through.as_microsecond());
    let next_tick: Vec<Option<i64>> =
        plans.iter().map(|plan| plan.plan.next_tick.map(Timestamp::as_second)).collect();
    let plan_at: Vec<Option<i64>> =
        plans.iter().map(|plan| plan.plan.plan_at.map(Timestamp::as_microsecond)).collect();
    let arguments: [&dyn Arg; 9] = [
        &schedule,
        &version,
        &from_planned,
        &from_decided,
        &planned,
        &decided,
        &next_tick,
        &plan_at,
        &"active",
    ];
    let rows = tx.rows(sql!("move_cursors"), &arguments).await?;
    rows.iter().map(|row| Ok((ScheduleKey(col(row, 0)?), col(row, 1)?))).collect()
}

/// Ticks of a schedule that have not ended.
struct Outstanding {
    all: usize,
    /// Of them, those that were never launched.
    unlaunched: usize,
}

impl Outstanding {
    /// Reads the two counts.
    fn read(row: &Row, place: usize) -> Result<Self, Error> {
        let count = |place| Ok::<_, Error>(usize::try_from(col::<i64>(row, place)?).unwrap_or_default());
        Ok(Self { all: count(place)?, unlaunched: count(place + 1)? })
    }

    /// Those that the next tick of a schedule hangs on.
    fn of(&self, definition: &Schedule) -> usize {
        if definition.when.floats_on(Anchor::LastFinish) {
            self.all
        } else if definition.when.floats_on(Anchor::LastStart) {
            self.unlaunched
        } else {
            0
        }
    }
}

/// The ticks that have not ended of those schedules whose next tick hangs on them.
async fn outstanding(
    tx: &Tx,
    wanting: &[Wanting],
    known: &Asked,
) -> Result<HashMap<ScheduleKey, Outstanding>, Error> {
    let is_floating = |want: &&Wanting| {
        let definition = known.get(&(want.schedule, want.version));
        definition.is_some_and(|it| it.as_ref().is_ok_and(|definition| definition.when.is_floating()))
    };
    let floating: Vec<i64> = wanting.iter().filter(is_floating).map(|want| want.schedule.0).collect();
    if floating.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = tx.rows(sql!("outstanding"), &[&floating, &"tick"]).await?;
    rows.iter().map(|row| Ok((ScheduleKey(col(row, 0)?), Outstanding::read(row, 1)?))).collect()
}

/// The ticks of each schedule that are armed and whose instant has passed.
async fn late_rows(
    tx: &Tx,
    wanting: &[Wanting],
    now: Timestamp,
) -> Result<HashMap<ScheduleKey, Vec<LateRow>>, Error> {
    let schedules: Vec<i64> = wanting.iter().map(|want| want.schedule.0).collect();
    let mut late: HashMap<ScheduleKey, Vec<LateRow>> = HashMap::new();
    for row in tx.rows(sql!("late_rows"), &[&schedules, &now.as_microsecond(), &"tick"]).await? {
        late.entry(ScheduleKey(col(&row, 0)?)).or_default().push(LateRow {
            run: RunKey(col(&row, 1)?),
            scheduled_for: from_seconds(col(&row, 2)?)?,
            fire_at: from_micros(col(&row, 3)?)?,
            verdict: read_reason(col(&row, 4)?, col(&row, 5)?)?,
        });
    }
    late.values_mut().for_each(|rows| rows.sort_by_key(|row| row.scheduled_for));
    Ok(late)
}
