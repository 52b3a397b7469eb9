//! Goal: every command either does its work through a server or says why not; a new command without a decision fails.
//! Method: the commands are those that the pages of help list; each is tried on a real server with `--server`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use crate::driver::Person;

/// What becomes of a command with `--server`.
enum Told {
    /// It works, with these arguments.
    Works(&'static [&'static str]),
    /// It is not for servers, and says so with this reason.
    Here(&'static [&'static str], &'static str),
    /// It asks nobody.
    Alone(&'static [&'static str]),
}

use Told::{Alone, Here, Works};

/// Every command in an order in which each finds what it needs. A file of the test's folder is written `@NAME`.
#[rustfmt::skip]
const COMMANDS: &[(&str, Told)] = &[
    ("schedule create", Works(&["--name", "a", "--cron", "0 3 1 1 *", "--queue", "q"])),
    ("schedule create", Works(&["--file", "@jobs.yaml", "--dry-run"])),
    ("schedule create", Works(&["--file", "@jobs.yaml"])),
    ("schedule list", Works(&[])),
    ("schedule get", Works(&["--name", "of-file"])),
    ("schedule update", Works(&["--name", "a", "--cron", "0 4 1 1 *"])),
    ("schedule disable", Works(&["--name", "a"])),
    ("schedule enable", Works(&["--name", "a"])),
    ("schedule preview", Works(&["--name", "a"])),
    ("schedule history", Works(&["--name", "a"])),
    ("schedule rollback", Works(&["--name", "a", "--to", "1"])),
    ("schedule trigger", Works(&["--name", "a"])),
    ("schedule runs", Works(&["--name", "a"])),
    ("schedule run-details", Works(&["--run-id", "run-1"])),
    ("schedule validate-cron", Alone(&["0 3 * * *"])),
    ("schedule parse", Alone(&["every day at 9"])),
    ("request create", Works(&["--queue", "q", "--prompt", "look"])),
    ("runs", Works(&[])),
    ("logs", Works(&["run-1"])),
    ("why", Works(&["--run", "run-1"])),
    ("audit", Works(&["a"])),
    ("audit", Works(&["--all"])),
    ("audit log", Works(&["--limit", "5000"])),
    ("audit verify", Works(&[])),
    ("cancel", Works(&["run-1"])),
    ("retry", Works(&["run-1"])),
    ("backfill", Works(&["a", "--from", "2020-01-01", "--to", "2022-01-01"])),
    ("backfill", Works(&["a", "--from", "2020-01-01", "--to", "2022-01-01", "--yes", "--key", "k"])),
    ("workflow put", Works(&["@dag.json", "--dry-run"])),
    ("workflow put", Works(&["@dag.json"])),
    ("workflow list", Works(&[])),
    ("workflow get", Works(&["--id", "report"])),
    ("workflow rm", Works(&["--id", "report", "--dry-run"])),
    ("workflow rm", Works(&["--id", "report"])),
    ("system breaker", Works(&["a", "--reset"])),
    ("system nodes", Works(&[])),
    ("system maintenance on", Works(&["--note", "new disks"])),
    ("system maintenance status", Works(&[])),
    ("system maintenance off", Works(&[])),
    ("system maintenance on", Here(&["--note", "x", "--installation"], "a token is good for one org")),
    ("system maintenance off", Here(&["--installation"], "a token is good for one org")),
    ("system doctor", Here(&[], "the disk, the clock and the files of the host")),
    ("schedule delete", Works(&["--name", "a"])),
    ("complete", Works(&["names", "of"])),
    ("serve", Here(&[], "it is itself a server")),
    ("worker", Here(&["--queue", "q", "--", "true"], "workers in any language lease them")),
    ("secret put", Here(&["x"], "never go over HTTP")),
    ("secret list", Here(&[], "never go over HTTP")),
    ("secret rm", Here(&["x"], "never go over HTTP")),
    ("db status", Here(&[], "the files or the tables of the database")),
    ("db migrate", Here(&[], "the files or the tables of the database")),
    ("db check", Here(&[], "the files or the tables of the database")),
    ("db backup", Here(&["x.db"], "the files or the tables of the database")),
    ("db vacuum", Here(&[], "the files or the tables of the database")),
    ("db copy", Here(&["a.db", "b.db"], "the files or the tables of the database")),
    ("plan", Here(&["@jobs.yaml"], "compared with all that is stored")),
    ("plan", Alone(&["@jobs.yaml", "--alone"])),
    ("apply", Here(&["@jobs.yaml"], "compared with all that is stored")),
    ("export", Here(&[], "as one file")),
    ("config show", Alone(&[])),
    ("simulate", Alone(&["@jobs.yaml"])),
    ("schema", Alone(&[])),
    ("completions", Alone(&["bash"])),
    ("man", Alone(&[])),
    ("spec next", Alone(&["0 3 * * *"])),
    ("spec prev", Alone(&["0 3 * * *"])),
    ("spec describe", Alone(&["0 3 * * *"])),
    ("spec validate", Alone(&["0 3 * * *"])),
    ("spec explain", Alone(&["0 3 * * *", "--at", "2026-01-01T03:00:00Z"])),
    ("spec parse", Alone(&["every day at 9"])),
];

