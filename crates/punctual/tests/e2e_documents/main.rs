//! Goal: the flows of two documents, from the first call to the ledger, with the real program.
//! Method: one `serve` each, a program that executes workflows and notes what it was handed, and readers of the outbox.

#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod driver;
#[path = "../operate/live.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod live;
mod s0;
mod s4;
