//! The audit log: listed, sealed into a chain of hashes per org, and checked against it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{OrgKey, RunKey, ScheduleId};
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::plan::unsigned;
use super::schedules::listed;
use super::{Postgres, sql};
use crate::instant::from_micros;
use crate::stored::Sealing;
use crate::{Actor, AuditFilter, AuditRow, BATCH_MAX, Chain, Cut, Error, Listed, Scope, SealedThrough};

/// Whoever seals holds this for the length of its transaction.
const SEALER: i64 = 0x7075_6e63_7365_616c;

/// Numbers are given before a commit: an event may appear behind this many that were sealed already. It is sealed
/// after them then; the chain's order is that of its positions.
const OVERLAP: i64 = 10_000;

impl Postgres {
    pub(super) async fn list_audit(
        &self,
        scope: &Scope,
        filter: &AuditFilter,
        cut: &Cut,
    ) -> Result<Listed<AuditRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing audit events").await?;
        let after: Option<i64> = cut.after.as_deref().and_then(|after| after.parse().ok());
        let schedule = filter.schedule.map(|id| id.to_string());
        let run = filter.run.map(|run| run.0);
        let escape = |kind: &String| {
            format!("{}%", kind.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
        };
        let kind = filter.kind.as_ref().map(escape);
        let (since, until) =
            (filter.since.map(Timestamp::as_microsecond), filter.until.map(Timestamp::as_microsecond));
        let limit = i64::from(cut.limit) + 1;
        let arguments: [&dyn Arg; 7] = [&after, &schedule, &run, &kind, &since, &until, &limit];
        let rows = tx.rows(sql!("list_audit"), &arguments).await;
        let rows = tx.over(rows).await?.iter().map(read_event).collect::<Result<Vec<_>, _>>()?;
        Ok(listed(rows, cut, |row| row.seq.to_string()))
    }

    pub(super) async fn seal_events(&self, limit: usize) -> Result<Vec<SealedThrough>, Error> {
        let tx = self.connections.begin(Role::Hot, "sealing audit events").await?;
        let result = seal_in(&tx, i64::try_from(limit).unwrap_or(i64::MAX)).await;
        tx.finish(result).await
    }

    pub(super) async fn check_chain(&self, scope: &Scope) -> Result<Chain, Error> {
        let tx = self.connections.begin(Role::Engine, "checking the audit log").await?;
        let result = async {
            let orgs = match scope {
                Scope::Org { org, .. } => vec![org.0],
                Scope::Engine => {
                    let rows = tx.rows(sql!("list_orgs"), &[]).await?;
                    rows.iter().map(|row| col(row, 0)).collect::<Result<_, _>>()?
                }
            };
            let mut whole = Chain { checked: 0, unsealed: 0, broken: None };
            for org in orgs {
                let chain = verify(&tx, org).await?;
                whole.checked += chain.checked;
                whole.unsealed += chain.unsealed;
                whole.broken = whole.broken.or(chain.broken);
            }
            Ok(whole)
        };
        let result = result.await;
        tx.finish(result).await
    }
}

fn read_event(row: &Row) -> Result<AuditRow, Error> {
    let schedule: Option<&str> = col(row, 4)?;
    let parse = |id: &str| id.parse().map(ScheduleId).map_err(|_| Error::corrupt(format!("`{id}` is no id")));
    let position: Option<i64> = col(row, 7)?;
    Ok(AuditRow {
        seq: col(row, 0)?,
        at: from_micros(col(row, 1)?)?,
        actor: col::<Option<String>>(row, 2)?.map_or(Actor::Engine, Actor::User),
        kind: col(row, 3)?,
        schedule: schedule.map(parse).transpose()?,
        run: col::<Option<i64>>(row, 5)?.map(RunKey),
        detail: col(row, 6)?,
        sealed: position.zip(col::<Option<String>>(row, 8)?),
    })
}

/// Reads seq, org, at, actor, kind, schedule, run, detail.
fn read_line(row: &Row) -> Result<Sealing<'_>, Error> {
    Ok(Sealing {
        seq: col(row, 0)?,
        org: col(row, 1)?,
        at: col(row, 2)?,
        actor: col(row, 3)?,
        kind: col(row, 4)?,
        schedule: col(row, 5)?,
        run: col(row, 6)?,
        detail: col(row, 7)?,
    })
}

async fn seal_in(tx: &Tx, limit: i64) -> Result<Vec<SealedThrough>, Error> {
    tx.rows(sql!("lock_migrations"), &[&SEALER]).await?;
    let overlap = if holds(Rule::LateIsSealed) { OVERLAP } else { 0 };
    let rows = tx.rows(sql!("unsealed_events"), &[&limit, &overlap]).await?;
    let mut ends: BTreeMap<i64, (i64, String)> = BTreeMap::new();
    let (mut org, mut position, mut seq, mut hash) = (vec![], vec![], vec![], vec![]);
    for row in &rows {
        let line = read_line(row)?;
        let (at, before) = match ends.entry(line.org) {
            Entry::Occupied(end) => end.into_mut(),
            Entry::Vacant(place) => {
                let last = tx.row(sql!("last_seal"), &[&line.org]).await?;
                let last = last.map(|row| Ok::<_, Error>((col(&row, 0)?, col(&row, 1)?))).transpose()?;
                place.insert(last.unwrap_or((0, String::new())))
            }
        };
        *at += 1;
        *before = line.hash(before);
        org.push(line.org);
        position.push(*at);
        seq.push(line.seq);
        hash.push(before.clone());
    }
    if !org.is_empty() {
        tx.run(sql!("insert_seals"), &[&org, &position, &seq, &hash]).await?;
    }
    let rows = tx.rows(sql!("sealed_through"), &[]).await?;
    let read = |row: &Row| {
        Ok(SealedThrough {
            org: OrgKey(col(row, 0)?),
            position: col(row, 1)?,
            unsealed: unsigned(col(row, 2)?),
        })
    };
    rows.iter().map(read).collect()
}

/// Recomputes an org's chain.
async fn verify(tx: &Tx, org: i64) -> Result<Chain, Error> {
    let retained = tx.row(sql!("retained_through"), &[]).await?;
    let retained: i64 = retained.map(|row| col(&row, 0)).transpose()?.unwrap_or_default();
    let mut chain = Chain { checked: 0, unsealed: 0, broken: None };
    let (mut position, mut before) = (0_i64, String::new());
    loop {
        let rows = tx.rows(sql!("sealed_events"), &[&org, &position, &(BATCH_MAX as i64)]).await?;
        for row in &rows {
            let (at, sealed_seq, hash): (i64, i64, &str) = (col(row, 8)?, col(row, 9)?, col(row, 10)?);
            let what = if at != position + 1 {
                Some("a seal is missing before it")
            } else if col::<Option<i64>>(row, 0)?.is_none() {
                (sealed_seq > retained).then_some("it is gone")
            } else {
                (read_line(row)?.hash(&before) != hash).then_some("it does not fit its seal")
            };
            // What retention removed is vouched for by the seals around it.
            chain.checked += u64::from(col::<Option<i64>>(row, 0)?.is_some());
            if let Some(what) = what {
                chain.broken = Some((sealed_seq, what.to_owned()));
                return Ok(chain);
            }
            position = at;
            hash.clone_into(&mut before);
        }
        if rows.len() < BATCH_MAX {
            break;
        }
    }
    let unsealed = tx.row(sql!("count_unsealed"), &[&org]).await?;
    chain.unsealed = unsealed.map(|row| col(&row, 0)).transpose()?.map(unsigned).unwrap_or_default();
    Ok(chain)
}
