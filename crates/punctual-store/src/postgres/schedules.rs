//! Schedules as people see them: found, listed, and written through `create` and `change`.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::{
    Anchors, Counters, Cursor, Event, Fence, Open, OpenKind, OrgKey, RunKey, RunStatus, Schedule, ScheduleId,
    ScheduleKey, State,
};
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::create::New;
use super::definitions::{is_sharing, shared};
use super::ledger::{About, Events};
use super::node::has_newest_rules;
use super::plan::{named, unsigned};
use super::{Postgres, sql};
use crate::definition::{Shared, decode};
use crate::instant::{from_micros, from_seconds};
use crate::stored::{read_status, remains};
use crate::{
    BATCH_MAX, Cut, Error, INSTALLATION, Listed, NameRow, OpenRow, ScheduleFilter, ScheduleRow,
    ScheduleWrite, Scope, Selector, UseKind, VersionRow, Write, Written,
};

impl Postgres {
    pub(super) async fn find_org(&self, scope: &Scope, id: &str) -> Result<OrgKey, Error> {
        let tx = self.connections.begin(scope.into(), "looking for the org").await?;
        let result = match scope {
            Scope::Engine => make_org(&tx, id).await,
            Scope::Org { .. } => known_org(&tx, id).await,
        };
        tx.finish(result).await
    }

