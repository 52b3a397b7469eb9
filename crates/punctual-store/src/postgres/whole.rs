//! The database as a whole: what there is, and its tables row by row for copying.

use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::plan::unsigned;
use super::{Postgres, sql};
use crate::{Cell, DatabaseStatus, Error, Guarantee, Table};

/// A column of a table.
struct Column {
    name: String,
    is_text: bool,
    is_key: bool,
}

impl Postgres {
    /// The settings of the server that durability hangs on, as our own sessions have them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn guarantees(&self) -> Result<Vec<Guarantee>, Error> {
        let tx = self.connections.begin(Role::Engine, "asking for the settings of the server").await?;
        let rows = tx.rows(sql!("guarantees"), &[]).await;
        let rows = tx.over(rows).await?;
        let read = |row: &Row| Ok(Guarantee { name: col(row, 0)?, value: col(row, 1)? });
        rows.iter().map(read).collect()
    }

    pub(super) async fn describe(&self) -> Result<DatabaseStatus, Error> {
        let tx = self.connections.begin(Role::Engine, "describing the database").await?;
        let result = self.describe_in(&tx).await;
        tx.over(result).await
    }

    async fn describe_in(&self, tx: &Tx) -> Result<DatabaseStatus, Error> {
        let bytes = tx.row(sql!("database_bytes"), &[]).await?;
        let bytes = bytes.map(|row| col(&row, 0)).transpose()?.map(unsigned).unwrap_or_default();
        let tz = tx.row(sql!("newest_tz"), &[]).await?;
        let mut rows = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            let count = tx.row(&sql!("count_rows").replace("{table}", table.name()), &[]).await?;
            rows.push((*table, count.map(|row| col(&row, 0)).transpose()?.map(unsigned).unwrap_or_default()));
        }
        Ok(DatabaseStatus {
            place: self.connections.address.place(),
            schema: super::migrate::newest(),
            tz_version: tz.map(|row| col(&row, 0)).transpose()?.unwrap_or_default(),
            bytes,
            rows,
        })
    }

    pub(super) async fn read_rows(
        &self,
        table: Table,
        after: Option<Vec<Cell>>,
        limit: usize,
    ) -> Result<Vec<Vec<Cell>>, Error> {
        let tx = self.connections.begin(Role::Engine, "reading a table").await?;
        let result = async {
            let columns = columns(&tx, table).await?;
            let keys: Vec<&str> =
                columns.iter().filter(|column| column.is_key).map(|column| column.name.as_str()).collect();
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let places: Vec<String> = columns
                .iter()
                .filter(|column| column.is_key)
                .enumerate()
                .map(|(place, column)| {
                    format!("${}::{}", place + 2, if column.is_text { "text" } else { "bigint" })
                })
                .collect();
            let beyond = match after {
                None => String::new(),
                Some(_) => format!("WHERE ({}) > ({})", keys.join(", "), places.join(", ")),
            };
            let statement = sql!("read_table")
                .replace("{columns}", &names.join(", "))
                .replace("{table}", table.name())
                .replace("{beyond}", &beyond)
                .replace("{keys}", &keys.join(", "));
            let last = key_cells(&columns, after.as_deref().unwrap_or_default());
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut arguments: Vec<&dyn Arg> = vec![&limit];
            arguments.extend(last.iter().map(Box::as_ref));
            let rows = tx.rows(&statement, &arguments).await?;
            rows.iter().map(|row| read_cells(&columns, row)).collect()
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn write_rows(&self, table: Table, rows: &[Vec<Cell>]) -> Result<(), Error> {
        let tx = self.connections.begin(Role::Engine, "writing a table").await?;
        let result = write_in(&tx, table, rows).await;
        tx.finish(result).await
    }
}

async fn write_in(tx: &Tx, table: Table, rows: &[Vec<Cell>]) -> Result<(), Error> {
    let columns = columns(tx, table).await?;
    if rows.iter().any(|row| row.len() != columns.len()) {
        return Err(Error::corrupt(format!("a row of `{}` has another number of columns", table.name())));
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let places: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            format!("${}::{}[]", place + 1, if column.is_text { "text" } else { "bigint" })
        })
        .collect();
    // What every database makes for itself is there already: it gets the other's numbers.
    let statement = sql!("write_table")
        .replace("{table}", table.name())
        .replace("{columns}", &names.join(", "))
        .replace("{arrays}", &places.join(", "));
    let arrays: Vec<Box<dyn Arg>> =
        (0..columns.len()).map(|place| array(&columns[place], rows, place)).collect();
    let arguments: Vec<&dyn Arg> = arrays.iter().map(Box::as_ref).collect();
    tx.run(&statement, &arguments).await?;
    let is_given =
        |column: &&Column| column.is_key && !column.is_text && matches!(column.name.as_str(), "key" | "seq");
    if let Some(given) = columns.iter().find(is_given) {
        let largest = sql!("largest").replace("{table}", table.name()).replace("{column}", &given.name);
        let largest: Option<i64> =
            tx.row(&largest, &[]).await?.map(|row| col(&row, 0)).transpose()?.flatten();
        // The numbers are the owner's to move.
        tx.batch("RESET ROLE").await?;
        tx.rows(sql!("move_sequence"), &[&table.name(), &given.name, &largest.unwrap_or(1)]).await?;
        tx.batch("SET LOCAL ROLE punctual_engine").await?;
    }
    if table == Table::Runs {
        // A node that joins later must not find runs under its own number.
        tx.run(sql!("raise_fence_to"), &[]).await?;
    }
    if table == Table::Outbox {
        tx.rows(sql!("move_positions"), &[]).await?;
    }
    Ok(())
}

