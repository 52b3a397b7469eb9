//! `punctual system maintenance on|off|status`

use clap::{Args, Subcommand};
use punctual::{App, Database, Extent, Failure, Identity, ask, shape};

use super::door::{Door, Place};
use crate::output::{Output, system};

#[derive(Debug, Subcommand)]
pub(crate) enum Maintenance {
    /// Pause every active schedule; new ones start paused until it ends
    On(On),
    /// End it: enable exactly those that it paused
    Off(Reach),
    /// Show whether this org or the installation is paused
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct On {
    /// Why, for whoever wonders
    #[arg(long)]
    note: String,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// All orgs, not only this one
    #[arg(long)]
    installation: bool,
}

impl Maintenance {
    /// Whether it is about all orgs.
    pub(super) fn is_of_installation(&self) -> bool {
        match self {
            Self::On(on) => on.reach.installation,
            Self::Off(reach) => reach.installation,
            Self::Status => false,
        }
    }

    pub(crate) async fn run(&self, door: &Door, place: &Place, output: &Output) -> Result<(), Failure> {
        if self.is_of_installation() {
            return self.run_here(&door.app().await?, &place.database()?, output).await;
        }
        match self {
            Self::On(on) => system::paused(output, &door.ask(&ask::Pause { note: on.note.clone() }).await?),
            Self::Off(_) => system::resumed(output, &door.ask(&ask::Resume).await?),
            Self::Status => system::maintenance(output, &door.ask(&ask::Maintenances).await?),
        }
    }

    /// The same for every org.
    async fn run_here(&self, app: &App, database: &Database, output: &Output) -> Result<(), Failure> {
        match self {
            Self::On(on) => {
                let noted = app.note_maintenance(Extent::Installation, &on.note).await?;
                let mut paused = 0;
                for one in everyone(app, database).await? {
                    paused += one.pause_all(&noted).await?;
                }
                system::paused(output, &shape::Paused { maintenance: (&noted).into(), paused })
            }
            Self::Off(_) => {
                let ended = app.forget_maintenance(Extent::Installation).await?;
                let mut resumed = 0;
                for one in everyone(app, database).await? {
                    resumed += one.resume_all().await?;
                }
                let left = app.maintenance().await?.iter().map(shape::Maintenance::from).collect();
                system::resumed(output, &shape::Resumed { ended, resumed, left })
            }
            Self::Status => Ok(()),
        }
    }
}

/// The ledger as each org sees it.
async fn everyone(app: &App, database: &Database) -> Result<Vec<App>, Failure> {
    let identity = app.identity();
    let orgs = app.orgs().await?;
    let mut apps = Vec::with_capacity(orgs.len());
    for org_id in orgs {
        apps.push(App::open(database, Identity { org_id, user_id: identity.user_id.clone() }).await?);
    }
    Ok(apps)
}
