//! The language of time as it is asked: each verb answers one [`Request`] or [`Sentence`], without a database.

mod answer;
mod request;

pub use answer::{Answer, describe, explain, next, parse, prev, validate};
pub use request::{Refusal, Request, Sentence};
