//! The command line: one file per noun, and the table that dispatches to it.

mod act;
mod audit;
mod backfill;
mod complete;
mod config;
mod config_file;
mod db;
mod declare;
pub(crate) mod door;
mod log;
mod log_line;
mod maintenance;
#[cfg_attr(not(feature = "otel"), path = "otel_off.rs")]
mod otel;
mod reach;
mod reload;
mod runs;
mod schedule;
mod secret;
mod serve;
mod shell;
mod simulate;
mod spec;
mod system;
mod why;
mod worker;
mod workflow;
mod wrong;

pub(crate) use simulate::View;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use punctual::{App, Database, Failure, Identity, Secrets};

use crate::output::{Format, Output};
use door::{Door, Place};
use reach::Reach;

/// Shown under the help of the program.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 the database or the system failed, 2 wrong command line, \
3 no such schedule or run, 4 invalid input, 5 the name is taken, 6 another process serves the database, \
7 a hole in the ledger, a check that failed, or a database that is not what the file declares, 8 the server \
refuses it.";

/// The scheduler that can account for every tick.
#[derive(Debug, Parser)]
#[command(name = "punctual", version, about, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The database: a path, `sqlite:PATH` or `postgres://…`; without it, `punctual.db` in your data folder
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, value_name = "DATABASE")]
    database: Option<String>,
    /// A server to ask instead, such as `http://127.0.0.1:7424`, with the token in `PUNCTUAL_TOKEN`
    #[arg(long, global = true, env = "PUNCTUAL_URL", value_name = "URL", conflicts_with = "database")]
    server: Option<String>,
    /// Print JSON, as is also done when the output is not a terminal
    #[arg(long, global = true, conflicts_with = "is_text")]
    json: bool,
    /// Print text for people, as is also done on a terminal
    #[arg(long = "text", global = true)]
    is_text: bool,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a process")]
enum Command {
    /// Run the schedules of a database until stopped
    Serve(serve::Serve),
    /// Create, list and delete schedules, and read their ledger
    #[command(subcommand)]
    Schedule(schedule::Schedule),
    /// Put single items on a queue, without a schedule
    #[command(subcommand)]
    Request(schedule::Request),
    /// Show the ledger: what ran, what did not, and why
    Runs(runs::Runs),
    /// Print what a run has printed
    Logs(runs::Logs),
    /// End runs that are in flight or wait
    Cancel(act::Cancel),
    /// Run a run again: its next attempt now if one is planned, else a new run that refers to it
    Retry(act::Retry),
    /// Prove that every planned tick is recorded, or list the holes; read and check the audit log
    Audit(audit::Audit),
    /// Run ticks of the past; shows them first, and what the ledger has for them
    Backfill(backfill::Backfill),
    /// Look after the installation: breakers, nodes, health, maintenance
    #[command(subcommand)]
    System(system::System),
    /// Show the settings of this installation and where each comes from
    #[command(subcommand)]
    Config(config::Config),
    /// Take runs from a queue of the database and do each with a command, until stopped
    Worker(worker::Worker),
    /// Keep workflows, and start them by their `schedule_based` triggers
    #[command(subcommand)]
    Workflow(workflow::Workflow),
    /// Keep the values that targets refer to as `${secret:NAME}`
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Look after the database: status, check, backup, copy
    #[command(subcommand)]
    Db(db::Db),
    /// Ask the language of time: ticks, English, why; needs no database
    #[command(subcommand)]
    Spec(spec::Spec),
    /// Show what a file of schedules would change: schedules, and fires added and removed
    Plan(declare::Plan),
    /// Bring the schedules of a file into the database: add, change and remove what is its own
    Apply(declare::Apply),
    /// Write the stored schedules as a file
    Export(declare::Export),
    /// Show the ledger that a file of schedules would leave, given outages, run times and failures; needs no database
    Simulate(simulate::Simulate),
    /// Explain why a schedule did or did not run at an instant, link by link
    Why(why::Why),
    /// Print the JSON Schema of files of schedules, for editors
    Schema(declare::Schema),
    /// Answer a completion script
    #[command(hide = true)]
    Complete(complete::Complete),
    /// Print the completions for a shell
    Completions(shell::Completions),
    /// Print the manual page, or write all pages into a folder
    Man(shell::Man),
}

/// Why an option of all commands is refused by some.
const NO_DATABASE: &str = "`--database` has no meaning here: this command needs none";
const NO_SERVER: &str = "`--server` has no meaning here: this command asks nobody";
const NO_JSON: &str = "`--json` has no meaning here: what is printed has its own form";

const NO_WORLD: &str = "a world has no meaning without `--file`: the ledger says what happened";

