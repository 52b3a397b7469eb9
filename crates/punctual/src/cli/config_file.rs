//! The file of schedules that a service brings with it.

use std::path::{Path, PathBuf};

use clap::Args;
use punctual::{
    App, Applied, Database, Declaring, Failure, Identity, Kind, Occasion, Proposal, SET, Settings, Wanting,
    declare,
};
use tracing::info;

/// Differences that are named before the rest is only counted.
const DRIFT_LINES_MAX: usize = 20;

/// `serve --config FILE`
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigFile {
    /// A YAML file of schedules, or a folder of them, that is applied at the start and at each SIGHUP
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Refuse to start if the stored schedules are not what the file declares; only an empty set is filled
    #[arg(long, requires = "config")]
    strict: bool,
    /// The set that the file declares: only what that set has made is changed or removed
    #[arg(long, value_name = "NAME", default_value = SET, requires = "config")]
    set_name: String,
}

impl ConfigFile {
    /// Where it is, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Applies the file, if there is one.
    pub(crate) async fn bring_in(&self, database: &Database, settings: &Settings) -> Result<(), Failure> {
        let Some(file) = &self.config else { return Ok(()) };
        let app = App::open(database, Identity::from_env()?).await?.with_settings(settings);
        let (declaring, set, horizon) = (Declaring::File(file), self.set_name.as_str(), declare::DAY);
        let proposal = app.propose(Wanting { declaring, set, horizon, watch: &|_| {} }).await?;
        if self.strict && proposal.drift().next().is_some() && !proposal.is_new_set {
            return Err(refused(&proposal));
        }
        let applied = app.apply(&proposal, Occasion::Start, &|_| {}).await?;
        let Applied { added, changed, removed, toggled, shared, unchanged } = applied;
        let (file, set) = (file.display().to_string(), &self.set_name);
        info!(file, set, added, changed, removed, toggled, shared, unchanged, "the file is applied");
        Ok(())
    }
}

/// That the file and the database differ, and in what.
fn refused(proposal: &Proposal) -> Failure {
    let drift = proposal.drift();
    let mut lines: Vec<String> = drift.take(DRIFT_LINES_MAX).map(|line| format!("  {line}")).collect();
    if let Some(more) = proposal.drift().count().checked_sub(DRIFT_LINES_MAX).filter(|more| *more > 0) {
        lines.push(format!("  … and {more} more"));
    }
    Failure {
        kind: Kind::Fault,
        message: format!("the database is not what the file declares:\n{}", lines.join("\n")),
        hint: Some(
            "see `punctual plan FILE`, bring it in with `punctual apply FILE`, or leave out `--strict`"
                .to_owned(),
        ),
    }
}
