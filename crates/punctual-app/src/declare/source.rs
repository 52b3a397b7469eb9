//! Where declarations come from: one file, or the YAML files of a folder in the order of their names.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::parse::FILE_BYTES_MAX;
use super::problem::Source;
use crate::{Failure, Kind};

/// Files of one folder.
const FILES_MAX: usize = 1000;

/// Reads the file, or the files of the folder.
pub(super) fn load(path: &Path) -> Result<Vec<Source>, Failure> {
    let about = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if about.is_file() || !about.is_dir() {
        return Ok(vec![read(path)?]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let file = entry.map_err(|error| unreadable(path, &error))?.path();
        if is_yaml(&file) && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("`{}` holds no YAML file", path.display());
        return Err(Failure::invalid(message, "give it files that end in `.yaml` or `.yml`"));
    }
    if files.len() > FILES_MAX {
        let message = format!("`{}` holds {} files, the limit is {FILES_MAX}", path.display(), files.len());
        return Err(Failure::invalid(message, "put more schedules into one file"));
    }
    files.iter().map(|file| read(file)).collect()
}

fn is_yaml(file: &PathBuf) -> bool {
    let is_hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let ending = Path::new(file).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    !is_hidden && matches!(ending.as_deref(), Some("yaml" | "yml"))
}

/// Reads no more than is needed to see that a file is too large.
fn read(path: &Path) -> Result<Source, Failure> {
    let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::new();
    let most = FILE_BYTES_MAX as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text }),
        Err(error) => {
            let line =
                error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
            Err(Failure::invalid(format!("{name}:{line}: this is not UTF-8 text"), "save the file as UTF-8"))
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => Kind::Invalid,
        _ => Kind::World,
    };
    let message = format!("cannot read `{}`: {error}", path.display());
    Failure { kind, message, hint: Some("give the path of a YAML file, or of a folder of them".to_owned()) }
}
