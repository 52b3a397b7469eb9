//! The raw ceiling: the same rows by the best statements we know, written by hand, without a store around them.

pub(crate) mod making;
pub(crate) mod postgres;
pub(crate) mod sqlite;