/// The commands that a page of help lists, those below them in their place.
fn listed(person: &Person, path: &[String]) -> BTreeSet<String> {
    let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let page = String::from_utf8(person.run(&words).stdout).expect("text");
    let lines = page.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = entries.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let below: BTreeSet<String> =
        names.flat_map(|name| listed(person, &[path, &[name.to_owned()]].concat())).collect();
    // One that does something itself, beside those below it, says so by its arguments.
    let does_itself = below.is_empty() || page.contains("[SCHEDULE]");
    let own = does_itself.then(|| path.join(" ")).filter(|path| !path.is_empty());
    below.into_iter().chain(own).collect()
}

#[test]
fn every_command_works_through_a_server_or_says_why_not() {
    let person = Person::new();
    let decided: BTreeSet<String> = COMMANDS.iter().map(|(command, _)| (*command).to_owned()).collect();
    let mut known = listed(&person, &[]);
    // It is for completion scripts, and on no page.
    known.insert("complete".to_owned());
    assert_eq!(known, decided, "decide what becomes of each command with `--server`");
    write_files(person.home());
    let serving = person.serve();
    let token =
        std::fs::read_to_string(person.home().join("data/punctual/punctual.db.token")).expect("a token");
    for (command, told) in COMMANDS {
        let (Works(arguments) | Here(arguments, _) | Alone(arguments)) = told;
        let output = ask(&person, (&serving.url(), token.trim()), command, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = format!("{command} {arguments:?}: {said}");
        match told {
            Works(_) => assert!(output.status.success(), "{line}"),
            Here(_, why) => {
                assert!(output.status.code() == Some(4) && said.contains(why), "{line}");
                assert!(said.contains("hint: run it on the host of the server"), "{line}");
            }
            Alone(_) => {
                assert!(output.status.code() == Some(2), "{line}");
                assert!(said.contains("`--server` has no meaning here"), "{line}");
            }
        }
    }
    serving.stop();
}

fn write_files(home: &Path) {
    let jobs = "schedules:\n- {name: of-file, cron: 0 3 1 1 *, target: {type: queue, queue: q}}\n";
    std::fs::write(home.join("jobs.yaml"), jobs).expect("written");
    let dag = r#"{"id": "report", "version": 1, "nodes": [],
        "triggers": [{"id": "daily", "type": "schedule_based", "cron_expr": "0 6 1 1 *"}]}"#;
    std::fs::write(home.join("dag.json"), dag).expect("written");
}

fn ask(person: &Person, (url, token): (&str, &str), command: &str, arguments: &[&str]) -> Output {
    let folder = person.home().display();
    let words: Vec<String> = ["--server", url]
        .into_iter()
        .chain(command.split(' '))
        .chain(arguments.iter().copied())
        .map(|word| word.strip_prefix('@').map_or(word.to_owned(), |file| format!("{folder}/{file}")))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut asked = person.command(&words);
    // Nothing of the host helps: what is answered comes from the server.
    asked.env("PUNCTUAL_TOKEN", token).env("XDG_DATA_HOME", "/nonexistent");
    asked.stdin(std::process::Stdio::null()).output().expect("it starts")
}

#[test]
fn a_ledger_is_followed_through_the_socket_and_through_a_server() {
    let person = Person::new();
    let serving = person.serve();
    person.json(&["schedule", "create", "--name", "f", "--cron", "0 3 1 1 *", "--", "echo", "x"]);
    for place in [vec![], vec!["--server".to_owned(), serving.url()]] {
        let words: Vec<&str> = place.iter().map(String::as_str).chain(["runs", "f", "--follow"]).collect();
        let mut command = person.command(&words);
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
        let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("a pipe")));
        let asked = person.json(&["schedule", "trigger", "--name", "f"]);
        let run = asked["run_id"].as_str().expect("a run").to_owned();
        let ended = lines.map_while(Result::ok).find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
            (line["run"]["id"] == *run && line["run"]["status"] == "success").then_some(line)
        });
        assert_eq!(ended.expect("the run is told")["run"]["output"], "x\n");
        child.kill().expect("it follows on");
        child.wait().expect("it ended");
    }
    serving.stop();
}
