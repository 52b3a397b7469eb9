//! Settings of the installation: each with its value and where it came from.
//!
//! Start with [`Settings::resolve`]: a flag counts before the environment, the environment before the file, the file
//! before the default. What cannot be meant is refused wherever it stands, with what to write instead.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use punctual_plan::{CatchUp, Named, Overlap, Pace};
use punctual_store::Retention;
use serde_json::Value;

use crate::declare::{self, duration, nearest};
use crate::{Failure, Kind};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag of the command line.
    Flag(String),
    /// A variable of the environment.
    Environment(String),
    /// A file.
    File(String),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File(path) => write!(f, "file {path}"),
            Self::Default => write!(f, "default"),
        }
    }
}

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A whole number within bounds.
    Number { least: u64, most: u64 },
    /// `if_running`.
    Overlap,
    /// `catch_up`.
    CatchUp,
    /// A length of time.
    Duration,
    /// How much is logged.
    Level,
}

/// A setting: its name, which also makes its flag and its variable.
#[derive(Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name, as files have it.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Its value without anybody's word.
    pub default: &'static str,
    /// Whether a running server takes a new value when it is told to reload.
    pub is_reloaded: bool,
    shape: Shape,
}

impl Described {
    /// Its variable in the environment.
    pub fn variable(&self) -> String {
        format!("PUNCTUAL_{}", self.name.to_uppercase())
    }

    /// Its flag.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }
}

const fn described(name: &'static str, default: &'static str, shape: Shape, what: &'static str) -> Described {
    Described { name, what, default, is_reloaded: false, shape }
}

const HOUR_MS: u64 = 3_600_000;

/// Every setting.
pub static SETTINGS: [Described; 11] = [
    described("tick_ms", "1000", Shape::Number { least: 1, most: 60_000 }, "the longest sleep of the server"),
    described(
        "lookahead_ms",
        "60000",
        Shape::Number { least: 1, most: HOUR_MS },
        "how far ahead ticks are planned",
    ),
    described(
        "max_catchup_per_tick",
        "100",
        Shape::Number { least: 1, most: 10_000 },
        "missed ticks of a schedule that are made up per wake",
    ),
    described("default_overlap_policy", "skip", Shape::Overlap, "`if_running` of schedules that do not say"),
    described("default_catchup_policy", "none", Shape::CatchUp, "`catch_up` of schedules that do not say"),
    described(
        "default_jitter_ms",
        "0",
        Shape::Number { least: 0, most: HOUR_MS },
        "the jitter of schedules that do not say",
    ),
    described("keep_runs", "30d", Shape::Duration, "how long runs are kept that did not fail"),
    described(
        "keep_runs_per_schedule",
        "1000",
        Shape::Number { least: 1, most: 100_000_000 },
        "runs of a schedule that are kept at most, failed ones excepted",
    ),
    described("keep_failures", "90d", Shape::Duration, "how long failed runs are kept"),
    described("keep_audit", "365d", Shape::Duration, "how long events of the audit log are kept"),
    Described {
        name: "log_level",
        what: "how much is logged: error, warn, info, debug or trace",
        default: "info",
        is_reloaded: true,
        shape: Shape::Level,
    },
];

/// Keys of `settings:` in a file of schedules that are about its schedules, and not about the installation.
const OF_SCHEDULES: [&str; 6] = ["org_id", "user_id", "timezone", "min_interval", "plugins_dir", "limits"];

/// A setting with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Which.
    pub setting: &'static Described,
    /// Its value, as it was written.
    pub value: String,
    /// Who said so.
    pub source: Source,
}

/// What somebody said, by the name of the setting.
pub type Given = BTreeMap<String, String>;

/// The `settings:` of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// Its path, for people.
    pub path: String,
    /// What it says.
    pub given: Given,
}

