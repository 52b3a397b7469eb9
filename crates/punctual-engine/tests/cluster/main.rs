//! Goal: what an installation does over hours, with crashes, pauses, wrong clocks and slow targets.
//! Method: engines on the memory store in virtual time; each story is compared with the ledger as lines of text.

mod cancel;
mod clock;
mod crash;
mod documents;
mod duties;
mod load;
mod nodes;
mod plan;
mod stage;
mod tick;
mod tz;
