//! The parts of `bench store`: each measures one promise and gives a sheet of figures.

pub(crate) mod copy;
pub(crate) mod open;
pub(crate) mod register;
pub(crate) mod retain;
pub(crate) mod runs;