impl FileSettings {
    /// Reads the `settings:` of a YAML file; what else is in it is left alone.
    ///
    /// # Errors
    /// When it cannot be read, or names a setting that there is not.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::invalid(
                format!("cannot read `{shown}`: {error}"),
                "give the path of a YAML file with `settings:`",
            )
        })?;
        Self::parse(&shown, &text)
    }

    /// Reads the `settings:` of a text.
    ///
    /// ```
    /// let file = punctual::FileSettings::parse("punctual.yaml", "settings: {tick_ms: 500}")?;
    /// assert_eq!(file.given["tick_ms"], "500");
    /// # Ok::<(), punctual::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When it is no YAML, or names a setting that there is not.
    pub fn parse(path: &str, text: &str) -> Result<Self, Failure> {
        let refuse = |what: String, hint: &str| Failure::invalid(format!("{path}: {what}"), hint);
        let settings = declare::settings_of(text)
            .map_err(|error| refuse(error, "write `settings:` and under it lines such as `tick_ms: 500`"))?;
        let mut given = Given::new();
        let Some(settings) = settings.filter(|value| !value.is_null()) else {
            return Ok(Self { path: path.to_owned(), given });
        };
        let entries = settings.as_object().ok_or_else(|| {
            refuse("`settings` is no list of settings".to_owned(), "write lines such as `tick_ms: 500`")
        })?;
        for (name, value) in entries.iter().filter(|(name, _)| !OF_SCHEDULES.contains(&name.as_str())) {
            if !SETTINGS.iter().any(|setting| setting.name == name) {
                let known = SETTINGS.iter().map(|setting| setting.name);
                return Err(refuse(format!("`{name}` is no setting"), &nearest::hint(name, known, "")));
            }
            let said = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                other => {
                    return Err(refuse(format!("`{name}` cannot be {other}"), "write a number or a word"));
                }
            };
            given.insert(name.clone(), said);
        }
        Ok(Self { path: path.to_owned(), given })
    }
}

/// The file of settings that is read without being named: `punctual.yaml` in the user's folder for configuration.
///
/// # Errors
/// When it is there and cannot be read.
pub fn own_file(var: impl Fn(&str) -> Option<String>) -> Result<Option<FileSettings>, Failure> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(set("HOME")?.join(".config")));
    let file = folder.map(|folder| folder.join("punctual").join("punctual.yaml"));
    file.filter(|file| file.exists()).map(|file| FileSettings::read(&file)).transpose()
}

/// The settings of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Every setting with its value, in the order of [`SETTINGS`].
    pub all: Vec<Resolved>,
}

impl Settings {
    /// Finds each value: a flag counts before the environment, that before the file, that before the default.
    ///
    /// ```
    /// use punctual::{FileSettings, Given, Settings, Source};
    ///
    /// let file = FileSettings::parse("punctual.yaml", "settings: {tick_ms: 500, lookahead_ms: 30000}")?;
    /// let env = |name: &str| (name == "PUNCTUAL_TICK_MS").then(|| "250".to_owned());
    /// let settings = Settings::resolve(&Given::new(), env, Some(&file))?;
    /// assert_eq!(settings.pace().tick.as_millis(), 250);
    /// assert_eq!(settings.get("lookahead_ms").source, Source::File("punctual.yaml".to_owned()));
    /// assert_eq!(settings.get("keep_runs").source, Source::Default);
    /// # Ok::<(), punctual::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When a value cannot be meant, wherever it stands; also one that another counts before.
    pub fn resolve(
        flags: &Given,
        env: impl Fn(&str) -> Option<String>,
        file: Option<&FileSettings>,
    ) -> Result<Self, Failure> {
        let mut all = Vec::with_capacity(SETTINGS.len());
        for setting in &SETTINGS {
            let by_flag = flags.get(setting.name).map(|value| (value.clone(), Source::Flag(setting.flag())));
            let variable = setting.variable();
            let by_env = env(&variable).filter(|value| !value.is_empty());
            let by_env = by_env.map(|value| (value, Source::Environment(variable)));
            let by_file = file.and_then(|file| {
                let value = file.given.get(setting.name)?;
                Some((value.clone(), Source::File(file.path.clone())))
            });
            let default = Some((setting.default.to_owned(), Source::Default));
            let mut said = [by_flag, by_env, by_file, default].into_iter().flatten().peekable();
            let (value, source) = said.peek().cloned().expect("a default is always said");
            for (value, source) in said {
                check(setting, &value, &source)?;
            }
            all.push(Resolved { setting, value: value.trim().to_owned(), source });
        }
        Ok(Self { all })
    }

