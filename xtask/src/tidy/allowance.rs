//! Rule `allowance`: what the pure crates may depend on, so that the compiler itself keeps them pure, and which
//! features of jiff no crate may ask for.

use super::direction::LINE;
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
            ("serde_json", "payloads and what targets carry, as values"),
            ("uuid", "the form of a schedule's id; it makes none"),
            ("sha2", "the idempotency key and the jitter that follows from it"),
        ],
    },
];

/// Features of jiff that read the host; the pure crates take none of them.
const READS_HOST: &[&str] =
    &["default", "std", "tz-system", "tzdb-zoneinfo", "tzdb-concatenated", "tzdb-bundle-platform"];

/// Features of uuid that make ids, and so need a clock or a random number.
const MAKES_IDS: &[&str] = &["v1", "v4", "v6", "v7", "rng", "rng-getrandom", "rng-rand", "fast-rng"];

/// What to do about such a feature.
const UUID_HINT: &str = "let the caller make the id and pass it in";

/// Those of them that prefer the host's zone files to the bundled ones. No crate of the line takes them: with them the
/// same zone name would mean other ticks on another machine, for the pure crates too, as Cargo unifies features.
const PREFERS_HOST_ZONES: &[&str] =
    &["default", "tzdb-zoneinfo", "tzdb-concatenated", "tzdb-bundle-platform"];

const JIFF_HINT: &str = "take jiff with `default-features = false`; zones come from the bundled database";

const CRATE_HINT: &str =
    "do it in punctual-store or later, or argue for it in an ADR and in `xtask/src/tidy/allowance.rs`";

/// Looks at normal and build dependencies; tests may use anything, an oracle above all.
pub(crate) fn check(repository: &Repository) -> Vec<Finding> {
    let line = repository.crates.iter().filter(|user| LINE.contains(&user.name.as_str()));
    line.flat_map(excesses).collect()
}

fn excesses(user: &Crate) -> Vec<Finding> {
    let shipped = user.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    let said = |(what, hint)| Finding::new(&user.manifest_path, 1, format!("`{}` {what}", user.name), hint);
    match PURE.iter().find(|pure| pure.name == user.name) {
        Some(pure) => shipped.flat_map(|used| excess(pure, used)).map(said).collect(),
        None => shipped.flat_map(|used| refused_features(used, PREFERS_HOST_ZONES)).map(said).collect(),
    }
}

fn excess(pure: &Pure, used: &Dependency) -> Vec<(String, &'static str)> {
    let names: Vec<&str> = pure.allowed.iter().map(|(name, _why)| *name).collect();
    if names.contains(&used.name.as_str()) {
        return [refused_features(used, READS_HOST), random_features(used)].concat();
    }
    vec![(format!("is pure but depends on `{}`; allowed: {}", used.name, names.join(", ")), CRATE_HINT)]
}

fn refused_features(used: &Dependency, refused: &[&str]) -> Vec<(String, &'static str)> {
    let default = used.uses_default_features.then_some("default");
    let asked = used.features.iter().map(String::as_str).chain(default);
    let found = asked.filter(|feature| used.name == "jiff" && refused.contains(feature));
    found.map(|feature| (format!("takes jiff with `{feature}`, which reads the host"), JIFF_HINT)).collect()
}

fn random_features(used: &Dependency) -> Vec<(String, &'static str)> {
    let asked = used.features.iter().map(String::as_str);
    let found = asked.filter(|feature| used.name == "uuid" && MAKES_IDS.contains(feature));
    found.map(|feature| (format!("takes uuid with `{feature}`, which makes random ids"), UUID_HINT)).collect()
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
        let wrong = "Cargo.toml:1: `punctual-time` is pure but depends on `rand`; allowed: jiff";
        check_use("punctual-time", "rand", wrong);
        let wrong = "Cargo.toml:1: `punctual-plan` is pure but depends on `tokio`; allowed: jiff, punctual-time, serde_json, uuid, sha2";
        check_use("punctual-plan", "tokio", wrong);
        let wrong = "Cargo.toml:1: `punctual-plan` takes uuid with `v4`, which makes random ids";
        check_use("punctual-plan", "uuid +v4", wrong);
        check_use("punctual-engine", "uuid +v4", "");
    }

    #[test]
    fn jiff_comes_without_the_host() {
        let refused = |user: &str, feature: &str| {
            format!("Cargo.toml:1: `{user}` takes jiff with `{feature}`, which reads the host")
        };
        check_use("punctual-plan", "jiff +alloc +std", &refused("punctual-plan", "std"));
        check_use("punctual-plan", "jiff +tz-system", &refused("punctual-plan", "tz-system"));
        check_use("punctual-plan", "jiff default", &refused("punctual-plan", "default"));
        check_use("punctual-engine", "jiff +std +tz-system", "");
        check_use("punctual-engine", "jiff +tzdb-zoneinfo", &refused("punctual-engine", "tzdb-zoneinfo"));
        check_use("punctual", "jiff default", &refused("punctual", "default"));
    }
}
