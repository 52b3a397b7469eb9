//! Goal: what the README and the guides tell people to type works as it is written, and says what they say.
//! Method: every line `$ punctual spec …` and `$ punctual simulate …` of theirs is run by the real program; tables that
//! stand under a command are compared with what it prints. The commands about schedules share a database, in their order.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The words of a line as a shell would pass them; the pages use double quotes only.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(words: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
        .current_dir(root())
        .args(words)
        .output()
        .expect("the program starts")
}

/// The commands of a page that begin in some way, and what stands under each until its block ends.
fn commands(page: &str, verb: &str) -> Vec<(Vec<String>, String)> {
    let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let text = text.replace("\\\n", " ");
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    let mut is_under = false;
    for line in text.lines() {
        match line.strip_prefix("$ punctual ") {
            Some(command) if command.starts_with(verb) => {
                found.push((words(command), String::new()));
                is_under = true;
            }
            _ if line.starts_with("```") || line.starts_with("$ ") => is_under = false,
            _ => {
                if let Some((_, under)) = found.last_mut().filter(|_| is_under) {
                    *under += line;
                    under.push('\n');
                }
            }
        }
    }
    found
}

#[test]
fn every_spec_command_of_the_pages_works() {
    let mut count = 0;
    for page in ["README.md", "docs/guides/time.md"] {
        for (words, _) in commands(page, "spec ") {
            let output = run(&words);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {words:?}: {said}");
            assert!(!output.stdout.is_empty() && !output.stdout.ends_with(b"[]}\n"), "{page}: {words:?}");
            count += 1;
        }
    }
    assert!(count > 15, "the pages show {count} commands");
}

#[test]
fn every_trial_of_the_pages_prints_what_they_show() {
    let mut count = 0;
    for page in ["README.md", "docs/guides/simulate.md"] {
        for (mut words, under) in commands(page, "simulate ") {
            if !words.iter().any(|word| word == "--as") {
                // People see a table; this is a pipe.
                words.extend(["--as", "table"].map(str::to_owned));
            }
            let output = run(&words);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {words:?}: {said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), under, "{page}: {words:?}");
            count += 1;
        }
    }
    assert!(count > 8, "the pages show {count} trials");
}

#[test]
fn every_command_about_schedules_works_after_the_one_before() {
    let home = tempfile::tempdir().expect("a folder");
    let mut count = 0;
    for (words, _) in commands("docs/guides/schedules.md", "") {
        let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .current_dir(home.path())
            .args(&words)
            .env_remove("DATABASE_URL")
            .env("XDG_DATA_HOME", home.path())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        count += 1;
    }
    assert!(count > 15, "the page shows {count} commands");
}
