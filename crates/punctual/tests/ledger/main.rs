//! Goal: what the program says about a ledger is what happened, on every database.
//! Method: stories are told twice, to the simulator and, step by step at the same instants, to a real store; then the
//! real program is asked. Those with `postgres` in their names use the server that the test command brings.

mod asked;
mod audit;
mod ground;
mod runs;
mod story;
mod why;
