//! Goal: a run that is sent to a receiver ends as its answer says, whatever the receiver does, and delays nobody.
//! Method: the real engine on a real file, and a real server that behaves as badly as receivers do; every wait is for
//! the ledger or for the server itself. Signatures are verified by an implementation that is not ours.

mod accepted;
mod bad;
mod proxy;
mod redirect;
mod sent;
mod server;
mod stage;
mod tls;
