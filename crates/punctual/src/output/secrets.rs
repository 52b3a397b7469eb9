//! Secrets on the screen: names and dates, never a value.

use jiff::tz::TimeZone;
use punctual::{Failure, SecretRow};
use serde_json::{Value, json};

use super::table::table;
use super::{Output, clock};

/// A secret in JSON.
pub(crate) fn shown(row: &SecretRow) -> Value {
    json!({"name": row.name, "version": row.version, "updated_at": row.updated_at})
}

/// All of them.
pub(crate) fn list(output: &Output, rows: &[SecretRow]) -> Result<(), Failure> {
    let json = json!({"secrets": rows.iter().map(shown).collect::<Vec<_>>()});
    output.write(&json, || {
        if rows.is_empty() {
            return "there are no secrets; put one with `punctual secret put NAME`\n".to_owned();
        }
        let cells = rows.iter().map(|row| vec![row.name.clone(), clock(row.updated_at, &TimeZone::UTC)]);
        table(&["NAME", "PUT"], cells)
    })
}
