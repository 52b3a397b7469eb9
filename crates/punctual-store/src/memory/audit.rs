//! The audit log and its chain of seals.

use std::collections::BTreeMap;

use punctual_plan::OrgKey;
use punctual_plan::rule::{Rule, holds};

use super::data::Data;
use super::table::{EventRecord, SealRecord};
use crate::stored::Sealing;
use crate::{Actor, AuditFilter, AuditRow, Chain, Cut, Error, Listed, Scope, SealedThrough};

impl EventRecord {
    fn sealable(&self, seq: i64) -> Sealing<'_> {
        Sealing {
            seq,
            org: self.org.0,
            at: self.at.as_microsecond(),
            actor: self.actor.as_deref(),
            kind: &self.kind,
            schedule: self.schedule.map(|schedule| schedule.0),
            run: self.run.map(|run| run.0),
            detail: &self.detail,
        }
    }
}

impl Data {
    pub(super) fn audit_list(
        &self,
        scope: &Scope,
        filter: &AuditFilter,
        cut: &Cut,
    ) -> Result<Listed<AuditRow>, Error> {
        let before = match &cut.after {
            Some(after) => {
                after.parse().map_err(|_| Error::corrupt(format!("`{after}` is no place in a list")))?
            }
            None => i64::MAX,
        };
        let schedule = filter.schedule.map(|id| self.by_id(scope, id));
        let is_wanted = |event: &EventRecord| {
            scope.covers(event.org)
                && schedule.is_none_or(|wanted| wanted.is_some() && wanted == event.schedule)
                && (filter.run.is_none() || filter.run == event.run)
                && filter.kind.as_ref().is_none_or(|kind| event.kind.starts_with(kind))
                && filter.since.is_none_or(|since| event.at >= since)
                && filter.until.is_none_or(|until| event.at <= until)
        };
        let found = self.events.range(..before).rev().filter(|(_, event)| is_wanted(event));
        let mut found: Vec<(&i64, &EventRecord)> = found.take(cut.limit as usize + 1).collect();
        let is_more = found.len() > cut.limit as usize;
        found.truncate(cut.limit as usize);
        let next = found.last().filter(|_| is_more).map(|(seq, _)| seq.to_string());
        Ok(Listed { rows: found.into_iter().map(|(seq, event)| self.audit_row(*seq, event)).collect(), next })
    }

    fn audit_row(&self, seq: i64, event: &EventRecord) -> AuditRow {
        let position = self.sealed_seqs.get(&seq).copied();
        let seal = position.and_then(|position| Some((position, self.seals.get(&(event.org, position))?)));
        AuditRow {
            seq,
            at: event.at,
            actor: event.actor.clone().map_or(Actor::Engine, Actor::User),
            kind: event.kind.clone(),
            schedule: event.schedule.and_then(|key| self.schedules.get(&key)).map(|schedule| schedule.id),
            run: event.run,
            detail: event.detail.clone(),
            sealed: seal.map(|(position, seal)| (position, seal.hash.clone())),
        }
    }

    fn last_seal(&self, org: OrgKey) -> (i64, i64, String) {
        let last = self.seals.range((org, i64::MIN)..=(org, i64::MAX)).next_back();
        last.map_or((0, 0, String::new()), |((_, position), seal)| (*position, seal.seq, seal.hash.clone()))
    }

    pub(super) fn seal_audit(&mut self, limit: usize) -> Vec<SealedThrough> {
        let mut heads: BTreeMap<OrgKey, (i64, i64, String)> =
            self.orgs.keys().map(|org| (*org, self.last_seal(*org))).collect();
        let first = self.sealed_through;
        let (mut sealed, mut unsealed): (usize, BTreeMap<OrgKey, u64>) = (0, BTreeMap::new());
        let mut seals = Vec::new();
        for (seq, event) in self.events.range(first + 1..) {
            let head = heads.entry(event.org).or_default();
            if *seq <= head.1 {
                continue;
            }
            if sealed >= limit {
                *unsealed.entry(event.org).or_default() += 1;
                continue;
            }
            sealed += 1;
            self.sealed_through = *seq;
            let before = if holds(Rule::SealInOrder) { head.2.as_str() } else { "" };
            let hash = event.sealable(*seq).hash(before);
            *head = (head.0 + 1, *seq, hash.clone());
            seals.push(((event.org, head.0), SealRecord { seq: *seq, hash }));
        }
        for (place, seal) in seals {
            self.sealed_seqs.insert(seal.seq, place.1);
            self.seals.insert(place, seal);
        }
        let through = |(org, (position, ..)): (OrgKey, (i64, i64, String))| SealedThrough {
            org,
            position,
            unsealed: unsealed.get(&org).copied().unwrap_or_default(),
        };
        heads.into_iter().map(through).collect()
    }

    /// Recomputes the chains that the scope reaches.
    pub(super) fn verify_audit(&self, scope: &Scope) -> Chain {
        let mut chain = Chain { checked: 0, unsealed: 0, broken: None };
        for org in self.orgs.keys().filter(|org| scope.covers(**org)) {
            self.verify_org(*org, &mut chain);
        }
        chain
    }

    pub(super) fn verify_org(&self, org: OrgKey, chain: &mut Chain) {
        let (mut previous, mut expected) = (String::new(), None);
        for ((_, position), seal) in self.seals.range((org, i64::MIN)..=(org, i64::MAX)) {
            let broken = |what: &str| Some((seal.seq, what.to_owned()));
            if expected.is_some_and(|expected| expected != *position) && chain.broken.is_none() {
                chain.broken = broken("the seal before it is missing");
            }
            expected = Some(position + 1);
            match self.events.get(&seal.seq) {
                Some(event) => {
                    chain.checked += 1;
                    let is_whole = event.org == org && event.sealable(seal.seq).hash(&previous) == seal.hash;
                    if !is_whole && chain.broken.is_none() {
                        chain.broken = broken("it is not what was sealed");
                    }
                }
                // Retention removes the oldest events and leaves their seals.
                None if seal.seq <= self.retained_through => {}
                None if chain.broken.is_none() => chain.broken = broken("it is missing"),
                None => {}
            }
            previous.clone_from(&seal.hash);
        }
        let (_, last, _) = self.last_seal(org);
        let unsealed: Vec<i64> = self
            .events
            .range(i64::MIN..)
            .filter(|(seq, event)| event.org == org && !self.sealed_seqs.contains_key(seq))
            .map(|(seq, _)| *seq)
            .collect();
        if let Some(foreign) = unsealed.iter().find(|seq| **seq < last).filter(|_| chain.broken.is_none()) {
            chain.broken = Some((*foreign, "it stands between sealed events and has no seal".to_owned()));
        }
        chain.unsealed += if holds(Rule::TailIsNamed) { unsealed.len() as u64 } else { 0 };
    }
}
