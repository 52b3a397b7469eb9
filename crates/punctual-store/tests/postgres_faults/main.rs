//! Goal: nothing acknowledged is lost when the line, the server or the machine behind it goes, and the errors say so.
//! Method: a proxy that cuts the line at a chosen moment, servers of our own that are restarted, stopped and promoted
//! while a node works. `server` starts them, `proxy` cuts, `shift` is the work.

#[path = "../ground/mod.rs"]
mod ground;
mod line;
#[path = "../../../../xtask/src/faults/proxy.rs"]
#[allow(dead_code, reason = "what is wrong with lines under load is for others to try")]
mod proxy;
mod restart;
mod server;
mod shift;
