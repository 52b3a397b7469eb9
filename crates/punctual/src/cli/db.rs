//! `punctual db …`: the database as a whole.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use punctual::{Database, Failure, Kind};
use punctual_store::{Access, AnyStore, Store, Table, copy_into, first_difference};
use serde_json::json;

use crate::output::{Output, Progress, database};

#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Show what the database holds: schema, size, rows
    Status,
    /// Bring the schema up to date; a SQLite file is backed up first
    Migrate,
    /// Look for anything that the promises exclude; the exit code is 1 if something is found
    Check,
    /// Write a copy of a SQLite database into a file, also while it is served
    Backup(Backup),
    /// Give the space of removed rows back to the system
    Vacuum,
    /// Copy a database into an empty one: definitions, cursors, ledger and audit log
    Copy(Copy),
}

/// `punctual db backup FILE`
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// `punctual db copy FROM TO`
#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The database to read: a path or `postgres://…`; nothing may serve it meanwhile
    #[arg(value_name = "FROM")]
    from: String,
    /// The database to fill: one without schedules
    #[arg(value_name = "TO")]
    to: String,
    /// Count what would be copied, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Db {
    /// Whether it says itself which databases it means.
    pub(crate) fn names_its_own(&self) -> bool {
        matches!(self, Self::Copy(_))
    }

    pub(crate) async fn run(self, named: &Database, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Copy(copy) => copy.run(output).await,
            Self::Status | Self::Migrate => {
                let store = named.open(Access::Visit).await?;
                database::status(output, &store.status().await?)
            }
            Self::Check => check(&named.open(Access::Visit).await?, output).await,
            Self::Backup(backup) => match named.open(Access::Visit).await? {
                AnyStore::Sqlite(store) => {
                    store.backup(&backup.file).await?;
                    let file = backup.file.display().to_string();
                    output.write(&json!({"backup": file}), || format!("wrote {file}\n"))
                }
                _ => Err(Failure::invalid(
                    "only a SQLite database is backed up into a file",
                    "use pg_dump, or copy it into a file with `punctual db copy FROM TO`",
                )),
            },
            Self::Vacuum => match named.open(Access::Visit).await? {
                AnyStore::Sqlite(store) => {
                    store.vacuum().await?;
                    database::status(output, &store.status().await?)
                }
                _ => Err(Failure::invalid(
                    "PostgreSQL vacuums itself",
                    "`VACUUM` in psql does it now, if you must",
                )),
            },
        }
    }
}

async fn check(store: &AnyStore, output: &Output) -> Result<(), Failure> {
    let findings = store.check().await?;
    database::findings(output, &findings)?;
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure {
            kind: Kind::World,
            message: format!("the database holds {count} things that it must not"),
            hint: Some(
                "compare with a backup; `punctual schedule runs` shows the ledger of one schedule".to_owned(),
            ),
        }),
    }
}

impl Copy {
    async fn run(self, output: &Output) -> Result<(), Failure> {
        let from = Database::choose(Some(&self.from))?;
        let to = Database::choose(Some(&self.to))?;
        if from == to {
            return Err(Failure::invalid(
                "a database cannot be copied into itself",
                "name another one as TO",
            ));
        }
        // Nobody plans or runs anything in either meanwhile.
        let source = from.open(Access::Serve).await?;
        let total: u64 = source.status().await?.rows.iter().map(|(_, count)| count).sum();
        if self.dry_run {
            let json = json!({"dry_run": true, "rows": total});
            return output.write(&json, || format!("would copy {total} rows from {from} to {to}\n"));
        }
        let target = to.open(Access::Serve).await?;
        refuse_used(&target, &to).await?;
        let progress = Progress::new("rows", usize::try_from(total).unwrap_or(usize::MAX));
        copy_into(&source, &target, |rows| progress.add(rows)).await?;
        progress.end();
        if let Some(table) = first_difference(&source, &target).await? {
            let message = format!("the table `{}` does not read back as it was", table.name());
            return Err(Failure::world(message));
        }
        let json = json!({"copied": progress.done(), "from": from.to_string(), "to": to.to_string()});
        output.write(&json, || {
            format!("copied {} rows from {from} to {to}; every row reads back equal\n", progress.done())
        })
    }
}

async fn refuse_used(target: &AnyStore, to: &Database) -> Result<(), Failure> {
    let rows = target.status().await?.rows;
    let used = rows.iter().find(|(table, count)| *count > 0 && *table == Table::Schedules);
    match used {
        Some((_, count)) => Err(Failure {
            kind: Kind::Conflict,
            message: format!("{to} has {count} schedules already"),
            hint: Some("copy into a new database".to_owned()),
        }),
        None => Ok(()),
    }
}
