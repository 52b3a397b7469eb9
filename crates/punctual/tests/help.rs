//! Goal: every page of help stays as it is until somebody means to change it; no command is left out.
//! Method: the tree is walked as a reader would, from each page to the commands that it lists.

use std::process::Command;

/// What `punctual … --help` prints.
fn page(path: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(path)
        .arg("--help")
        .env_remove("DATABASE_URL")
        .env("COLUMNS", "100")
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The commands that a page lists, but for `help` itself.
fn below(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = entries.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// A page and all pages below it, in the order in which they are listed.
fn pages(path: &[String]) -> Vec<(String, String)> {
    let text = page(path);
    let children = below(&text);
    let mut all = vec![(path.join(" "), text)];
    for name in children {
        all.extend(pages(&[path, &[name]].concat()));
    }
    all
}

#[test]
fn every_help_page_reads_as_it_did() {
    let all = pages(&[]);
    assert!(all.len() > 60, "there are {} pages", all.len());
    for part in ["", "schedule", "request", "spec", "db", "system", "secret", "audit", "config"] {
        let is_part = |name: &str| {
            let first = name.split(' ').next().unwrap_or_default();
            let is_grouped =
                ["schedule", "request", "spec", "db", "system", "secret", "audit", "config"].contains(&first);
            if part.is_empty() { !is_grouped } else { first == part }
        };
        let texts = all.iter().filter(|(name, _)| is_part(name));
        let text: Vec<String> =
            texts.map(|(name, page)| format!("$ punctual {name} --help\n{page}")).collect();
        let file = if part.is_empty() { "punctual" } else { part };
        insta::assert_snapshot!(file, text.join("\n"));
    }
}

#[test]
fn a_page_says_what_its_command_is_for() {
    for (name, text) in pages(&[]) {
        let first = text.lines().next().unwrap_or_default();
        assert!(first.len() > 10 && !first.starts_with("Usage"), "{name}: {first}");
        assert!(text.contains("Usage: punctual"), "{name}");
    }
}
