//! The ledger in a SQLite file, tested as it is: real files, a second pair of eyes on them.

mod bench;
mod control;
mod fault;
mod file;
mod ledger;
mod sheet;
mod together;
mod uncounted;
