//! What schedules refer to: definitions that can be read, schedules they follow, secrets, programs.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use punctual_plan::{Action, ScheduleId, Status, When};
use punctual_store::{DocumentKind, ScheduleRow, Selector, Store, encode};

use super::Check;
use crate::Failure;
use crate::app::{App, Listing};

/// Names that a sentence holds.
const NAMED_MAX: usize = 5;

impl App {
    /// Definitions that cannot be used any more: a calendar, quiet hours, a zone or a policy is gone.
    pub(super) async fn check_definitions(&self) -> Result<Check, Failure> {
        const NAME: &str = "definitions";
        let mut broken = Vec::new();
        for row in self.list(&Listing::default()).await? {
            let error = row.invalid.clone().or(match &row.state.status {
                Status::PausedInvalid { error } => Some(error.clone()),
                _ => None,
            });
            broken.extend(error.map(|error| format!("`{}`: {error}", row.definition.name)));
        }
        Ok(match broken.is_empty() {
            true => Check::ok(NAME, "every schedule can be read: zones, calendars, quiet hours and all"),
            false => Check::fail(
                NAME,
                format!("{} cannot be used: {}", counted(broken.len()), some(&broken)),
                "put back what they refer to, or change them with `punctual schedule update`",
            ),
        })
    }

    /// What schedules refer to by name.
    pub(super) async fn check_references(&self) -> Result<Vec<Check>, Failure> {
        let rows = self.list(&Listing::default()).await?;
        let (mut upstream, mut secrets, mut programs) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let name = &row.definition.name;
            for id in upstream_of(row) {
                let found = self.store.schedule(self.scope.clone(), Selector::Id(id)).await?;
                if found.is_none_or(|found| found.deleted_at.is_some()) {
                    upstream.push(format!("`{name}` on {id}"));
                }
            }
            for secret in secrets_of(row) {
                let found =
                    self.store.document(self.scope.clone(), DocumentKind::Secret, secret.clone()).await?;
                if found.is_none() {
                    secrets.push(format!("`{name}` on `{secret}`"));
                }
            }
            programs.extend(missing_program(row).map(|program| format!("`{name}` on `{program}`")));
        }
        Ok(vec![dependencies(&upstream), known_secrets(&secrets), known_programs(&programs)])
    }
}

fn dependencies(missing: &[String]) -> Check {
    const NAME: &str = "dependencies";
    match missing.is_empty() {
        true => Check::ok(NAME, "every schedule that others follow or depend on is there"),
        false => Check::fail(
            NAME,
            format!("these depend on schedules that are gone: {}", some(missing)),
            "change what they depend on, or make those schedules again",
        ),
    }
}

fn known_secrets(missing: &[String]) -> Check {
    const NAME: &str = "secrets";
    match missing.is_empty() {
        true => Check::ok(NAME, "every secret that is referred to is there"),
        false => Check::fail(
            NAME,
            format!("these refer to secrets that are not there: {}", some(missing)),
            "put them with `punctual secret put NAME`",
        ),
    }
}

fn known_programs(missing: &[String]) -> Check {
    const NAME: &str = "programs";
    match missing.is_empty() {
        true => Check::ok(NAME, "every program is found from here"),
        false => Check::fail(
            NAME,
            format!("these run programs that are not found from here: {}", some(missing)),
            "write the whole path, or start the server with the right `PATH`",
        ),
    }
}

fn counted(count: usize) -> String {
    format!("{count} schedule{}", if count == 1 { "" } else { "s" })
}

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    let mut said = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED_MAX {
        said += &format!(" and {} more", names.len() - NAMED_MAX);
    }
    said
}

fn upstream_of(row: &ScheduleRow) -> Vec<ScheduleId> {
    match &row.definition.when {
        _ if row.invalid.is_some() => Vec::new(),
        When::Chain(chain) => vec![chain.upstream],
        When::Ticks(_) => {
            row.definition.policy.depends_on.iter().flat_map(|one| one.on.iter().copied()).collect()
        }
    }
}

/// The secrets that a definition names: the one that signs, and references in its values.
fn secrets_of(row: &ScheduleRow) -> BTreeSet<String> {
    const OPEN: &str = "${secret:";
    let signing = match &row.definition.target.action {
        Action::Webhook(webhook) => webhook.secrets.clone(),
        _ => Vec::new(),
    };
    let signing = signing.into_iter().filter(|secret| !secret.contains("${"));
    let text = encode(&row.definition);
    let named = text.match_indices(OPEN).filter(|(place, _)| !text[..*place].ends_with('$'));
    let named = named.filter_map(|(place, _)| {
        let rest = &text[place + OPEN.len()..];
        rest.find('}').map(|end| rest[..end].to_owned())
    });
    named.chain(signing).collect()
}

/// The program of a schedule, if it cannot be started from here.
fn missing_program(row: &ScheduleRow) -> Option<String> {
    let Action::Process(process) = &row.definition.target.action else { return None };
    let program = process.argv.first()?;
    let is_there = match program.contains('/') {
        true => is_program(
            &process.cwd.as_ref().map_or_else(|| Path::new("").to_owned(), Into::into).join(program),
        ),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
        }
    };
    (!is_there).then(|| program.clone())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
