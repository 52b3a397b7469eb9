//! The whole program, driven as a person or a bad day would drive it.

mod driver;
mod http;
mod kill;
#[path = "../operate/live.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod live;
mod plugins;
mod readme;
mod refusals;
mod remote;
mod requests;
mod secret;
mod slice;
mod webhook;
mod worker;