    /// Notes an event that belongs to no tenant.
    pub(super) async fn note_of_installation(&self, at: Timestamp, event: &Event) -> Result<(), Error> {
        let tx = self.connections.begin(Role::Engine, "noting an event").await?;
        let result = async {
            let org = make_org(&tx, INSTALLATION).await?;
            let mut events = Events::default();
            events.note(About { org, schedule: None, run: None }, event);
            events.write(&tx, at).await
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn write_all(
        &self,
        scope: &Scope,
        writes: &[ScheduleWrite],
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        let is_new = |write: &ScheduleWrite| matches!(write.write, Write::Create { .. });
        if let Scope::Org { org, .. } = scope
            && (1..=BATCH_MAX).contains(&writes.len())
            && writes.iter().all(is_new)
        {
            return self.create_all(scope, *org, writes.iter().filter_map(New::of).collect()).await;
        }
        let tx = self.connections.begin(scope.into(), "writing schedules").await?;
        let result = self.write_in(&tx, scope, writes).await;
        tx.finish(result).await
    }

    /// The same for what a newer tz database changes; nothing, if the node's own is not the newest any more.
    pub(super) async fn replan_all(
        &self,
        fence: Fence,
        writes: &[ScheduleWrite],
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        let tx = self.connections.begin_aside("planning again").await?;
        let result = async {
            tx.row(sql!("node_lives"), &[&fence.0]).await?.ok_or(Error::LeaseLost)?;
            match has_newest_rules(&tx, fence).await? {
                true => self.write_in(&tx, &Scope::Engine, writes).await.map(Some),
                false => Ok(None),
            }
        };
        let result = result.await;
        tx.finish(result).await
    }

    async fn write_in(
        &self,
        tx: &Tx,
        scope: &Scope,
        writes: &[ScheduleWrite],
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        let is_new = |write: &ScheduleWrite| matches!(write.write, Write::Create { .. });
        let mut results = Vec::with_capacity(writes.len());
        // What makes schedules says so itself.
        let mut is_said = true;
        for group in writes.chunk_by(|one, next| is_new(one) && is_new(next)) {
            for part in group.chunks(BATCH_MAX) {
                let new: Vec<New<'_>> = part.iter().filter_map(New::of).collect();
                if new.is_empty() {
                    is_said = false;
                    for write in part {
                        results.push(self.alter(tx, scope, write).await?);
                    }
                } else {
                    results.extend(self.create(tx, scope, new).await?);
                }
            }
        }
        if !is_said {
            self.notify(tx).await?;
        }
        Ok(results)
    }

    pub(super) async fn find_schedule(
        &self,
        scope: &Scope,
        selector: &Selector,
    ) -> Result<Option<ScheduleRow>, Error> {
        let tx = self.connections.begin(scope.into(), "looking for the schedule").await?;
        let result = async {
            let rows = match selector {
                Selector::Id(id) => tx.rows(sql!("find_by_id"), &[&id.to_string()]).await?,
                Selector::IdPrefix(prefix) => {
                    let pattern = format!("{}%", prefix.replace(['%', '_', '\\'], "?").to_lowercase());
                    tx.rows(sql!("find_by_prefix"), &[&pattern]).await?
                }
                Selector::Name(name) => tx.rows(sql!("find_by_name"), &[name]).await?,
            };
            if let (Selector::IdPrefix(prefix), true) = (selector, rows.len() > 1) {
                return Err(Error::Ambiguous { prefix: prefix.clone() });
            }
            self.read_schedules(&tx, &rows).await
        };
        let result = result.await;
        Ok(tx.over(result).await?.into_iter().next())
    }

    /// Rows of `schedules` and their state, with definitions parsed.
    pub(super) async fn read_schedules(&self, tx: &Tx, rows: &[Row]) -> Result<Vec<ScheduleRow>, Error> {
        let mut sharing = HashSet::new();
        for row in rows {
            if is_sharing(col(row, 2)?) {
                sharing.insert(col::<i64>(row, 1)?);
            }
        }
        let shared = shared(tx, sharing).await?;
        let none = Shared::default();
        let mut schedules = Vec::with_capacity(rows.len());
        for row in rows {
            let (key, version): (i64, i64) = (col(row, 0)?, col(row, 26)?);
            let text: &str = col(row, 2)?;
            let shared = shared.get(&col::<i64>(row, 1)?).unwrap_or(&none);
            let (definition, invalid) = match decode(text, shared) {
                Ok(definition) => {
                    let definition = Arc::new(definition);
                    self.cache.put(ScheduleKey(key), &definition);
                    (definition, None)
                }
                Err(error) => (Arc::new(remains(text, version)), Some(error.to_string())),
            };
            schedules.push(read_schedule(row, definition, invalid)?);
        }
        Ok(schedules)
    }

    pub(super) async fn list_schedules(
        &self,
        scope: &Scope,
        filter: &ScheduleFilter,
        cut: &Cut,
    ) -> Result<Listed<ScheduleRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing schedules").await?;
        let (after_name, after_key) = after(cut);
        let like = |text: &String| {
            format!("%{}%", text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
        };
        let search = filter.search.as_ref().map(like);
        let tag = filter
            .tag
            .as_ref()
            .map(|tag| like(&serde_json::to_string(tag).expect("a string can always be written")));
        let limit = i64::from(cut.limit) + 1;
        let arguments: [&dyn Arg; 8] = [
            &after_name,
            &after_key,
            &search,
            &tag,
            &filter.status,
            &filter.user_id,
            &filter.declared_set,
            &limit,
        ];
        let result = async {
            let statement = if filter.with_deleted {
                sql!("list_schedules_with_deleted")
            } else {
                sql!("list_schedules")
            };
            let rows = tx.rows(statement, &arguments).await?;
            self.read_schedules(&tx, &rows).await
        };
        let result = result.await;
        let rows = tx.over(result).await?;
        Ok(listed(rows, cut, |row| format!("{} {}", row.key.0, row.definition.name)))
    }

    pub(super) async fn list_names(&self, scope: &Scope, cut: &Cut) -> Result<Listed<NameRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing names").await?;
        let (after_name, after_key) = after(cut);
        let limit = i64::from(cut.limit) + 1;
        let result = tx.rows(sql!("list_names"), &[&after_name, &after_key, &limit]).await;
        let rows = tx.over(result).await?;
        let rows: Vec<NameRow> = rows.iter().map(read_name).collect::<Result<_, _>>()?;
        Ok(listed(rows, cut, |row| format!("{} {}", row.key.0, row.name)))
    }

    pub(super) async fn list_open(
        &self,
        scope: &Scope,
        schedule: ScheduleKey,
    ) -> Result<Vec<OpenRow>, Error> {
        let tx = self.connections.begin(scope.into(), "reading open rows").await?;
        let result = async {
            let rows = tx.rows(sql!("open_rows"), &[&schedule.0, &super::ledger::OPEN.to_vec()]).await?;
            self.read_runs(&tx, &rows).await
        };
        let result = result.await;
        let rows = tx.over(result).await?;
        let open = rows.into_iter().map(|row| OpenRow {
            open: Open {
                run: row.run.key,
                scheduled_for: row.run.scheduled_for,
                kind: match row.run.attempts.is_empty() && row.run.state.status() != RunStatus::Retrying {
                    true => OpenKind::Unlaunched,
                    false => OpenKind::Retrying,
                },
            },
            run: row.run,
        });
        Ok(open.collect())
    }

    pub(super) async fn list_versions(
        &self,
        scope: &Scope,
        id: ScheduleId,
    ) -> Result<Vec<VersionRow>, Error> {
        let tx = self.connections.begin(scope.into(), "reading versions").await?;
        let result = self.versions_in(&tx, id).await;
        tx.over(result).await
    }

    async fn versions_in(&self, tx: &Tx, id: ScheduleId) -> Result<Vec<VersionRow>, Error> {
        let rows = tx.rows(sql!("list_versions"), &[&id.to_string()]).await?;
        let orgs = rows.iter().map(|row| col::<i64>(row, 0)).collect::<Result<HashSet<_>, _>>()?;
        let shared = shared(tx, orgs).await?;
        let none = Shared::default();
        let version = |row: &Row| {
            let (number, text): (i64, &str) = (col(row, 1)?, col(row, 4)?);
            let shared = shared.get(&col::<i64>(row, 0)?).unwrap_or(&none);
            let definition = decode(text, shared).unwrap_or_else(|_| remains(text, number));
            Ok(VersionRow {
                schedule: id,
                version: number,
                since: from_micros(col(row, 2)?)?,
                by: col(row, 3)?,
                definition: Arc::new(definition),
            })
        };
        rows.iter().map(version).collect()
    }

    pub(super) async fn list_users(
        &self,
        scope: &Scope,
        kind: UseKind,
        name: &str,
    ) -> Result<Vec<ScheduleKey>, Error> {
        let kind = kind.name();
        let tx = self.connections.begin(scope.into(), "looking for users of a shared thing").await?;
        let rows = tx.rows(sql!("users_of"), &[&kind, &name]).await;
        let rows = tx.over(rows).await?;
        rows.iter().map(|row| Ok(ScheduleKey(col(row, 0)?))).collect()
    }
}

/// Makes a page of one row more than was asked for.
pub(super) fn listed<T>(mut rows: Vec<T>, cut: &Cut, place: impl Fn(&T) -> String) -> Listed<T> {
    let limit = cut.limit as usize;
    let is_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| is_more).map(place);
    Listed { rows, next }
}

