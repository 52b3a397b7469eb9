//! A wall clock that is wrong, by a library that stands between a program and the machine's.

use std::path::{Path, PathBuf};

use super::node::Kit;
use crate::failure::Failure;
use crate::ground;

/// A wall clock that can be set while programs go on. What counts the time since the start is the machine's own.
pub(super) struct Wall {
    library: PathBuf,
    file: PathBuf,
}

impl Wall {
    /// One that is right, kept in a file of a folder.
    pub(super) fn new(folder: &Path) -> Result<Self, Failure> {
        let wall = Self { library: ground::faketime()?, file: folder.join("wall") };
        wall.set(0.0)?;
        Ok(wall)
    }

    /// Lets it be ahead of the machine's by so many seconds, from now on.
    pub(super) fn set(&self, ahead_s: f64) -> Result<(), Failure> {
        // Written beside and renamed: whoever reads it meanwhile finds the one or the other.
        let fresh = self.file.with_extension("fresh");
        let written = std::fs::write(&fresh, format!("{ahead_s:+.3}\n"));
        written.and_then(|()| std::fs::rename(&fresh, &self.file)).map_err(|error| {
            Failure::new(format!("the clock cannot be set: {error}"), "is the folder there?")
        })
    }

    /// A program that lives by it.
    pub(super) fn on(&self, kit: &Kit) -> Kit {
        kit.with("LD_PRELOAD", self.library.display().to_string())
            .with("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string())
            .with("FAKETIME_NO_CACHE", "1")
            .with("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }
}
