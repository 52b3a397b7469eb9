//! The command line: one file per noun, and the table that dispatches to it.

mod db;
mod declare;
mod log;
mod schedule;
mod secret;
mod serve;
mod shell;
mod simulate;
mod spec;
mod why;
mod worker;

pub(crate) use simulate::View;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use punctual::{App, Database, Failure, Secrets};

use crate::output::{Format, Output};

/// Shown under the help of the program.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 the database or the system failed, 2 wrong command line, \
3 no such schedule, 4 invalid input, 5 the name is taken, 6 another process serves the database.";

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
    /// Print JSON, as is also done when the output is not a terminal
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a process")]
enum Command {
    /// Run the schedules of a database until stopped
    Serve(serve::Serve),
    /// Create, list and delete schedules, and read their ledger
    #[command(subcommand)]
    Schedule(schedule::Schedule),
    /// Take runs from a queue of the database and do each with a command, until stopped
    Worker(worker::Worker),
    /// Keep the values that targets refer to as `${secret:NAME}`
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Look after the database: status, check, backup, copy
    #[command(subcommand)]
    Db(db::Db),
    /// Ask the language of time: ticks, English, why; needs no database
    #[command(subcommand)]
    Spec(spec::Spec),
    /// Show what a file of schedules says, and what fires on its first day; needs no database
    Plan(declare::Plan),
    /// Show the ledger that a file of schedules would leave, given outages, run times and failures; needs no database
    Simulate(simulate::Simulate),
    /// Explain why a schedule of a file did or did not run at an instant, link by link; needs no database
    Why(why::Why),
    /// Print the JSON Schema of files of schedules, for editors
    Schema(declare::Schema),
    /// Print the completions for a shell
    Completions(shell::Completions),
    /// Print the manual page, or write all pages into a folder
    Man(shell::Man),
}

/// Why an option of all commands is refused by some.
const NO_DATABASE: &str = "`--database` has no meaning here: this command needs none";
const NO_JSON: &str = "`--json` has no meaning here: completions and manual pages have their own form";

impl Cli {
    /// Reads the command line; one that cannot be meant is answered by clap and ends the process.
    pub(crate) fn from_line() -> Self {
        let matches = Self::command().get_matches();
        let cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let is_database_given = matches.value_source("database") == Some(ValueSource::CommandLine);
        let refused = match &cli.command {
            Command::Serve(_) | Command::Schedule(_) | Command::Worker(_) | Command::Secret(_) => None,
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
    let asked = cli.global.json.then_some(Format::Json);
    let output = Output::to_stdout(asked.unwrap_or_else(Format::for_stdout));
    let database = || Database::choose(cli.global.database.as_deref());
    match cli.command {
        Command::Serve(serve) => serve.run(&database()?, asked),
        Command::Worker(worker) => worker.run(&database()?, asked),
        Command::Secret(command) => {
            runtime()?.block_on(async { command.run(&Secrets::open(&database()?).await?, &output).await })
        }
        Command::Db(command) => runtime()?.block_on(command.run(&database()?, &output)),
        Command::Schedule(command) => {
            let runtime = runtime()?;
            let database = database()?;
            runtime.block_on(async { command.run(&App::open(&database).await?, &output).await })
        }
        Command::Spec(command) => command.run(&output),
        Command::Plan(plan) => plan.run(&output),
        Command::Simulate(simulate) => simulate.run(&output),
        Command::Why(why) => why.run(&output),
        Command::Schema(schema) => schema.run(&output),
        Command::Completions(completions) => completions.run(&output),
        Command::Man(man) => man.run(&output),
    }
}

/// One thread is plenty to ask one question.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::world(error.to_string()))
}
