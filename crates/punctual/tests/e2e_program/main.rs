//! The whole program, driven as a person or a bad day would drive it.

mod driver;
mod kill;
mod secret;
mod slice;
mod worker;
