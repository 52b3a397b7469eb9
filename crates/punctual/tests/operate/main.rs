//! Goal: an operator sees what runs, ends it, runs it again, and is told what is wrong with an installation.
//! Method: the real program on a database of its own; each trouble is really made before it is looked for.

#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod driver;

mod doctor;
mod guide;
mod live;
mod patient;
mod runs;
mod settings;
mod system;
mod unread;
