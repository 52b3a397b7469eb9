//! The database as a whole: what there is, and its tables for copying.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, params_from_iter};

use super::connection::{Db, doing, execute};
use super::decode::column;
use super::{Sqlite, sql};
use crate::{Cell, DatabaseStatus, Error, Guarantee, Table};

/// What there is.
pub(super) fn status(db: &Db, place: String) -> Result<DatabaseStatus, Error> {
    let size = |ending: &str| std::fs::metadata(format!("{place}{ending}")).map_or(0, |file| file.len());
    let mut rows = Vec::with_capacity(Table::ALL.len());
    for table in Table::ALL {
        let statement = sql!("count_table").replace("{table}", table.name());
        rows.push((*table, db.value(&statement, [])?.unwrap_or_default()));
    }
    Ok(DatabaseStatus {
        bytes: size("") + size("-wal"),
        schema: db.value(sql!("schema_version"), [])?.unwrap_or_default(),
        tz_version: db.value(sql!("newest_tz"), [])?.unwrap_or_default(),
        place,
        rows,
    })
}

impl Sqlite {
    /// The settings of the writing connection that durability hangs on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn guarantees(&self) -> Result<Vec<Guarantee>, Error> {
        self.writer.run(guarantees).await
    }
}

/// What the writing connection is set to.
fn guarantees(db: &Db) -> Result<Vec<Guarantee>, Error> {
    const LEVELS: [&str; 4] = ["off", "normal", "full", "extra"];
    let asking = doing("asking for the settings of the connection");
    let mode: String =
        db.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(&asking)?;
    let level: usize =
        db.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).map_err(&asking)?;
    let level = LEVELS.get(level).map_or_else(|| level.to_string(), |name| (*name).to_owned());
    let set = |name: &str, value: String| Guarantee { name: name.to_owned(), value };
    Ok(vec![set("journal_mode", mode.to_lowercase()), set("synchronous", level)])
}

/// The columns of a table in their order, and which of them make its key.
struct Columns {
    names: Vec<String>,
    key: Vec<String>,
}

impl Columns {
    fn of(db: &Db, table: Table) -> Result<Self, Error> {
        let found = db.rows(sql!("table_columns"), [table.name()], |row| {
            Ok((column::<String>(row, 0)?, column::<usize>(row, 1)?))
        })?;
        let mut key: Vec<(usize, String)> = found
            .iter()
            .filter(|(_, place)| *place > 0)
            .map(|(name, place)| (*place, name.clone()))
            .collect();
        key.sort_unstable();
        let names = found.into_iter().map(|(name, _)| name).collect();
        Ok(Self { names, key: key.into_iter().map(|(_, name)| name).collect() })
    }

    /// A statement with the names put in; they come from the schema.
    fn fill(&self, statement: &str, table: Table, marks: usize) -> String {
        let quoted =
            |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        statement
            .replace("{columns}", &quoted(&self.names))
            .replace("{table}", table.name())
            .replace("{key}", &quoted(&self.key))
            .replace("{marks}", &vec!["?"; marks].join(", "))
    }
}

/// Rows of a table after one of its rows, in the order of its key.
pub(super) fn read_table(
    db: &Db,
    table: Table,
    after: Option<&[Cell]>,
    limit: usize,
) -> Result<Vec<Vec<Cell>>, Error> {
    let columns = Columns::of(db, table)?;
    let (statement, after) = match after {
        Some(row) => (sql!("read_table"), key_cells(&columns, table, row)?),
        None => (sql!("read_table_first"), Vec::new()),
    };
    let statement = columns.fill(statement, table, after.len()).replace("{limit}", &limit.to_string());
    let width = columns.names.len();
    db.rows(&statement, params_from_iter(after), |row| {
        (0..width).map(|index| read_cell(row, index)).collect()
    })
}

/// The key of a row that is given whole or as its key alone.
fn key_cells(columns: &Columns, table: Table, row: &[Cell]) -> Result<Vec<Value>, Error> {
    if row.len() == columns.key.len() && row.len() != columns.names.len() {
        return Ok(row.iter().map(value).collect());
    }
    let cell = |name: &String| {
        let place = columns.names.iter().position(|other| other == name)?;
        row.get(place).map(value)
    };
    let cells: Option<Vec<Value>> = columns.key.iter().map(cell).collect();
    cells.ok_or_else(|| Error::corrupt(format!("a row of `{}` without its key", table.name())))
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(*number),
        Cell::Text(text) => Value::Text(text.clone()),
    }
}

fn read_cell(row: &Row<'_>, index: usize) -> Result<Cell, Error> {
    let value = row.get_ref(index).map_err(doing("reading a row"))?;
    match value {
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Integer(number) => Ok(Cell::Integer(number)),
        ValueRef::Text(_) => Ok(Cell::Text(column(row, index)?)),
        other => Err(Error::corrupt(format!("a value of type {}", other.data_type()))),
    }
}

/// Writes rows of another database.
pub(super) fn write_table(db: &Db, table: Table, rows: &[Vec<Cell>]) -> Result<(), Error> {
    let columns = Columns::of(db, table)?;
    let statement = columns.fill(sql!("write_table"), table, columns.names.len());
    let mut insert = db.prepare(&statement)?;
    for row in rows {
        if row.len() != columns.names.len() {
            let (had, wanted) = (row.len(), columns.names.len());
            return Err(Error::corrupt(format!(
                "a row of `{}` has {had} values, not {wanted}",
                table.name()
            )));
        }
        if table == Table::TzVersions {
            // A new database has met its own version already, perhaps under another number.
            db.change(sql!("clear_tz"), params_from_iter(row.iter().take(2).map(value)))?;
        }
        execute(&mut insert, params_from_iter(row.iter().map(value)))?;
    }
    match table {
        Table::TzVersions => db.change(sql!("newest_tz_known"), []).map(|_| ()),
        // A node that joins later must not find runs under its own number.
        Table::Runs => {
            let fence = columns.names.iter().position(|name| name == "fence");
            let highest = rows.iter().filter_map(|row| match fence.and_then(|place| row.get(place)) {
                Some(Cell::Integer(fence)) => Some(*fence),
                _ => None,
            });
            db.change(sql!("raise_fence_to"), [highest.max().unwrap_or(0)]).map(|_| ())
        }
        _ => Ok(()),
    }
}
