//! `punctual system maintenance on|off|status`

use clap::{Args, Subcommand};
use punctual::{App, Database, Extent, Failure, Identity};

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

impl Reach {
    fn extent(&self) -> Extent {
        if self.installation { Extent::Installation } else { Extent::Org }
    }
}

impl Maintenance {
    pub(crate) async fn run(&self, app: &App, database: &Database, output: &Output) -> Result<(), Failure> {
        match self {
            Self::On(on) => {
                let noted = app.note_maintenance(on.reach.extent(), &on.note).await?;
                let mut paused = 0;
                for one in everyone(app, database, on.reach.extent()).await? {
                    paused += one.pause_all(&noted).await?;
                }
                system::paused(output, &noted, paused)
            }
            Self::Off(reach) => {
                let was_on = app.forget_maintenance(reach.extent()).await?;
                let mut resumed = 0;
                for one in everyone(app, database, reach.extent()).await? {
                    resumed += one.resume_all().await?;
                }
                let left = app.maintenance().await?;
                system::resumed(output, system::Ended { was_on, resumed, left: &left })
            }
            Self::Status => system::maintenance(output, &app.maintenance().await?),
        }
    }
}

/// The ledger as each org that is meant sees it.
async fn everyone(app: &App, database: &Database, extent: Extent) -> Result<Vec<App>, Failure> {
    let identity = app.identity();
    let orgs = match extent {
        Extent::Org => vec![identity.org_id.clone()],
        Extent::Installation => app.orgs().await?,
    };
    let mut apps = Vec::with_capacity(orgs.len());
    for org_id in orgs {
        apps.push(App::open(database, Identity { org_id, user_id: identity.user_id.clone() }).await?);
    }
    Ok(apps)
}
