//! The keys of orgs that were asked for before: an org is never removed and never gets another key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use punctual_plan::OrgKey;

use crate::Scope;

/// Orgs that are remembered; the others are asked for each time.
const REMEMBERED_MAX: usize = 10_000;

/// Orgs by their public names.
#[derive(Debug, Default)]
pub(crate) struct Orgs(Mutex<HashMap<String, OrgKey>>);

impl Orgs {
    /// The key of an org that the scope reaches, if it is remembered.
    pub(crate) fn find(&self, scope: &Scope, org_id: &str) -> Option<OrgKey> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(org_id).copied();
        known.filter(|known| match scope {
            Scope::Engine => true,
            Scope::Org { org, .. } => org == known,
        })
    }

    /// Remembers a key that is committed.
    pub(crate) fn keep(&self, org_id: String, org: OrgKey) {
        let mut orgs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if orgs.len() < REMEMBERED_MAX {
            orgs.insert(org_id, org);
        }
    }
}
