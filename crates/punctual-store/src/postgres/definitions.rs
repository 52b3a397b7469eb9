//! Definitions by schedule and version: from memory, or read and parsed once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use punctual_plan::{Schedule, ScheduleKey};

use super::connection::{Tx, col};
use super::{Postgres, sql};
use crate::cache::{Known, Stamp};
use crate::definition::{Shared, decode};
use crate::instant::from_micros;
use crate::{Document, DocumentKind, Error};

/// Definitions that were asked for, each readable or not.
pub(super) type Asked = HashMap<(ScheduleKey, i64), Result<Arc<Schedule>, Error>>;

impl Postgres {
    /// The definitions of these versions.
    pub(super) async fn definitions(&self, tx: &Tx, wanted: &[(ScheduleKey, i64)]) -> Result<Asked, Error> {
        let mut known = Asked::with_capacity(wanted.len());
        let mut missing = HashSet::new();
        let mut sharing = Vec::new();
        for (schedule, version) in wanted {
            let place = (*schedule, *version);
            match self.cache.find(*schedule, *version) {
                Some(Known { definition, shared: None }) => {
                    known.insert(place, Ok(definition));
                }
                Some(Known { definition, shared: Some(stamp) }) => sharing.push((place, definition, stamp)),
                None => {
                    missing.insert(place);
                }
            }
        }
        // What a definition refers to by name may be another one by now.
        let present = stamps(tx, sharing.iter().map(|(.., stamp)| stamp.org).collect()).await?;
        for (place, definition, stamp) in sharing {
            if present.get(&stamp.org) == Some(&stamp) {
                known.insert(place, Ok(definition));
            } else {
                missing.insert(place);
            }
        }
        if !missing.is_empty() {
            self.read_definitions(tx, missing, &mut known).await?;
        }
        Ok(known)
    }

    async fn read_definitions(
        &self,
        tx: &Tx,
        missing: HashSet<(ScheduleKey, i64)>,
        known: &mut Asked,
    ) -> Result<(), Error> {
        let (keys, versions): (Vec<i64>, Vec<i64>) =
            missing.iter().map(|(key, version)| (key.0, *version)).unzip();
        let rows = tx.rows(sql!("definitions"), &[&keys, &versions]).await?;
        let mut texts = Vec::with_capacity(rows.len());
        for row in &rows {
            texts.push((
                ScheduleKey(col(row, 0)?),
                col::<i64>(row, 1)?,
                col::<i64>(row, 2)?,
                col::<&str>(row, 3)?,
            ));
        }
        let orgs: HashSet<i64> =
            texts.iter().filter(|(.., text)| is_sharing(text)).map(|text| text.2).collect();
        // Asked first: what is written in between makes them others, and the definitions are read again.
        let stamps = stamps(tx, orgs.clone()).await?;
        let shared = shared(tx, orgs).await?;
        let none = Shared::default();
        for (schedule, version, org, text) in texts {
            let read = decode(text, shared.get(&org).unwrap_or(&none)).map(Arc::new);
            if let Ok(definition) = &read {
                let shared = stamps.get(&org).filter(|_| is_sharing(text)).cloned();
                self.cache.keep(schedule, Known { definition: Arc::clone(definition), shared });
            }
            known.insert((schedule, version), read.map_err(|error| Error::corrupt(error.to_string())));
        }
        for gone in missing {
            known
                .entry(gone)
                .or_insert_with(|| Err(Error::corrupt(format!("version {} of a schedule is gone", gone.1))));
        }
        Ok(())
    }
}

/// Whether a definition refers to things by name.
pub(super) fn is_sharing(text: &str) -> bool {
    text.contains("\"calendars\"") || text.contains("\"quiet_hours\"")
}

/// What marks the calendars and quiet hours of orgs as they are.
async fn stamps(tx: &Tx, orgs: HashSet<i64>) -> Result<HashMap<i64, Stamp>, Error> {
    if orgs.is_empty() {
        return Ok(HashMap::new());
    }
    let orgs: Vec<i64> = orgs.into_iter().collect();
    let rows = tx.rows(sql!("shared_stamps"), &[&orgs]).await?;
    let stamp = |row| Ok(Stamp { org: col(row, 0)?, text: col::<&str>(row, 1)?.into() });
    rows.iter().map(|row| stamp(row).map(|stamp| (stamp.org, stamp))).collect()
}

/// The calendars and quiet hours of orgs.
pub(super) async fn shared(tx: &Tx, orgs: HashSet<i64>) -> Result<HashMap<i64, Shared>, Error> {
    let mut all = HashMap::new();
    if orgs.is_empty() {
        return Ok(all);
    }
    let orgs: Vec<i64> = orgs.into_iter().collect();
    for kind in [DocumentKind::Calendar, DocumentKind::QuietHours] {
        let statement = sql!("documents_of_orgs").replace("{table}", kind.table());
        for row in tx.rows(&statement, &[&orgs]).await? {
            let document = Document {
                kind,
                name: col(&row, 1)?,
                version: col(&row, 2)?,
                body: col(&row, 3)?,
                updated_at: from_micros(col(&row, 4)?)?,
            };
            // One that cannot be read is as if it were gone: those who use it say so.
            all.entry(col::<i64>(&row, 0)?).or_insert_with(Shared::default).add(&document).ok();
        }
    }
    Ok(all)
}
