//! Rule `direction`: the crates stand in one line, and each uses only those before it.

use crate::finding::Finding;
use crate::repository::{Crate, Repository};

/// The line, in the order of use.
pub(super) const LINE: &[&str] = &[
    "punctual-time",
    "punctual-plan",
    "punctual-store",
    "punctual-engine",
    "punctual-app",
    "punctual-server",
    "punctual",
];

/// Crates beside the line: tools, simulators, measurements. They use what they need; the line never uses them.
const BESIDE: &[&str] = &["punctual-sim", "punctual-bench", "fuzz", "xtask"];

/// Looks at every kind of dependency, those of tests too: a test that needs a later crate belongs to that crate.
pub(crate) fn check(repository: &Repository) -> Vec<Finding> {
    repository.crates.iter().flat_map(wrong_uses).collect()
}

fn wrong_uses(user: &Crate) -> Vec<Finding> {
    if BESIDE.contains(&user.name.as_str()) {
        return Vec::new();
    }
    let Some(place) = place(&user.name) else {
        let what = format!("crate `{}` has no place in the line {}", user.name, LINE.join(" <- "));
        let hint = "a new crate needs a second caller and a place in `xtask/src/tidy/direction.rs`";
        return vec![Finding::new(&user.manifest_path, 1, what, hint)];
    };
    let is_later = |name: &str| BESIDE.contains(&name) || self::place(name).is_some_and(|used| used >= place);
    let wrong = user.dependencies.iter().filter(|dependency| is_later(&dependency.name));
    let finding = |used: &str| {
        let what = format!("`{}` depends on `{used}`, but the direction is {}", user.name, LINE.join(" <- "));
        Finding::new(
            &user.manifest_path,
            1,
            what,
            "move what is needed to the earlier crate, or the caller to the later one",
        )
    };
    wrong.map(|dependency| finding(&dependency.name)).collect()
}

fn place(name: &str) -> Option<usize> {
    LINE.iter().position(|crate_| *crate_ == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Dependency;

    fn check_use(user: &str, used: &str, expected: &str) {
        let dependency = Dependency {
            name: used.to_owned(),
            kind: None,
            features: Vec::new(),
            uses_default_features: true,
        };
        let user = Crate {
            name: user.to_owned(),
            manifest_path: "Cargo.toml".to_owned(),
            dependencies: vec![dependency],
            targets: Vec::new(),
        };
        crate::tidy::example::same(
            &check(&Repository { crates: vec![user], ..Repository::default() }),
            expected,
        );
    }

    #[test]
    fn a_crate_uses_only_those_before_it() {
        let line = LINE.join(" <- ");
        check_use("punctual-plan", "punctual-time", "");
        check_use("punctual", "punctual-time", "");
        check_use("punctual-store", "rusqlite", "");
        check_use("punctual-sim", "punctual", "");
        let wrong =
            format!("Cargo.toml:1: `punctual-time` depends on `punctual-plan`, but the direction is {line}");
        check_use("punctual-time", "punctual-plan", &wrong);
        let wrong =
            format!("Cargo.toml:1: `punctual-engine` depends on `punctual-sim`, but the direction is {line}");
        check_use("punctual-engine", "punctual-sim", &wrong);
    }

    #[test]
    fn a_crate_outside_the_line_is_asked_for_its_place() {
        let wrong =
            format!("Cargo.toml:1: crate `punctual-types` has no place in the line {}", LINE.join(" <- "));
        check_use("punctual-types", "serde", &wrong);
    }
}
