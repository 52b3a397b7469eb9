//! What is stored as a file: its sections, then the schedules one by one.

use std::io::{self, BufWriter, Write};

use punctual::{Failure, Publication, Publishing};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, note, written};

/// The file as JSON.
pub(crate) async fn json(mut file: Publishing<'_>) -> Result<(), Failure> {
    let mut answer = Answer::begin()?;
    for (section, value) in &file.sections {
        answer.value(section, value)?;
    }
    answer.begin_list("schedules")?;
    while let Some(schedules) = file.next().await? {
        schedules.into_iter().filter_map(keys).try_for_each(|keys| answer.item(&keys))?;
    }
    answer.end_list()?;
    answer.end()
}

/// The file as YAML. Each schedule is written as a list of one, which stands under the key as well as by itself.
pub(crate) async fn yaml(mut file: Publishing<'_>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout());
    let mut put = |text: String| written(out.write_all(text.as_bytes()));
    if !file.sections.is_empty() {
        put(in_yaml(&file.sections)?)?;
    }
    let mut is_empty = true;
    while let Some(schedules) = file.next().await? {
        for keys in schedules.into_iter().filter_map(keys) {
            if std::mem::take(&mut is_empty) {
                put("schedules:\n".to_owned())?;
            }
            put(in_yaml(&[keys])?)?;
        }
    }
    if is_empty {
        put("schedules: []\n".to_owned())?;
    }
    written(out.flush())
}

/// The keys of a schedule; one without is told.
fn keys(one: Publication) -> Option<Map<String, Value>> {
    match one {
        Publication::Keys(keys) => Some(keys),
        Publication::LeftOut { name, error } => {
            note(&format!("`{name}` is left out, it cannot be read any more: {error}"));
            None
        }
    }
}

fn in_yaml(value: &impl Serialize) -> Result<String, Failure> {
    serde_saphyr::to_string(value).map_err(|error| Failure::world(error.to_string()))
}
