//! The fields of a schedule as flags: one table that `create`, `update` and their help share.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use punctual::Failure;
use punctual::declare::Patch;
use serde_json::{Map, Value};

use super::flags::{FLAGS, Flag, Form};
use crate::output::note;

/// Words that clear a key.
const CLEARING: [&str; 2] = ["", "none"];

/// What was given of the fields of a schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    given: Vec<(&'static Flag, Vec<String>)>,
    argv: Vec<String>,
}

/// What was given of the fields of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestFields(pub(crate) Fields);

/// Flags that mean something to a single item on a queue, beside those of the queue itself.
const OF_REQUESTS: [&str; 5] = ["retry-after", "run-timeout", "delivery", "payload", "description"];

/// Flags that say when, which a request has no use for.
pub(super) const WAYS: [&str; 6] = ["cron", "schedule", "every", "at", "after", "on"];

impl Args for RequestFields {
    fn augment_args(command: Command) -> Command {
        FLAGS.iter().fold(command, |command, flag| match flag {
            flag if flag.target == Some("queue") || OF_REQUESTS.contains(&flag.name) => {
                command.arg(arg(flag))
            }
            // Not offered, but who gives it is told what to do instead.
            flag if WAYS.contains(&flag.name) => command.arg(arg(flag).hide(true)),
            _ => command,
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RequestFields {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Fields::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for Fields {
    fn augment_args(command: Command) -> Command {
        let command = FLAGS.iter().fold(command, |command, flag| command.arg(arg(flag)));
        command.arg(
            Arg::new("argv")
                .last(true)
                .num_args(0..)
                .value_name("ARGV")
                .help("The program and its arguments, after `--`; run directly, never through a shell"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn arg(flag: &Flag) -> Arg {
    let action = if flag.form.is_many() { ArgAction::Append } else { ArgAction::Set };
    Arg::new(flag.name)
        .long(flag.name)
        .value_name(flag.value)
        .help(flag.help)
        .help_heading(flag.heading)
        .allow_hyphen_values(matches!(flag.form, Form::Text))
        .allow_negative_numbers(matches!(flag.form, Form::Number))
        .visible_aliases(ALIASES.iter().filter(|(of, _)| *of == flag.name).map(|(_, alias)| *alias))
        .action(action)
}

/// Other names of flags: those that the keys have.
const ALIASES: [(&str, &str); 1] = [("quiet-hours", "quiet-hours-policy-id")];

impl FromArgMatches for Fields {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |flag: &'static Flag| {
            // A request has some of them only.
            let values = matches.try_get_many::<String>(flag.name).ok()??.cloned().collect();
            Some((flag, values))
        };
        let argv =
            matches.try_get_many::<String>("argv").ok().flatten().into_iter().flatten().cloned().collect();
        Ok(Self { given: FLAGS.iter().filter_map(given).collect(), argv })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Fields {
    /// Whether nothing was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty() && self.argv.is_empty()
    }

    /// Whether something about the target was given.
    pub(crate) fn has_target(&self) -> bool {
        !self.argv.is_empty()
            || self.given.iter().any(|(flag, _)| flag.target.is_some() || flag.path.starts_with("target."))
    }

    /// Says so where a program was probably meant for a shell.
    pub(crate) fn warn_of_shell(&self) {
        if let [line] = self.argv.as_slice()
            && line.contains(' ')
            && !std::path::Path::new(line).exists()
        {
            note(&format!(
                "`{line}` is one word, the name of a program; for a shell write `-- sh -c '{line}'`"
            ));
        }
    }

    /// The changes that the flags make to some keys; `had` is the target before.
    pub(crate) fn patch(&self, had: Option<&Value>) -> Result<Patch, Failure> {
        let mut patch = Patch::default();
        let target = self.target_type(had)?;
        if let Some(kind) = target {
            patch.set("target.type", Value::from(kind));
        }
        for (flag, values) in &self.given {
            let is_cleared = values.len() == 1 && CLEARING.contains(&values[0].as_str()) && flag.is_optional;
            if is_cleared {
                patch.clear(flag.path);
            } else {
                patch.set(flag.path, flag.value(values)?);
            }
        }
        // What every target has, such as its breaker, does not say which one it is.
        let had_any = had.is_some() || target.is_some();
        if let Some((flag, _)) =
            self.given.iter().find(|(flag, _)| flag.path.starts_with("target.") && !had_any)
        {
            return Err(Failure::invalid(
                format!("`--{}` belongs to a target, and none is given", flag.name),
                "write a program after `--`, such as `-- echo hello`, or give `--queue` or `--worker-type`",
            ));
        }
        if !self.argv.is_empty() {
            patch.set("target.argv", Value::from(self.argv.clone()));
        }
        if target == Some("queue") && self.get("queue").is_none() {
            // Whoever names a kind of worker has said which queue it takes from.
            let is_alike = had.is_none_or(|had| had["type"] != "queue" || had["queue"] == had["worker_type"]);
            if let Some(kind) = self.get("worker-type").filter(|_| is_alike) {
                patch.set("target.queue", Value::from(kind));
            }
        }
        Ok(patch)
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.given.iter().find(|(flag, _)| flag.name == name);
        found.and_then(|(_, values)| values.first()).map(String::as_str)
    }

    /// The one kind of target that the flags belong to.
    fn target_type(&self, had: Option<&Value>) -> Result<Option<&'static str>, Failure> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        if !self.argv.is_empty() {
            found.push(("process", "a program".to_owned()));
        }
        for (flag, _) in &self.given {
            if let Some(kind) = flag.target.filter(|kind| found.iter().all(|(other, _)| other != kind)) {
                found.push((kind, format!("`--{}`", flag.name)));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(kind, _)] => Ok(Some(kind)),
            // What a program gets beside its arguments does not choose it.
            several if had.is_none() && several.iter().all(|(kind, _)| *kind == "process") => {
                Ok(Some("process"))
            }
            several => {
                let said: Vec<&str> = several.iter().map(|(_, said)| said.as_str()).collect();
                Err(Failure::invalid(
                    format!("{} belong to different targets", said.join(" and ")),
                    "keep those of one target",
                ))
            }
        }
    }

    /// The keys of a new schedule.
    pub(crate) fn keys(&self) -> Result<Map<String, Value>, Failure> {
        let mut keys = Map::new();
        self.patch(None)?.lay(&mut keys, jiff::Timestamp::now());
        let is_queue = |target: &Value| target["type"] == "queue" && target.get("queue").is_none();
        if keys.get("target").is_some_and(is_queue) {
            return Err(Failure::invalid(
                "it is not said which queue its runs go to",
                "give `--queue`, or `--worker-type` for the queue of the same name",
            ));
        }
        Ok(keys)
    }
}

/// How a problem with a key is told: by its flag.
pub(crate) const TOLD: fn(&str) -> String = told;

fn told(path: &str) -> String {
    match path {
        "target.argv" => "the program".to_owned(),
        "name" | "on" => format!("--{path}"),
        "target" => "the target".to_owned(),
        _ => match FLAGS.iter().find(|flag| flag.path == path) {
            Some(flag) => format!("--{}", flag.name),
            None => path.to_owned(),
        },
    }
}
