//! Settings of the installation: each with its value and where it came from.
//!
//! Start with [`Settings::resolve`]: a flag counts before the environment, the environment before the file, the file
//! before the default. What cannot be meant is refused wherever it stands, with what to write instead.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use punctual_engine::{Proxy, Reach};
use punctual_plan::{CatchUp, Executor, Jitter, Named, Overlap, Pace};
use punctual_store::Retention;
use serde_json::Value;

use crate::declare::{self, Defaults, duration, executor, nearest};
use crate::{Failure, Kind, listen_address};

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
    /// How it is logged.
    Format,
    /// Who executes workflows; nobody, if it is empty.
    Executor,
    /// Addresses and hosts.
    Reach,
    /// The address of a proxy; none, if it is empty.
    Proxy,
    /// An address on loopback, or `none`.
    Address,
    /// Paths, separated by commas.
    Paths,
    /// `token` or `open`.
    Access,
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
    Described { name, what, default, shape }
}

const HOUR_MS: u64 = 3_600_000;

/// Every setting.
pub static SETTINGS: [Described; 18] = [
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
    described("log_level", "info", Shape::Level, "how much is logged: error, warn, info, debug or trace"),
    described("log_format", "auto", Shape::Format, "how it is logged: text, json, or auto by where it goes"),
    described(
        "workflow_executor",
        "",
        Shape::Executor,
        "who executes workflows that do not say who does: a web address, or a program",
    ),
    described(
        "allow_private_targets",
        "no",
        Shape::Reach,
        "addresses beside public ones that web requests may go to",
    ),
    described(
        "webhook_proxy",
        "",
        Shape::Proxy,
        "the HTTP proxy that web requests go through; it is told checked addresses, never names",
    ),
    described("listen", "127.0.0.1:7424", Shape::Address, "where the server listens; `none` turns it off"),
    described(
        "http_programs",
        "",
        Shape::Paths,
        "the programs that schedules may run which are made over HTTP, separated by commas",
    ),
    described(
        "metrics_access",
        "token",
        Shape::Access,
        "who may read `/metrics`: whoever has a `token`, or `open` to all",
    ),
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
    /// let file = punctual_app::FileSettings::parse("punctual.yaml", "settings: {tick_ms: 500}")?;
    /// assert_eq!(file.given["tick_ms"], "500");
    /// # Ok::<(), punctual_app::Failure>(())
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
                Value::Array(_) if name == "workflow_executor" => value.to_string(),
                Value::Array(words) if words.iter().all(Value::is_string) => {
                    words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
                }
                Value::Bool(is_so) => if *is_so { "yes" } else { "no" }.to_owned(),
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
    /// use punctual_app::{FileSettings, Given, Settings, Source};
    ///
    /// let file = FileSettings::parse("punctual.yaml", "settings: {tick_ms: 500, lookahead_ms: 30000}")?;
    /// let env = |name: &str| (name == "PUNCTUAL_TICK_MS").then(|| "250".to_owned());
    /// let settings = Settings::resolve(&Given::new(), env, Some(&file))?;
    /// assert_eq!(settings.pace().tick.as_millis(), 250);
    /// assert_eq!(settings.get("lookahead_ms").source, Source::File("punctual.yaml".to_owned()));
    /// assert_eq!(settings.get("keep_runs").source, Source::Default);
    /// # Ok::<(), punctual_app::Failure>(())
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

    /// Who executes workflows that do not say who does.
    pub fn workflow_executor(&self) -> Option<Executor> {
        let text = &self.get("workflow_executor").value;
        (!text.is_empty()).then(|| executor(text).expect("checked when it was resolved"))
    }

    /// Where web requests may go beside public addresses.
    pub fn reach(&self) -> Reach {
        self.get("allow_private_targets").value.parse().expect("checked when it was resolved")
    }

    /// The proxy that web requests go through, if any.
    pub fn proxy(&self) -> Option<Proxy> {
        self.get("webhook_proxy").value.parse().ok()
    }

    /// Where the server listens, if it does.
    pub fn listen(&self) -> Option<SocketAddr> {
        listen_address(&self.get("listen").value).expect("checked when it was resolved")
    }

    /// The programs that schedules may run which are made over HTTP.
    pub fn http_programs(&self) -> Vec<String> {
        let paths = self.get("http_programs").value.split(',').map(str::trim);
        paths.filter(|path| !path.is_empty()).map(str::to_owned).collect()
    }

    /// Whether anybody may read the metrics who reaches the server.
    pub fn is_metrics_open(&self) -> bool {
        self.get("metrics_access").value == "open"
    }

    /// What schedules are that do not say.
    pub fn defaults(&self) -> Defaults {
        let jitter = Jitter { max: self.default_jitter(), ..Jitter::default() };
        Defaults { overlap: self.default_overlap(), catch_up: self.default_catch_up(), jitter }
    }

    /// How much is logged.
    pub fn log_level(&self) -> &str {
        &self.get("log_level").value
    }

    /// How it is logged: `text`, `json` or `auto`.
    pub fn log_format(&self) -> &str {
        &self.get("log_format").value
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

const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];
const FORMATS: [&str; 3] = ["auto", "text", "json"];

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The words of a policy.
fn words<T: Named>() -> String {
    format!("write one of {}", quoted(T::NAMES))
}

fn check(setting: &Described, value: &str, source: &Source) -> Result<(), Failure> {
    let Some(hint) = refusal(setting, value) else { return Ok(()) };
    let message = format!("`{value}` cannot be `{}` ({source})", setting.name);
    Err(Failure { kind: Kind::Invalid, message, hint: Some(hint) })
}

/// What to write instead of a value of a setting that cannot be meant.
pub(crate) fn refused(name: &str, value: &str) -> Option<String> {
    let setting = SETTINGS.iter().find(|setting| setting.name == name)?;
    refusal(setting, value)
}

fn refusal(setting: &Described, value: &str) -> Option<String> {
    let text = value.trim();
    let is_good = match setting.shape {
        Shape::Number { least, most } => {
            text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number))
        }
        Shape::Overlap => overlap(text).is_some(),
        Shape::CatchUp => catch_up(text).is_some(),
        Shape::Duration => duration(text).is_ok_and(|length| length > SignedDuration::ZERO),
        Shape::Reach => text.parse::<Reach>().is_ok(),
        Shape::Proxy => text.is_empty() || text.parse::<Proxy>().is_ok(),
        Shape::Level => LEVELS.contains(&text),
        Shape::Format => FORMATS.contains(&text),
        Shape::Address => listen_address(text).is_ok(),
        Shape::Paths => text.split(',').all(|path| path.trim().is_empty() || path.trim().starts_with('/')),
        Shape::Access => ["token", "open"].contains(&text),
        Shape::Executor => text.is_empty() || executor(text).is_ok(),
    };
    if is_good {
        return None;
    }
    Some(match setting.shape {
        Shape::Number { least, most } => {
            format!("write a whole number from {least} to {most}; without it, it is {}", setting.default)
        }
        Shape::Overlap => words::<Overlap>(),
        Shape::CatchUp => words::<CatchUp>(),
        Shape::Duration => format!("write a length of time such as `{}`", setting.default),
        Shape::Executor => {
            r#"write `https://…`, or a program as a list such as `["dag-runner", "--all"]`"#.to_owned()
        }
        Shape::Reach => {
            "write `no`, `yes`, or ranges and host names by commas, such as `10.0.0.0/8, hooks.internal`"
                .to_owned()
        }
        Shape::Proxy => "write `http://HOST:PORT`, without a name and a password".to_owned(),
        Shape::Address => {
            "write an address of this host alone, such as `127.0.0.1:7424`, or `none`; this version lets no other \
             host in"
                .to_owned()
        }
        Shape::Paths => "write paths such as `/usr/local/bin/backup`, separated by commas".to_owned(),
        Shape::Access => "write `token` or `open`".to_owned(),
        Shape::Level => format!("write one of {}", quoted(&LEVELS)),
        Shape::Format => format!("write one of {}", quoted(&FORMATS)),
    })
}
