//! Rule `machine-paths`: what holds only on the machine where it was written does not belong to the project.

use crate::finding::Finding;
use crate::repository::TextFile;

/// Top folders that are somebody's own. They are spelt without their slashes so that this file obeys its rule.
const FOLDERS: &[&str] = &["root", "home", "Users"];

/// Looks for an absolute path that begins with one of [`FOLDERS`].
pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for folder in FOLDERS.iter().map(|name| format!("/{name}/")) {
            if line.match_indices(&folder).any(|(at, _)| is_absolute(&line[..at])) {
                let what = format!("`{folder}…` is a path of one machine");
                let hint =
                    "write it relative to the repository, or take it from a variable or a temporary folder";
                findings.push(Finding::new(&file.path, index + 1, what, hint));
            }
        }
    }
    findings
}

/// Whether a slash after `before` begins a path rather than going on with one.
fn is_absolute(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "._-~}$*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_are_refused() {
        let check_line =
            |line: &str, expected: &str| crate::tidy::example::text(check, "a.md", line, expected);
        for folder in FOLDERS {
            let expected = format!("a.md:2: `/{folder}/…` is a path of one machine");
            check_line(&format!("see\nin `/{folder}/ann/x`"), &expected);
        }
        check_line(
            "https://example.org/home/page, ./home/x, ~/home/x, $TMP/root/x, a nursing-home/ folder",
            "",
        );
        check_line("/usr/lib/postgresql/15/bin and /tmp/x", "");
    }
}
