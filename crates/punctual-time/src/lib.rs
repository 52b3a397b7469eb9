//! When: text becomes a spec, a spec becomes instants, instants become words.
//!
//! This crate never reads a clock, a file or a random number.
