//! Rule `allowance`: what the pure crates may depend on, so that the compiler itself keeps them pure.

use crate::finding::Finding;
use crate::repository::{Crate, Dependency, Repository};

/// A pure crate and all it may use outside its tests.
pub(crate) struct Pure {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its folder, with `/` at the end.
    pub(crate) folder: &'static str,
    /// Names of the packages, each with the reason.
    allowed: &'static [(&'static str, &'static str)],
}

/// The pure crates.
pub(crate) const PURE: &[Pure] = &[
    Pure {
        name: "punctual-time",
        folder: "crates/punctual-time/",
        allowed: &[("jiff", "zones and calendar arithmetic, without its clock")],
    },
    Pure {
        name: "punctual-plan",
        folder: "crates/punctual-plan/",
        allowed: &[
            ("jiff", "instants, without their clock"),
            ("punctual-time", "specs and their ticks"),
            ("sha2", "the idempotency key and the jitter that follows from it"),
        ],
    },
];

/// Features of jiff that read the host: with them the same spec means something else on another machine.
const JIFF_REFUSED: &[&str] =
    &["std", "tz-system", "tzdb-zoneinfo", "tzdb-concatenated", "tzdb-bundle-platform"];

/// Looks at normal and build dependencies; tests may use anything, an oracle above all.
pub(crate) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for user in &repository.crates {
        if let Some(pure) = PURE.iter().find(|pure| pure.name == user.name) {
            findings.extend(excesses(pure, user));
        }
    }
    findings
}

fn excesses(pure: &Pure, user: &Crate) -> Vec<Finding> {
    let shipped = user.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    shipped
        .flat_map(|dependency| excess(pure, dependency))
        .map(|(what, hint)| {
            Finding::new(&user.manifest_path, 1, format!("pure crate `{}` {what}", pure.name), hint)
        })
        .collect()
}

fn excess(pure: &Pure, dependency: &Dependency) -> Vec<(String, &'static str)> {
    let name = dependency.name.as_str();
    if !pure.allowed.iter().any(|(allowed, _why)| *allowed == name) {
        let names: Vec<&str> = pure.allowed.iter().map(|(allowed, _why)| *allowed).collect();
        let what = format!("depends on `{name}`; allowed: {}", names.join(", "));
        return vec![(
            what,
            "do it in punctual-store or later, or argue for it in an ADR and in `xtask/src/tidy/allowance.rs`",
        )];
    }
    if name != "jiff" {
        return Vec::new();
    }
    let default = dependency.uses_default_features.then_some("default");
    let asked = dependency.features.iter().map(String::as_str);
    let refused = asked.filter(|feature| JIFF_REFUSED.contains(feature)).chain(default);
    let hint = "take jiff with `default-features = false`; zones come from the bundled database";
    refused
        .map(|feature| (format!("takes jiff with feature `{feature}`, which reads the host"), hint))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with one dependency, written `name`, `name dev`, `name +feature` or `name default`.
    fn check_use(user: &str, dependency: &str, expected: &str) {
        let words: Vec<&str> = dependency.split(' ').collect();
        let dependency = Dependency {
            name: words[0].to_owned(),
            kind: words.contains(&"dev").then(|| "dev".to_owned()),
            features: words.iter().filter_map(|word| word.strip_prefix('+')).map(str::to_owned).collect(),
            uses_default_features: words.contains(&"default"),
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
    fn pure_crates_use_what_is_allowed_to_them() {
        check_use("punctual-time", "jiff +alloc", "");
        check_use("punctual-time", "croner dev", "");
        check_use("punctual-engine", "rand", "");
        check_use(
            "punctual-time",
            "rand",
            "Cargo.toml:1: pure crate `punctual-time` depends on `rand`; allowed: jiff",
        );
        check_use(
            "punctual-plan",
            "tokio",
            "Cargo.toml:1: pure crate `punctual-plan` depends on `tokio`; allowed: jiff, punctual-time, sha2",
        );
    }

    #[test]
    fn pure_crates_take_jiff_without_the_host() {
        let refused = |feature: &str| {
            format!(
                "Cargo.toml:1: pure crate `punctual-plan` takes jiff with feature `{feature}`, which reads the host"
            )
        };
        check_use("punctual-plan", "jiff +alloc +std", &refused("std"));
        check_use("punctual-plan", "jiff +tz-system", &refused("tz-system"));
        check_use("punctual-plan", "jiff default", &refused("default"));
    }
}
