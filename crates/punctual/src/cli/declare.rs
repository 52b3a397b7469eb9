//! Files of schedules: `punctual plan` shows what one would do, `apply` does it, `export` writes one, and `schema`
//! says what one may hold.

use std::path::PathBuf;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use punctual::declare::Ground;
use punctual::{
    App, Database, Declaring, Failure, Identity, Occasion, Proposal, SET, Wanting, Wish, declare,
};
use punctual_time::{Once, Zone};

use crate::output::{Format, Output, Progress, apply, note, plan, publish};

/// How far ahead fires are compared at most: a year, as imports do.
const HORIZON_MAX_DAYS: i64 = 366;

/// The file and the set that it stands for.
#[derive(Debug, Args)]
struct Declared {
    /// A YAML file, or a folder of them
    file: PathBuf,
    /// The set that the file declares: only what that set has made is changed or removed
    #[arg(long, value_name = "NAME", default_value = SET)]
    set_name: String,
    /// How many days of fires are compared
    #[arg(long, value_name = "DAYS", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=HORIZON_MAX_DAYS))]
    days: i64,
}

impl Declared {
    async fn propose(&self, app: &App) -> Result<Proposal, Failure> {
        let progress = Progress::of("schedules read");
        let watch = |read: declare::Progress| progress.of_many(read.done, read.total);
        let horizon = SignedDuration::from_hours(24 * self.days);
        let (declaring, set) = (Declaring::File(&self.file), self.set_name.as_str());
        app.propose(Wanting { declaring, set, horizon, watch: &watch }).await
    }
}

/// `punctual plan FILE`
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    declared: Declared,
    /// Show what the file says by itself, beside no database, and what fires on its first day
    #[arg(long)]
    alone: bool,
    /// The same for the 24 hours from an instant, RFC 3339 or in UTC
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
}

impl Plan {
    /// Whether it needs no database.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone || self.from.is_some()
    }

    /// Without a database, everything in the file is new: then it is shown by itself.
    pub(crate) async fn run(&self, database: &Database, output: &Output) -> Result<(), Failure> {
        if self.is_alone() || !database.exists() {
            return self.show_alone(output);
        }
        let app = App::open(database, Identity::from_env()?).await?;
        apply::proposed(output, &self.declared.propose(&app).await?)
    }

    fn show_alone(&self, output: &Output) -> Result<(), Failure> {
        let from = match &self.from {
            Some(text) => Once::parse(text, &Zone::utc())?.instant(),
            None => Timestamp::now(),
        };
        let progress = Progress::of("schedules read");
        let watch = |read: declare::Progress| progress.of_many(read.done, read.total);
        let declared = declare::read_watched(&self.declared.file, &Ground::alone(from), &watch)?;
        progress.end();
        plan::show(output, &declared, from)
    }
}

/// `punctual apply FILE`
#[derive(Debug, Args)]
pub(crate) struct Apply {
    #[command(flatten)]
    declared: Declared,
    /// Show what would be done, but write nothing; the same as `plan`
    #[arg(long)]
    dry_run: bool,
}

impl Apply {
    pub(crate) async fn run(&self, app: &App, output: &Output) -> Result<(), Failure> {
        let proposal = self.declared.propose(app).await?;
        if self.dry_run {
            return apply::proposed(output, &proposal);
        }
        let progress = Progress::new("schedules", proposal.changes.len());
        let applied = app.apply(&proposal, Occasion::Request, &|done| progress.at(done)).await;
        progress.end();
        apply::applied(output, &proposal, applied?)?;
        if !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }
}

/// `punctual export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Names of schedules; all without them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Only schedules with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only schedules of this declared set
    #[arg(long, value_name = "NAME")]
    set_name: Option<String>,
}

impl Export {
    /// A file is YAML, whatever it is written to, unless JSON is asked for.
    pub(crate) async fn run(self, app: &App, asked: Option<Format>) -> Result<(), Failure> {
        let wish = Wish { names: self.names, tag: self.tag, set: self.set_name };
        let publishing = app.publish(&wish).await?;
        match asked {
            Some(Format::Json) => publish::json(publishing).await,
            _ => publish::yaml(publishing).await,
        }
    }
}

/// `punctual schema`
#[derive(Debug, Args)]
pub(crate) struct Schema;

impl Schema {
    /// One form for people and programs alike: it is JSON either way.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(declare::schema());
        let text = text.map_err(|error| Failure::world(error.to_string()))?;
        output.raw((text + "\n").as_bytes())
    }
}
