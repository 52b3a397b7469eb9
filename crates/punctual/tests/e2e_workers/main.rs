//! Goal: workers in other languages take runs from one queue, from the lease to the ledger, and lose none of its rules.
//! Method: the two workers of docs/guides/workers.md as they stand there, against a real `serve`; each story for both.

#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod driver;
#[path = "../operate/live.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod live;
mod shop;
mod stories;
