//! Goal: every command that writes schedules does what it says, on every database, and S2's lines run as written.
//! Method: the real program through a real shell. Those with `postgres` in their names use the server that the test
//! command brings.

mod fields;
mod lines;
mod place;
mod verbs;