    /// A setting by name.
    ///
    /// # Panics
    /// When there is no such setting: names are written in the program, not by people.
    pub fn get(&self, name: &str) -> &Resolved {
        self.all.iter().find(|one| one.setting.name == name).expect("the program names its own settings")
    }

    fn number(&self, name: &str) -> u64 {
        self.get(name).value.parse().expect("checked when it was resolved")
    }

    fn length(&self, name: &str) -> SignedDuration {
        duration(&self.get(name).value).expect("checked when it was resolved")
    }

    /// How long the loop sleeps, how far ahead is planned, how fast late ticks fire.
    pub fn pace(&self) -> Pace {
        Pace {
            tick: milliseconds(self.number("tick_ms")),
            lookahead: milliseconds(self.number("lookahead_ms")),
            catch_up_per_tick_max: u32::try_from(self.number("max_catchup_per_tick")).unwrap_or(u32::MAX),
        }
    }

    /// How long rows are kept.
    pub fn retention(&self) -> Retention {
        Retention {
            runs: self.length("keep_runs"),
            runs_per_schedule: u32::try_from(self.number("keep_runs_per_schedule")).unwrap_or(u32::MAX),
            failures: self.length("keep_failures"),
            audit: self.length("keep_audit"),
            ..Retention::default()
        }
    }

    /// `if_running` of schedules that do not say.
    pub fn default_overlap(&self) -> Overlap {
        overlap(&self.get("default_overlap_policy").value).expect("checked when it was resolved")
    }

    /// `catch_up` of schedules that do not say.
    pub fn default_catch_up(&self) -> CatchUp {
        catch_up(&self.get("default_catchup_policy").value).expect("checked when it was resolved")
    }

    /// The jitter of schedules that do not say.
    pub fn default_jitter(&self) -> SignedDuration {
        milliseconds(self.number("default_jitter_ms"))
    }

    /// How much is logged.
    pub fn log_level(&self) -> &str {
        &self.get("log_level").value
    }
}

fn milliseconds(count: u64) -> SignedDuration {
    SignedDuration::from_millis(i64::try_from(count).unwrap_or(i64::MAX))
}

fn overlap(text: &str) -> Option<Overlap> {
    text.trim().to_lowercase().parse().ok()
}

fn catch_up(text: &str) -> Option<CatchUp> {
    text.trim().to_lowercase().parse().ok()
}

/// The words of a policy.
fn words<T: Named>() -> String {
    let names: Vec<String> = T::NAMES.iter().map(|name| format!("`{name}`")).collect();
    format!("write one of {}", names.join(", "))
}

fn check(setting: &Described, value: &str, source: &Source) -> Result<(), Failure> {
    let text = value.trim();
    let is_good = match setting.shape {
        Shape::Number { least, most } => {
            text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number))
        }
        Shape::Overlap => overlap(text).is_some(),
        Shape::CatchUp => catch_up(text).is_some(),
        Shape::Duration => duration(text).is_ok_and(|length| length > SignedDuration::ZERO),
        Shape::Level => ["error", "warn", "info", "debug", "trace"].contains(&text),
    };
    if is_good {
        return Ok(());
    }
    let hint = match setting.shape {
        Shape::Number { least, most } => {
            format!("write a whole number from {least} to {most}; without it, it is {}", setting.default)
        }
        Shape::Overlap => words::<Overlap>(),
        Shape::CatchUp => words::<CatchUp>(),
        Shape::Duration => format!("write a length of time such as `{}`", setting.default),
        Shape::Level => "write `error`, `warn`, `info`, `debug` or `trace`".to_owned(),
    };
    let message = format!("`{value}` cannot be `{}` ({source})", setting.name);
    Err(Failure { kind: Kind::Invalid, message, hint: Some(hint) })
}
