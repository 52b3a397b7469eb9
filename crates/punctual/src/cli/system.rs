//! `punctual system …`: the installation as those see it who look after it.

use clap::{Args, Subcommand};
use punctual::{App, Consultation, Database, Failure, Health, Kind, ask};

use super::door::{Door, Place};
use super::maintenance::Maintenance;
use crate::output::{Output, system};

/// Moves of a breaker in one answer.
const MOVES_MAX: u32 = 1_000;

/// Megabytes.
const MIB: u64 = 1024 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum System {
    /// Show the circuit breakers that are not closed, or that of one target with its moves
    Breaker(Breaker),
    /// Show the nodes: leases, shards, versions, clocks
    Nodes,
    /// Check what the promises hang on; the exit code is 7 if a check fails
    Doctor(Doctor),
    /// Pause an org or the whole installation with a note, and end that
    #[command(subcommand)]
    Maintenance(Maintenance),
}

#[derive(Debug, Args)]
pub(crate) struct Breaker {
    /// The target: the name of its schedule, unless a file named it
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// Close it by hand
    #[arg(long, requires = "target")]
    reset: bool,
    /// Show at most this many moves, the newest
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOVES_MAX)))]
    limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// How much of the disk must be free, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 200)]
    disk_min: u64,
}

impl System {
    pub(crate) async fn run(self, door: &Door, place: &Place, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Breaker(breaker) => breaker.run(door, output).await,
            Self::Nodes => system::nodes(output, &door.ask(&ask::Nodes).await?),
            Self::Maintenance(maintenance) => maintenance.run(door, place, output).await,
            Self::Doctor(doctor) => doctor.run(&door.app().await?, &place.database()?, output).await,
        }
    }
}

impl Breaker {
    async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let limit = self.limit;
        match self.target {
            None => system::breakers(output, &door.ask(&ask::Breakers).await?),
            Some(target) if self.reset => {
                system::reset(output, &door.ask(&ask::Reset { target, limit }).await?)
            }
            Some(target) => system::breaker(output, &door.ask(&ask::Breaker { target, limit }).await?),
        }
    }
}

impl Doctor {
    async fn run(&self, app: &App, database: &Database, output: &Output) -> Result<(), Failure> {
        let folder = match database {
            Database::Sqlite { path } => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                Some(folder.map_or_else(|| ".".into(), Into::into))
            }
            Database::Postgres { .. } => None,
        };
        let told = Consultation { folder, disk_min: self.disk_min.saturating_mul(MIB) };
        let checks = app.doctor(&told).await?;
        system::checks(output, &checks)?;
        let failed: Vec<&str> =
            checks.iter().filter(|check| check.health == Health::Fail).map(|check| check.name).collect();
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Failure {
                kind: Kind::Fault,
                message: format!("not everything is well: {}", failed.join(", ")),
                hint: Some("each check says what to do about it".to_owned()),
            }),
        }
    }
}
