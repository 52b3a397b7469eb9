//! A database on the screen.

use punctual::Failure;
use punctual_store::{DatabaseStatus, Finding};
use serde_json::{Map, Value, json};

use super::Output;
use super::table::table;

/// What a database holds.
pub(crate) fn status(output: &Output, status: &DatabaseStatus) -> Result<(), Failure> {
    let rows: Map<String, Value> =
        status.rows.iter().map(|(table, count)| (table.name().to_owned(), json!(count))).collect();
    let json = json!({
        "database": status.place,
        "schema": status.schema,
        "tz_version": status.tz_version,
        "bytes": status.bytes,
        "rows": rows,
    });
    output.write(&json, || {
        let head = format!(
            "{}\nschema {}, tz database {}, {} bytes\n\n",
            status.place, status.schema, status.tz_version, status.bytes
        );
        let cells = status.rows.iter().filter(|(_, count)| *count > 0);
        let cells = cells.map(|(table, count)| vec![table.name().to_owned(), count.to_string()]);
        head + &table(&["TABLE", "ROWS"], cells)
    })
}

/// What a check found.
pub(crate) fn findings(output: &Output, findings: &[Finding]) -> Result<(), Failure> {
    let json: Vec<Value> =
        findings.iter().map(|one| json!({"table": one.table, "row": one.row, "what": one.what})).collect();
    output.write(&json!({"findings": json}), || {
        if findings.is_empty() {
            return "nothing is wrong\n".to_owned();
        }
        let cells = findings.iter().map(|one| vec![one.table.to_owned(), one.row.clone(), one.what.clone()]);
        table(&["TABLE", "ROW", "WHAT"], cells)
    })
}
