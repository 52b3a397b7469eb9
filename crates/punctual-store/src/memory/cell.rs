//! Cells: how the values of a row are written and read back.

use jiff::Timestamp;

use crate::instant::{from_micros, from_seconds};
use crate::{Cell, Error};

pub(super) fn int(value: i64) -> Cell {
    Cell::Integer(value)
}

pub(super) fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

pub(super) fn micros(at: Timestamp) -> Cell {
    Cell::Integer(at.as_microsecond())
}

pub(super) fn seconds(at: Timestamp) -> Cell {
    Cell::Integer(at.as_second())
}

/// A value that may be absent.
pub(super) fn maybe<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or(Cell::Null, cell)
}

/// A count that fits.
pub(super) fn count(value: u64) -> Cell {
    Cell::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A row that is read column by column.
pub(super) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    fn next(&mut self) -> Result<Cell, Error> {
        self.0.next().ok_or_else(|| Error::corrupt("a row has too few columns"))
    }

    pub(super) fn maybe_int(&mut self) -> Result<Option<i64>, Error> {
        match self.next()? {
            Cell::Null => Ok(None),
            Cell::Integer(value) => Ok(Some(value)),
            Cell::Text(value) => Err(Error::corrupt(format!("`{value}` stands where a number should"))),
        }
    }

    pub(super) fn int(&mut self) -> Result<i64, Error> {
        self.maybe_int()?.ok_or_else(|| Error::corrupt("nothing stands where a number should"))
    }

    pub(super) fn maybe_text(&mut self) -> Result<Option<String>, Error> {
        match self.next()? {
            Cell::Null => Ok(None),
            Cell::Text(value) => Ok(Some(value)),
            Cell::Integer(value) => Err(Error::corrupt(format!("{value} stands where a text should"))),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, Error> {
        self.maybe_text()?.ok_or_else(|| Error::corrupt("nothing stands where a text should"))
    }

    pub(super) fn micros(&mut self) -> Result<Timestamp, Error> {
        from_micros(self.int()?)
    }

    pub(super) fn maybe_micros(&mut self) -> Result<Option<Timestamp>, Error> {
        self.maybe_int()?.map(from_micros).transpose()
    }

    pub(super) fn seconds(&mut self) -> Result<Timestamp, Error> {
        from_seconds(self.int()?)
    }

    pub(super) fn maybe_seconds(&mut self) -> Result<Option<Timestamp>, Error> {
        self.maybe_int()?.map(from_seconds).transpose()
    }

    /// A number that must fit into a smaller type.
    pub(super) fn number<T: TryFrom<i64>>(&mut self) -> Result<T, Error> {
        let value = self.int()?;
        T::try_from(value).map_err(|_| Error::corrupt(format!("{value} is out of range")))
    }
}
