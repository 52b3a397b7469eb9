//! `punctual config …`: the settings of the installation, and the flags that every command with settings has.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use punctual::{Database, Failure, FileSettings, Given, Identity, Settings, Source, own_file};

use crate::output::settings::Place;
use crate::output::{Output, settings};

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting with its value and where it came from
    Show(SettingFlags),
}

/// One flag for each setting. A flag counts before the environment, that before the file, that before the default.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingFlags {
    /// A YAML file with `settings:`; without it, `punctual.yaml` in your folder for configuration, if it is there
    #[arg(long, value_name = "FILE", env = "PUNCTUAL_SETTINGS")]
    settings: Option<PathBuf>,
    /// The longest sleep of the server, in milliseconds
    #[arg(long, value_name = "MS")]
    tick_ms: Option<String>,
    /// How far ahead ticks are planned, in milliseconds, at most an hour
    #[arg(long, value_name = "MS")]
    lookahead_ms: Option<String>,
    /// Missed ticks of a schedule that are made up per wake
    #[arg(long, value_name = "COUNT")]
    max_catchup_per_tick: Option<String>,
    /// `if_running` of schedules that do not say
    #[arg(long, value_name = "POLICY")]
    default_overlap_policy: Option<String>,
    /// `catch_up` of schedules that do not say
    #[arg(long, value_name = "POLICY")]
    default_catchup_policy: Option<String>,
    /// The jitter of schedules that do not say, in milliseconds
    #[arg(long, value_name = "MS")]
    default_jitter_ms: Option<String>,
    /// How long runs are kept that did not fail
    #[arg(long, value_name = "DURATION")]
    keep_runs: Option<String>,
    /// Runs of a schedule that are kept at most, failed ones excepted
    #[arg(long, value_name = "COUNT")]
    keep_runs_per_schedule: Option<String>,
    /// How long failed runs are kept
    #[arg(long, value_name = "DURATION")]
    keep_failures: Option<String>,
    /// How long events of the audit log are kept
    #[arg(long, value_name = "DURATION")]
    keep_audit: Option<String>,
    /// Who executes workflows that do not say who does: a web address, or a program, with arguments as a JSON list
    #[arg(long, value_name = "EXECUTOR")]
    workflow_executor: Option<String>,
    /// Addresses beside public ones that web requests may go to: `no`, `yes`, or ranges and host names by commas
    #[arg(long, value_name = "WHERE", num_args = 0..=1, default_missing_value = "yes")]
    allow_private_targets: Option<String>,
    /// The HTTP proxy that web requests go through, as `http://HOST:PORT`
    #[arg(long, value_name = "URL")]
    webhook_proxy: Option<String>,
    /// Where the server listens: an address on loopback, or `none`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The programs that schedules may run which are made over HTTP, separated by commas
    #[arg(long, value_name = "PATHS")]
    http_programs: Option<String>,
    /// Who may read `/metrics`: whoever has a `token`, or `open` to all
    #[arg(long, value_name = "WHO")]
    metrics_access: Option<String>,
    /// How much is logged: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// How the log on standard error is written: text, json, or auto for text on a terminal and JSON otherwise
    #[arg(long, value_name = "FORM")]
    log_format: Option<String>,
}

impl SettingFlags {
    /// What the flags say.
    fn given(&self) -> Given {
        let flags = [
            ("tick_ms", &self.tick_ms),
            ("lookahead_ms", &self.lookahead_ms),
            ("max_catchup_per_tick", &self.max_catchup_per_tick),
            ("default_overlap_policy", &self.default_overlap_policy),
            ("default_catchup_policy", &self.default_catchup_policy),
            ("default_jitter_ms", &self.default_jitter_ms),
            ("keep_runs", &self.keep_runs),
            ("keep_runs_per_schedule", &self.keep_runs_per_schedule),
            ("keep_failures", &self.keep_failures),
            ("keep_audit", &self.keep_audit),
            ("workflow_executor", &self.workflow_executor),
            ("allow_private_targets", &self.allow_private_targets),
            ("webhook_proxy", &self.webhook_proxy),
            ("listen", &self.listen),
            ("http_programs", &self.http_programs),
            ("metrics_access", &self.metrics_access),
            ("log_level", &self.log_level),
            ("log_format", &self.log_format),
        ];
        flags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))).collect()
    }

    /// The settings as they are meant now: the file is read anew. Without a file of their own, they are those of the
    /// file of schedules that the server brings with it.
    pub(crate) fn resolve(&self, declared: Option<&Path>) -> Result<Settings, Failure> {
        let env = |name: &str| std::env::var(name).ok();
        let file = match self.settings.as_deref().or(declared.filter(|path| path.is_file())) {
            Some(path) => Some(FileSettings::read(path)?),
            None => own_file(env)?,
        };
        Settings::resolve(&self.given(), env, file.as_ref())
    }
}

impl Config {
    /// With `database`, the one that a flag or the environment names.
    pub(crate) fn run(&self, database: Option<&str>, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Show(flags) => settings::show(output, &flags.resolve(None)?, &places(database)?),
        }
    }
}

/// The database, the org and the user that commands act for, and who named them.
fn places(database: Option<&str>) -> Result<[Place; 3], Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let by_env = |name: &str| match set(name) {
        Some(_) => Source::Environment(name.to_owned()),
        None => Source::Default,
    };
    let by_flag = database.is_some() && set("DATABASE_URL").as_deref() != database;
    let source = if by_flag { Source::Flag("--database".to_owned()) } else { by_env("DATABASE_URL") };
    let Identity { org_id, user_id } = Identity::from_env()?;
    Ok([
        Place { name: "database", value: Some(Database::choose(database)?.to_string()), source },
        Place { name: "org_id", value: Some(org_id), source: by_env("PUNCTUAL_ORG_ID") },
        Place { name: "user_id", value: user_id, source: by_env("PUNCTUAL_USER_ID") },
    ])
}
