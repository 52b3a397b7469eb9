//! Diff: what stands between the schedules that somebody declares and those that are stored.
//!
//! [`diff`] compares by name; `field` is what a schedule looks like field by field, under its public names.

mod field;

use std::collections::{BTreeMap, BTreeSet};

use crate::{Schedule, ScheduleId};
use field::{Field, fields, is_same};

/// The schedules that somebody wants, as one set with a name.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// Marks what the set has made: only that is ever changed or removed by it.
    pub set: &'a str,
    /// What shall be.
    pub schedules: &'a [Schedule],
}

/// A stored schedule and the set that made it.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The set; none if a person or a program made it by itself.
    pub set: Option<&'a str>,
    /// The definition.
    pub schedule: &'a Schedule,
}

/// One name, and what stands between the declared and the stored schedule of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tenant.
    pub org_id: String,
    /// The schedule.
    pub name: String,
    /// What is different.
    pub drift: Drift,
}

/// What is different about a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// It is declared and not stored.
    Added,
    /// It was stored by the same set and is declared no more.
    Removed,
    /// Some of its fields are different.
    Changed(Vec<FieldDrift>),
    /// Nothing.
    Unchanged,
    /// It is declared, but somebody else made the stored one, which is left alone.
    Taken {
        /// The set that made it; none if a person or a program did by itself.
        by: Option<String>,
    },
}

/// A field that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDrift {
    /// Its public name.
    pub field: &'static str,
    /// What is stored; empty if nothing.
    pub stored: String,
    /// What is declared; empty if nothing.
    pub declared: String,
}

/// Compares a declared set with what is stored, in the order of the names.
///
/// When a schedule was made is no difference: a stored interval without `start_at` keeps its anchor. Schedules of other
/// sets are left out, unless the declaration wants their name.
///
/// ```
/// use punctual_plan::{Action, Declaration, Drift, Process, Schedule, ScheduleId, Stored, diff};
/// use punctual_time::{Cron, Timing, Zone};
///
/// let schedule = |spec: &str| {
///     let timing = Timing::new(spec.parse::<Cron>().expect("a spec"), Zone::utc());
///     Schedule::new(ScheduleId(uuid::Uuid::nil()), "backup", timing, Action::Process(Process::new(["backup"])))
/// };
/// let (declared, stored) = ([schedule("0 4 * * *")], schedule("0 3 * * *"));
/// let declaration = Declaration { set: "infra", schedules: &declared };
/// let found = diff(&declaration, &[Stored { set: Some("infra"), schedule: &stored }]);
/// let Drift::Changed(fields) = &found[0].drift else { panic!("{found:?}") };
/// assert_eq!((fields[0].field, &*fields[0].stored, &*fields[0].declared), ("spec", "0 3 * * *", "0 4 * * *"));
/// ```
pub fn diff(declared: &Declaration<'_>, stored: &[Stored<'_>]) -> Vec<Difference> {
    let wanted: BTreeMap<Key<'_>, &Schedule> = declared.schedules.iter().map(|one| (key(one), one)).collect();
    let kept: BTreeMap<Key<'_>, &Stored<'_>> = stored.iter().map(|one| (key(one.schedule), one)).collect();
    let comparison = Comparison {
        set: declared.set,
        declared: names(declared.schedules.iter()),
        stored: names(stored.iter().map(|one| one.schedule)),
    };
    let keys: BTreeSet<&Key<'_>> = wanted.keys().chain(kept.keys()).collect();
    let mut differences = Vec::new();
    for key in keys {
        let drift = comparison.drift(wanted.get(key).copied(), kept.get(key).copied());
        let told = |drift| Difference { org_id: key.0.to_owned(), name: key.1.to_owned(), drift };
        differences.extend(drift.map(told));
    }
    differences
}

/// The same name by name, for whoever does not hold all stored schedules at once.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The set that is declared.
    pub set: &'a str,
    /// What it calls its schedules.
    pub declared: BTreeMap<ScheduleId, &'a str>,
    /// What the stored ones are called.
    pub stored: BTreeMap<ScheduleId, &'a str>,
}

impl Comparison<'_> {
    /// What stands between the declared and the stored schedule of one name; nothing if that is no matter of the set.
    pub fn drift(&self, wanted: Option<&Schedule>, kept: Option<&Stored<'_>>) -> Option<Drift> {
        let is_own = |one: &Stored<'_>| one.set == Some(self.set);
        Some(match (wanted, kept) {
            (Some(_), None) => Drift::Added,
            (Some(want), Some(have)) if is_own(have) => match is_same(want, have.schedule) {
                true => Drift::Unchanged,
                false => compare(&fields(have.schedule, &self.stored), &fields(want, &self.declared)),
            },
            (Some(_), Some(have)) => Drift::Taken { by: have.set.map(str::to_owned) },
            (None, Some(have)) if is_own(have) => Drift::Removed,
            (None, _) => return None,
        })
    }
}

/// A schedule is known by its org and its name.
type Key<'a> = (&'a str, &'a str);

fn key(schedule: &Schedule) -> Key<'_> {
    (&schedule.owner.org_id, &schedule.name)
}

/// What a set calls its schedules: an id that is not in it is shown as such.
fn names<'a>(schedules: impl Iterator<Item = &'a Schedule>) -> BTreeMap<ScheduleId, &'a str> {
    schedules.map(|schedule| (schedule.id, schedule.name.as_str())).collect()
}

fn compare(stored: &[Field], declared: &[Field]) -> Drift {
    let value = |fields: &[Field], name: &str| {
        fields.iter().find(|field| field.name == name).map(|field| field.text.clone()).unwrap_or_default()
    };
    let declared_only = declared.iter().filter(|field| stored.iter().all(|other| other.name != field.name));
    let changed: Vec<FieldDrift> = stored
        .iter()
        .chain(declared_only)
        .map(|field| FieldDrift {
            field: field.name,
            stored: value(stored, field.name),
            declared: value(declared, field.name),
        })
        .filter(|drift| drift.stored != drift.declared)
        .collect();
    if changed.is_empty() { Drift::Unchanged } else { Drift::Changed(changed) }
}
