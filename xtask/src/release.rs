//! The program as users run it: built for release.

use std::path::PathBuf;

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;
use crate::repository;

/// Builds the program and says where it is.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    shown(&Line::new(["cargo", "build", "--release"]))?;
    Ok(repository::target_directory(&repository::root()?)?.join("release/punctual"))
}
