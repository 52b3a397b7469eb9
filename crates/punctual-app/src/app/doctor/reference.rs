//! What schedules refer to: definitions that can be read, schedules they follow, secrets, programs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use punctual_plan::{Action, ScheduleId, Status, When};
use punctual_store::{DocumentKind, ScheduleRow, Store, encode};

use super::Check;
use crate::Failure;
use crate::app::{App, Listing};

/// Names that a sentence holds.
const NAMED_MAX: usize = 5;

/// What is wrong with schedules, gathered in one walk through all of them.
#[derive(Default)]
struct Wrong {
    definitions: Few,
    upstream: Few,
    secrets: Few,
    programs: Few,
    /// What was looked up before, so that a thousand schedules with one program cost one look.
    known_secrets: HashMap<String, bool>,
    known_programs: HashMap<PathBuf, bool>,
}

/// The first of many, and how many there are.
#[derive(Default)]
struct Few {
    named: Vec<String>,
    count: usize,
}

impl Few {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(what());
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Display for Few {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named.join(", "))?;
        match self.count - self.named.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl App {
    /// Definitions that cannot be used any more (a calendar, quiet hours, a zone or a policy is gone), and what
    /// schedules refer to by name.
    pub(super) async fn check_references(&self) -> Result<Vec<Check>, Failure> {
        let living: HashSet<ScheduleId> =
            self.names().await?.iter().filter(|row| !row.is_deleted).map(|row| row.id).collect();
        let mut wrong = Wrong::default();
        let mut pages = self.pages(&Listing::default());
        while let Some(rows) = pages.next().await? {
            for row in &rows {
                self.look_at(row, &living, &mut wrong).await?;
            }
        }
        let Wrong { definitions, upstream, secrets, programs, .. } = wrong;
        Ok(vec![
            usable(&definitions),
            dependencies(&upstream),
            known_secrets(&secrets),
            known_programs(&programs),
        ])
    }

    async fn look_at(
        &self,
        row: &ScheduleRow,
        living: &HashSet<ScheduleId>,
        wrong: &mut Wrong,
    ) -> Result<(), Failure> {
        let name = &row.definition.name;
        let error = match &row.state.status {
            Status::PausedInvalid { error } => row.invalid.as_ref().or(Some(error)),
            _ => row.invalid.as_ref(),
        };
        if let Some(error) = error {
            wrong.definitions.add(|| format!("`{name}`: {error}"));
        }
        for id in upstream_of(row).into_iter().filter(|id| !living.contains(id)) {
            wrong.upstream.add(|| format!("`{name}` on {id}"));
        }
        for secret in secrets_of(row) {
            let is_known = match wrong.known_secrets.get(&secret) {
                Some(is_known) => *is_known,
                None => {
                    let found = self.store.document(self.scope.clone(), DocumentKind::Secret, secret.clone());
                    let is_known = found.await?.is_some();
                    wrong.known_secrets.insert(secret.clone(), is_known);
                    is_known
                }
            };
            if !is_known {
                wrong.secrets.add(|| format!("`{name}` on `{secret}`"));
            }
        }
        if let Some(program) = missing_program(row, &mut wrong.known_programs) {
            wrong.programs.add(|| format!("`{name}` on `{program}`"));
        }
        Ok(())
    }
}

fn usable(broken: &Few) -> Check {
    const NAME: &str = "definitions";
    match broken.is_empty() {
        true => Check::ok(NAME, "every schedule can be read: zones, calendars, quiet hours and all"),
        false => Check::fail(
            NAME,
            format!("{} cannot be used: {broken}", counted(broken.count)),
            "put back what they refer to, or change them with `punctual schedule update`",
        ),
    }
}

fn dependencies(missing: &Few) -> Check {
    const NAME: &str = "dependencies";
    match missing.is_empty() {
        true => Check::ok(NAME, "every schedule that others follow or depend on is there"),
        false => Check::fail(
            NAME,
            format!("these depend on schedules that are gone: {missing}"),
            "change what they depend on, or make those schedules again",
        ),
    }
}

fn known_secrets(missing: &Few) -> Check {
    const NAME: &str = "secrets";
    match missing.is_empty() {
        true => Check::ok(NAME, "every secret that is referred to is there"),
        false => Check::fail(
            NAME,
            format!("these refer to secrets that are not there: {missing}"),
            "put them with `punctual secret put NAME`",
        ),
    }
}

fn known_programs(missing: &Few) -> Check {
    const NAME: &str = "programs";
    match missing.is_empty() {
        true => Check::ok(NAME, "every program is found from here"),
        false => Check::fail(
            NAME,
            format!("these run programs that are not found from here: {missing}"),
            "write the whole path, or start the server with the right `PATH`",
        ),
    }
}

fn counted(count: usize) -> String {
    format!("{count} schedule{}", if count == 1 { "" } else { "s" })
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
fn missing_program(row: &ScheduleRow, known: &mut HashMap<PathBuf, bool>) -> Option<String> {
    let Action::Process(process) = &row.definition.target.action else { return None };
    let program = process.argv.first()?;
    let place = match program.contains('/') {
        true => process.cwd.as_ref().map_or_else(PathBuf::new, Into::into).join(program),
        false => program.into(),
    };
    let is_there = *known.entry(place).or_insert_with_key(|place| match program.contains('/') {
        true => is_program(place),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
        }
    });
    (!is_there).then(|| program.clone())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
