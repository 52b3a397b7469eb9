//! A database copied into another, of whatever kind, and read again row by row.

use crate::{Cell, Error, Store, Table};

/// Rows of one step of a copy.
const ROWS_A_STEP: usize = 5_000;

/// Copies every table into a database without schedules; tells how many rows each step came to.
///
/// The next rows are read while the last ones are written. Nobody may write in either meanwhile.
///
/// # Errors
/// When one of the two fails; what was copied so far stays.
pub async fn copy_into<S: Store, T: Store>(
    source: &S,
    target: &T,
    mut copied: impl FnMut(usize) + Send,
) -> Result<(), Error> {
    for table in Table::ALL {
        let mut rows = source.read_table(*table, None, ROWS_A_STEP).await?;
        while !rows.is_empty() {
            let (count, last) = (rows.len(), rows.last().cloned());
            let next = async {
                match last.filter(|_| count == ROWS_A_STEP) {
                    Some(last) => source.read_table(*table, Some(last), ROWS_A_STEP).await,
                    None => Ok(Vec::new()),
                }
            };
            let (written, next) = tokio::join!(target.write_table(*table, rows), next);
            written?;
            copied(count);
            rows = next?;
        }
    }
    Ok(())
}

/// Reads two databases row by row; gives the first table in which they differ, if any.
///
/// # Errors
/// When one of the two cannot be read.
pub async fn first_difference<S: Store, T: Store>(one: &S, other: &T) -> Result<Option<Table>, Error> {
    for table in Table::ALL {
        let mut after: Option<Vec<Cell>> = None;
        loop {
            let (ours, theirs) = tokio::join!(
                one.read_table(*table, after.clone(), ROWS_A_STEP),
                other.read_table(*table, after, ROWS_A_STEP),
            );
            let ours = ours?;
            if ours != theirs? {
                return Ok(Some(*table));
            }
            match ours.last().cloned().filter(|_| ours.len() == ROWS_A_STEP) {
                Some(last) => after = Some(last),
                None => break,
            }
        }
    }
    Ok(None)
}
