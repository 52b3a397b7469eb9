//! Goal: what the README and the guides tell people to type works as it is written.
//! Method: every line `$ punctual spec …` of theirs is run by the real program.

use std::path::Path;
use std::process::Command;

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

#[test]
fn every_spec_command_of_the_pages_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for page in ["README.md", "docs/guides/time.md"] {
        let text = std::fs::read_to_string(root.join(page)).expect("the page is there");
        for line in text.lines().filter_map(|line| line.strip_prefix("$ punctual spec ")) {
            let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
                .arg("spec")
                .args(words(line))
                .output()
                .expect("the program starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {line}: {said}");
            assert!(!output.stdout.is_empty() && !output.stdout.ends_with(b"[]}\n"), "{page}: {line}");
            count += 1;
        }
    }
    assert!(count > 15, "the pages show {count} commands");
}