/// The key of an org, made if it is new.
pub(super) async fn make_org(tx: &Tx, id: &str) -> Result<OrgKey, Error> {
    if id.is_empty() {
        return Err(Error::Forbidden { what: "have an empty name" });
    }
    if let Some(row) = tx.row(sql!("find_org"), &[&id]).await? {
        return Ok(OrgKey(col(&row, 0)?));
    }
    match tx.row(sql!("insert_org"), &[&id]).await? {
        Some(row) => Ok(OrgKey(col(&row, 0)?)),
        None => known_org(tx, id).await,
    }
}

async fn known_org(tx: &Tx, id: &str) -> Result<OrgKey, Error> {
    let row = tx.row(sql!("find_org"), &[&id]).await?;
    let row = row.ok_or_else(|| Error::NotFound { what: format!("of an org `{id}`") })?;
    Ok(OrgKey(col(&row, 0)?))
}

/// The name and key after which a page begins.
fn after(cut: &Cut) -> (Option<String>, Option<i64>) {
    let Some(after) = &cut.after else { return (None, None) };
    let (key, name) = after.split_once(' ').unwrap_or(("0", after));
    (Some(name.to_owned()), Some(key.parse::<i64>().unwrap_or_default()))
}

fn read_name(row: &Row) -> Result<NameRow, Error> {
    let id: &str = col(row, 1)?;
    Ok(NameRow {
        key: ScheduleKey(col(row, 0)?),
        id: id.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("the schedule id `{id}`")))?,
        name: col(row, 2)?,
        declared_set: col(row, 3)?,
        is_deleted: col(row, 4)?,
    })
}

fn read_schedule(
    row: &Row,
    definition: Arc<Schedule>,
    invalid: Option<String>,
) -> Result<ScheduleRow, Error> {
    let micros = |place| col::<Option<i64>>(row, place)?.map(from_micros).transpose();
    let seconds = |place| col::<Option<i64>>(row, place)?.map(from_seconds).transpose();
    let last_status: Option<&str> = col(row, 22)?;
    let last_finish = micros(21)?.zip(last_status.map(named::<RunStatus>).transpose()?);
    let failures = unsigned(col(row, 19)?);
    let state = State {
        status: read_status(col(row, 7)?, col(row, 8)?)?,
        cursor: Cursor {
            planned_through: from_micros(col(row, 11)?)?,
            decided_through: from_micros(col(row, 12)?)?,
        },
        counters: Counters {
            runs: unsigned(col(row, 16)?),
            successes: unsigned(col(row, 17)?),
            failures: unsigned(col(row, 18)?),
            consecutive_failures: u32::try_from(failures).unwrap_or(u32::MAX),
            admitted: unsigned(col(row, 15)?),
        },
        last_start: micros(20)?,
        last_finish,
        anchors: Anchors { start: micros(27)?, finish: micros(28)? },
    };
    let (armed, next_tick) = (seconds(25)?, seconds(13)?);
    Ok(ScheduleRow {
        key: ScheduleKey(col(row, 0)?),
        definition,
        invalid,
        state,
        left_at: micros(9)?,
        spent_at: micros(10)?,
        ticks_launched: usize::try_from(col::<i64>(row, 29)?).unwrap_or_default(),
        launched_through: seconds(14)?,
        created_at: from_micros(col(row, 4)?)?,
        updated_at: from_micros(col(row, 5)?)?,
        deleted_at: micros(6)?,
        declared_set: col(row, 3)?,
        next_run_at: armed.or(next_tick),
        next_tick,
        last_success: micros(23)?.zip(col::<Option<i64>>(row, 24)?.map(RunKey)),
    })
}
