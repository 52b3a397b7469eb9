//! Installs Debian packages when we are root or have `sudo` without a password, and says what to type when not.

use std::path::Path;

use crate::check::shown;
use crate::failure::Failure;
use crate::ground::found;
use crate::line::Line;

/// Read by Debian's PostgreSQL packages. Without it, installing the server also starts one on the usual port.
const CLUSTER_FILE: &str = "/etc/postgresql-common/createcluster.conf";

/// Whom to ask for the right to install.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    Root,
    Sudo,
    None,
}

/// Installs the packages, or fails with the line that a person with the right can type.
pub(crate) fn install(packages: &[&str]) -> Result<(), Failure> {
    let manual =
        format!("apt-get update && apt-get install --yes --no-install-recommends {}", packages.join(" "));
    let right = right();
    if right == Right::None || found("apt-get").is_none() {
        let what = format!("missing: {}; this user may not install them here", packages.join(", "));
        return Err(Failure::new(what, format!("as root, or with your system's own packages: {manual}")));
    }
    if packages.contains(&"postgresql") && !Path::new(CLUSTER_FILE).exists() {
        let script = format!(
            "mkdir -p \"$(dirname {CLUSTER_FILE})\" && echo 'create_main_cluster = false' > {CLUSTER_FILE}"
        );
        shown(&line(right, &["sh", "-c", &script]))?;
    }
    shown(&line(right, &["apt-get", "update", "--quiet"]))?;
    let fixed = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "install",
        "--quiet",
        "--yes",
        "--no-install-recommends",
    ];
    shown(&line(right, &[&fixed, packages].concat()))
}

fn line(right: Right, words: &[&str]) -> Line {
    let before: &[&str] = if right == Right::Sudo { &["sudo", "-n"] } else { &[] };
    Line::new(before.iter().chain(words).copied())
}

fn right() -> Right {
    if is_root() {
        Right::Root
    } else if Line::new(["sudo", "-n", "true"]).output().is_ok() {
        Right::Sudo
    } else {
        Right::None
    }
}

/// Whether this process is root's.
pub(crate) fn is_root() -> bool {
    Line::new(["id", "-u"]).output().is_ok_and(|id| id.trim() == "0")
}
