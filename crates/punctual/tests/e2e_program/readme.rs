//! Goal: a reader who types what the README shows, from its first line to its last, sees each command work.
//! Method: every line that begins with `$` is run in its order by a shell, at the root, beside a server of its own.

use std::path::Path;
use std::process::Command;

use crate::driver::{Person, Serving};

#[test]
fn the_readme_works_command_by_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).expect("it is there");
    let person = Person::new();
    let mut serving: Option<Serving> = None;
    let mut verbs: Vec<String> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let line = line.split(" #").next().expect("a part").trim_end();
        match line.strip_prefix("punctual ") {
            Some(arguments) => {
                assert!(serving.is_some(), "the server comes first: {line}");
                check(&person, &root, arguments);
                verbs.extend(arguments.split(' ').next().map(str::to_owned));
            }
            None if line == "cargo run --release -- serve" => serving = Some(person.serve()),
            // The checks of the repository run this test; they are not run by it.
            None => assert_eq!(line, "cargo xtask check"),
        }
    }
    for verb in ["schedule", "runs", "why", "plan", "apply", "simulate", "audit", "spec", "system"] {
        assert!(verbs.iter().any(|shown| shown == verb), "the README shows `{verb}`");
    }
    serving.expect("the README serves").stop();
}

fn check(person: &Person, root: &Path, arguments: &str) {
    let program = person.command(&[]);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("\"$0\" {arguments}")).arg(program.get_program()).current_dir(root);
    shell
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env_remove("DATABASE_URL");
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "{arguments}");
}