async fn columns(tx: &Tx, table: Table) -> Result<Vec<Column>, Error> {
    let read = |row: &Row| {
        let kind: &str = col(row, 1)?;
        Ok(Column { name: col(row, 0)?, is_text: kind == "text", is_key: col(row, 2)? })
    };
    tx.rows(sql!("table_columns"), &[&table.name()]).await?.iter().map(read).collect()
}

fn read_cells(columns: &[Column], row: &Row) -> Result<Vec<Cell>, Error> {
    let cell = |(place, column): (usize, &Column)| {
        Ok(match column.is_text {
            true => col::<Option<String>>(row, place)?.map_or(Cell::Null, Cell::Text),
            false => col::<Option<i64>>(row, place)?.map_or(Cell::Null, Cell::Integer),
        })
    };
    columns.iter().enumerate().map(cell).collect()
}

/// The key of a row, out of all its cells.
fn key_cells(columns: &[Column], row: &[Cell]) -> Vec<Box<dyn Arg>> {
    let keys = columns.iter().zip(row).filter(|(column, _)| column.is_key);
    keys.map(|(_, cell)| -> Box<dyn Arg> {
        match cell {
            Cell::Null => Box::new(None::<i64>),
            Cell::Integer(number) => Box::new(*number),
            Cell::Text(text) => Box::new(text.clone()),
        }
    })
    .collect()
}

fn array(column: &Column, rows: &[Vec<Cell>], place: usize) -> Box<dyn Arg> {
    match column.is_text {
        true => {
            let text = |row: &Vec<Cell>| match &row[place] {
                Cell::Text(text) => Some(text.clone()),
                Cell::Integer(number) => Some(number.to_string()),
                Cell::Null => None,
            };
            Box::new(rows.iter().map(text).collect::<Vec<Option<String>>>())
        }
        false => {
            let number = |row: &Vec<Cell>| match &row[place] {
                Cell::Integer(number) => Some(*number),
                Cell::Text(_) | Cell::Null => None,
            };
            Box::new(rows.iter().map(number).collect::<Vec<Option<i64>>>())
        }
    }
}