impl Cli {
    /// Reads the command line; one that cannot be meant is answered by clap and ends the process.
    pub(crate) fn from_line() -> Self {
        let matches = Self::command().try_get_matches().unwrap_or_else(|error| wrong::exit(&error));
        let cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let is_database_given = matches.value_source("database") == Some(ValueSource::CommandLine);
        let is_server_given = matches.value_source("server") == Some(ValueSource::CommandLine);
        let refused = match &cli.command {
            command if is_server_given && command.reach() == Reach::Alone => Some(NO_SERVER),
            Command::Logs(_) if cli.global.json => Some(NO_JSON),
            Command::Apply(_) | Command::Export(_) => None,
            Command::Plan(plan) if !plan.is_alone() => None,
            Command::Why(why) if why.has_idle_world() => Some(NO_WORLD),
            Command::Why(why) if why.asks_database() => None,
            Command::Schedule(command) if command.needs_none() && is_database_given => Some(NO_DATABASE),
            Command::Serve(_) | Command::Schedule(_) | Command::Request(_) | Command::Complete(_) => None,
            Command::Cancel(_) | Command::Retry(_) | Command::Config(_) => None,
            Command::Runs(_)
            | Command::Logs(_)
            | Command::Audit(_)
            | Command::Backfill(_)
            | Command::System(_) => None,
            Command::Worker(_) | Command::Secret(_) | Command::Workflow(_) => None,
            Command::Db(command) if !command.names_its_own() => None,
            _ if is_database_given => Some(NO_DATABASE),
            Command::Completions(_) | Command::Man(_) if cli.global.json => Some(NO_JSON),
            _ => None,
        };
        if let Some(text) = refused {
            Self::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
        cli
    }
}

/// Carries out a command line.
pub(crate) fn run(cli: Cli) -> Result<(), Failure> {
    let asked = cli.global.json.then_some(Format::Json).or(cli.global.is_text.then_some(Format::Text));
    let output = Output::to_stdout(asked.unwrap_or_else(Format::for_stdout));
    let config_database = cli.global.database.clone();
    let place = Place { server: cli.global.server, database: cli.global.database };
    let database = || place.database();
    if let (Some(url), Reach::Here(why)) = (&place.server, cli.command.reach()) {
        return Err(door::here_only(url, why));
    }
    match cli.command {
        Command::Serve(serve) => serve.run(&database()?, asked),
        Command::Worker(worker) => worker.run(&database()?, asked),
        Command::Secret(command) => {
            runtime()?.block_on(async { command.run(&Secrets::open(&database()?).await?, &output).await })
        }
        Command::Db(command) => runtime()?.block_on(command.run(&database()?, &output)),
        Command::Schedule(command) if command.needs_none() => command.answer(&output),
        Command::Complete(complete) => with_door(&place, async |door| complete.run(door, &output).await),
        Command::Request(request) => with_door(&place, async |door| request.run(door, &output).await),
        Command::Schedule(command) => with_door(&place, async |door| command.run(door, &output).await),
        Command::Workflow(command) => with_door(&place, async |door| command.run(door, &output).await),
        Command::Runs(runs) => with_door(&place, async |door| runs.run(door, &output).await),
        Command::Logs(logs) => with_door(&place, async |door| logs.run(door, &output).await),
        Command::Cancel(cancel) => with_door(&place, async |door| cancel.run(door, &output).await),
        Command::Retry(retry) => with_door(&place, async |door| retry.run(door, &output).await),
        Command::Audit(audit) => with_door(&place, async |door| audit.run(door, &output).await),
        Command::Backfill(backfill) => with_door(&place, async |door| backfill.run(door, &output).await),
        Command::System(system) => with_door(&place, async |door| system.run(door, &place, &output).await),
        Command::Config(config) => config.run(config_database.as_deref(), &output),
        Command::Why(why) if why.asks_database() => {
            with_door(&place, async |door| why.ask(door, &output).await)
        }
        Command::Spec(command) => command.run(&output),
        Command::Plan(plan) => runtime()?.block_on(plan.run(&database()?, &output)),
        Command::Apply(apply) => with_app(&database()?, async |app| apply.run(app, &output).await),
        Command::Export(export) => with_app(&database()?, async |app| export.run(app, asked).await),
        Command::Simulate(simulate) => simulate.run(&output),
        Command::Why(why) => why.try_file(&output),
        Command::Schema(schema) => schema.run(&output),
        Command::Completions(completions) => completions.run(&output),
        Command::Man(man) => man.run(&output),
    }
}

/// Opens the ledger and does something with it.
fn with_app(database: &Database, work: impl AsyncFnOnce(&App) -> Result<(), Failure>) -> Result<(), Failure> {
    runtime()?.block_on(async { work(&App::open(database, Identity::from_env()?).await?).await })
}

/// Finds the door to the schedules and does something through it.
fn with_door(place: &Place, work: impl AsyncFnOnce(&Door) -> Result<(), Failure>) -> Result<(), Failure> {
    runtime()?.block_on(async { work(&place.door().await?).await })
}

/// One thread is plenty to ask one question.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::world(error.to_string()))
}
