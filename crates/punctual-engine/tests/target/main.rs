//! Goal: a run that goes to a target ends as the target says, whatever the target does.
//! Method: the real targets with real programs, closures and files; each wait is for a signal of the program itself.

mod callback;
mod process;
mod secret;
mod stage;
mod worker;
mod workflow;
