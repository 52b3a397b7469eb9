//! On whose behalf the program is used: the org and the person that the environment names.

use punctual_plan::Owner;
use punctual_store::{AnyStore, Scope, Store};

use crate::Failure;

/// The org and the person: `PUNCTUAL_ORG_ID` and `PUNCTUAL_USER_ID`, else the default org and nobody in particular.
pub fn owner_of_environment() -> Owner {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    Owner {
        org_id: set("PUNCTUAL_ORG_ID").unwrap_or_else(|| Owner::default().org_id),
        user_id: set("PUNCTUAL_USER_ID"),
    }
}

/// What an owner may see and change.
///
/// # Errors
/// When the database fails.
pub async fn scope_of(store: &AnyStore, owner: &Owner) -> Result<Scope, Failure> {
    let org = store.org(Scope::Engine, owner.org_id.clone()).await?;
    Ok(Scope::Org { org, user: owner.user_id.clone() })
}
