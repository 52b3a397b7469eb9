//! The repository as the rules see it: its files, its parsed Rust sources and its crates.
//!
//! Start with [`Repository::read`]. Rules never touch the disk themselves, so that a test can hand them a
//! repository of three lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;
use crate::finding::Finding;
use crate::line::Line;
use crate::rust_file::RustFile;

/// Everything that the rules look at.
#[derive(Default)]
pub(crate) struct Repository {
    /// Text files, Rust and SQL included.
    pub(crate) texts: Vec<TextFile>,
    /// Rust files, parsed.
    pub(crate) rust: Vec<RustFile>,
    /// Members of the workspace.
    pub(crate) crates: Vec<Crate>,
    /// Every file and folder, also those that are not text.
    pub(crate) places: BTreeSet<String>,
    /// Rust files that could not be parsed.
    pub(crate) unreadable: Vec<Finding>,
}

/// A file that is valid UTF-8.
pub(crate) struct TextFile {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

/// A member of the workspace, as `cargo metadata` tells it.
#[derive(Deserialize)]
pub(crate) struct Crate {
    /// Name of the package.
    pub(crate) name: String,
    /// Its `Cargo.toml`; made relative to the root by [`Repository::read`].
    pub(crate) manifest_path: String,
    /// What it depends on, workspace inheritance resolved.
    pub(crate) dependencies: Vec<Dependency>,
    /// What it builds.
    pub(crate) targets: Vec<Target>,
}

/// One entry under `[dependencies]`, `[dev-dependencies]` or `[build-dependencies]`.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// Name of the package depended upon.
    pub(crate) name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Features asked for.
    pub(crate) features: Vec<String>,
    /// Whether the default features are asked for as well.
    pub(crate) uses_default_features: bool,
}

/// A library, program, test or example of a crate.
#[derive(Deserialize)]
pub(crate) struct Target {
    /// Its name.
    pub(crate) name: String,
    /// `lib`, `bin`, `test`, `example` …
    pub(crate) kind: Vec<String>,
    /// Features without which it is not built.
    #[serde(default, rename = "required-features")]
    pub(crate) required_features: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    target_directory: PathBuf,
}

impl Repository {
    /// Reads all files that git knows or would add, and the crates.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let mut repository = Self { crates: crates(root)?, ..Self::default() };
        for path in listed(root)? {
            repository.add_place(&path);
            // A file that git lists but that was deleted, or that is not text, has no text to look at.
            let Ok(bytes) = std::fs::read(root.join(&path)) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            repository.add_text(path, text);
        }
        repository.mark_test_modules();
        Ok(repository)
    }

    /// Adds one text file, parsing it if it is Rust.
    pub(crate) fn add_text(&mut self, path: String, text: String) {
        if path.ends_with(".rs") {
            match RustFile::parse(&path, &text) {
                Ok(file) => self.rust.push(file),
                Err(finding) => self.unreadable.push(finding),
            }
        }
        self.texts.push(TextFile { path, text });
    }

    /// Remembers a file and the folders above it.
    pub(crate) fn add_place(&mut self, path: &str) {
        let above = Path::new(path).ancestors().filter_map(Path::to_str);
        self.places.extend(above.map(str::to_owned));
    }

    /// A file whose `mod` line stands under `#[cfg(test)]` in its parent is test code as a whole.
    pub(crate) fn mark_test_modules(&mut self) {
        let modules: Vec<String> = self.rust.iter().flat_map(RustFile::test_modules).collect();
        for file in &mut self.rust {
            let is_test = |module: &String| {
                file.path
                    .strip_prefix(module.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if modules.iter().any(is_test) {
                file.become_test();
            }
        }
    }
}

/// The folder of the workspace: the nearest one above that holds `xtask/Cargo.toml`.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(error.to_string(), "change to the repository"))?;
    let found = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
    found.map(Path::to_path_buf).ok_or_else(|| {
        Failure::new(format!("`{}` is not inside the repository", here.display()), "change to the repository")
    })
}

/// Where cargo puts what it builds.
pub(crate) fn target_directory(root: &Path) -> Result<PathBuf, Failure> {
    Ok(metadata(root)?.target_directory)
}

/// The members of the workspace.
pub(crate) fn crates(root: &Path) -> Result<Vec<Crate>, Failure> {
    let mut packages = metadata(root)?.packages;
    let prefix = format!("{}/", root.display());
    for package in &mut packages {
        package.manifest_path = package.manifest_path.replacen(&prefix, "", 1);
    }
    Ok(packages)
}

fn metadata(root: &Path) -> Result<Metadata, Failure> {
    let manifest = root.join("Cargo.toml").display().to_string();
    let words =
        ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest.as_str()];
    let text = Line::new(words).output()?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(format!("`cargo metadata` is not understood: {error}"), "is cargo too old?")
    })
}

fn listed(root: &Path) -> Result<Vec<String>, Failure> {
    let folder = root.display().to_string();
    let words =
        ["git", "-C", folder.as_str(), "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let text = Line::new(words).output()?;
    let mut paths: Vec<String> =
        text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    paths.retain(|path| root.join(path).exists());
    Ok(paths)
}
