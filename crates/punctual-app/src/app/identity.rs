//! Who acts: the tenant, and the person or agent in it.

use punctual_plan::Owner;
use punctual_store::{AnyStore, Scope, Store};

use crate::{Failure, name};

/// On whose behalf schedules are made and changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The tenant.
    pub org_id: String,
    /// The person or agent in it, if they say so.
    pub user_id: Option<String>,
}

impl Identity {
    /// The org of `PUNCTUAL_ORG_ID` (`default` without it) and the user of `PUNCTUAL_USER_ID`.
    ///
    /// # Errors
    /// When the org cannot be a name.
    pub fn from_env() -> Result<Self, Failure> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let usual = Owner::default();
        let org_id = set("PUNCTUAL_ORG_ID").unwrap_or(usual.org_id);
        if let Some(problem) = name::org_problem(&org_id) {
            return Err(Failure::invalid(format!("`PUNCTUAL_ORG_ID`: {problem}"), name::ORG_HINT));
        }
        Ok(Self { org_id, user_id: set("PUNCTUAL_USER_ID") })
    }

    /// The owner of what they make.
    pub fn owner(&self) -> Owner {
        Owner { org_id: self.org_id.clone(), user_id: self.user_id.clone() }
    }

    /// What they may see and change. The org is made when it is first used.
    ///
    /// # Errors
    /// When the org cannot be a tenant, or the database fails.
    pub async fn scope(&self, store: &AnyStore) -> Result<Scope, Failure> {
        if let Some(problem) = name::org_problem(&self.org_id) {
            return Err(Failure::invalid(problem, name::ORG_HINT));
        }
        let org = store.org(Scope::Engine, self.org_id.clone()).await?;
        Ok(Scope::Org { org, user: self.user_id.clone() })
    }

    /// Who is said to have done something.
    pub fn actor(&self) -> &str {
        self.user_id.as_deref().unwrap_or("the command line")
    }
}

impl Default for Identity {
    fn default() -> Self {
        let Owner { org_id, user_id } = Owner::default();
        Self { org_id, user_id }
    }
}
