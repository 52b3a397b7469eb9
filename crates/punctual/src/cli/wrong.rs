//! A command line that cannot be meant: clap says what is wrong with it, and here is added what was probably meant.

use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words for verbs of `schedule`, as other programs have them.
const VERBS: [(&str, &str); 25] = [
    ("create", "create"),
    ("add", "create"),
    ("new", "create"),
    ("list", "list"),
    ("ls", "list"),
    ("get", "get"),
    ("show", "get"),
    ("describe", "get"),
    ("status", "get"),
    ("update", "update"),
    ("edit", "update"),
    ("set", "update"),
    ("enable", "enable"),
    ("resume", "enable"),
    ("unpause", "enable"),
    ("disable", "disable"),
    ("pause", "disable"),
    ("delete", "delete"),
    ("remove", "delete"),
    ("rm", "delete"),
    ("trigger", "trigger"),
    ("run", "trigger"),
    ("start", "trigger"),
    ("history", "history"),
    ("preview", "preview"),
];

/// Says what is wrong and what was probably meant, and ends the process. Asking for help is nothing wrong.
pub(super) fn exit(error: &clap::Error) -> ! {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(hint) = hint(error, &words) {
        // There is nowhere left to report that stderr is gone.
        let _ = error.print();
        let _ = writeln!(std::io::stderr(), "hint: {hint}");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn hint(error: &clap::Error, words: &[String]) -> Option<String> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let is_schedule = words.iter().any(|word| word == "schedule");
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand)?;
            let (_, verb) = VERBS.iter().find(|(known, _)| *known == word)?;
            Some(format!("did you mean `punctual schedule {verb}`?"))
        }
        ErrorKind::UnknownArgument if is_schedule => {
            let word = said(ContextKind::InvalidArg).filter(|word| !word.starts_with('-'))?;
            Some(loose(word, words))
        }
        _ => None,
    }
}

/// What a word was probably meant for that stands where none can.
fn loose(word: &str, words: &[String]) -> String {
    let has =
        |wanted: &str| words.iter().any(|word| word == wanted || word.starts_with(&format!("{wanted}=")));
    let place = words.iter().position(|other| other == word).unwrap_or_default();
    let after = |wanted: &str| place >= 2 && words[place - 2] == wanted;
    // A whole expression may come before a program that lacks its `--`.
    let is_field =
        |flag: &str| flag != "--cron" || word.chars().all(|one| "0123456789*/,-?#LWH".contains(one));
    let flags = ["--cron", "--schedule", "--prompt", "--description", "--every"];
    if let Some(flag) = flags.into_iter().find(|flag| after(flag) && is_field(flag)) {
        return format!("put what belongs to `{flag}` in quotes: `{flag} \"{} {word} …\"`", words[place - 1]);
    }
    let is_named = has("--name") || has("--id") || has("--tag");
    let takes_program = has("create") || has("update");
    match (is_named, takes_program) {
        (true, true) => format!("write the program and its arguments after `--`: `-- {word} …`"),
        _ => format!("name the schedule with `--name {word}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn what_was_probably_meant_is_said() {
        let check = |line: &str, expected: Option<&str>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let whole = std::iter::once("punctual".to_owned()).chain(words.iter().cloned());
            let error = Cli::command().try_get_matches_from(whole).expect_err(line);
            assert_eq!(hint(&error, &words).as_deref(), expected, "{line}");
        };
        check("list", Some("did you mean `punctual schedule list`?"));
        check("trigger backup", Some("did you mean `punctual schedule trigger`?"));
        check("schedule pause --name a", Some("did you mean `punctual schedule disable`?"));
        check("schedule delete backup", Some("name the schedule with `--name backup`"));
        check("schedule runs backup", Some("name the schedule with `--name backup`"));
        check("schedule create a --cron @daily -- true", Some("name the schedule with `--name a`"));
        check(
            "schedule create --name a --cron @daily echo hi",
            Some("write the program and its arguments after `--`: `-- echo …`"),
        );
        check(
            "schedule create --name a --cron 0 3 * * * -- true",
            Some("put what belongs to `--cron` in quotes: `--cron \"0 3 …\"`"),
        );
        check("schedule create --name a --corn x", None);
        check("bogus", None);
        check("--help", None);
    }
}
