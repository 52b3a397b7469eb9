//! Ahead: what a later step builds is built while tests run, which leave a core idle more often than not.
//!
//! It says nothing: the later step runs the same line again, waits for what is left of it, and shows what is wrong with it.

use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::failure::Failure;
use crate::line::Line;

/// What is being built.
static BUILDING: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Builds something beside the steps, with the cores that they leave to it.
pub(super) fn build(line: &Line) -> Result<(), Failure> {
    let line = line.clone().gently();
    println!("   {line} &");
    let mut command = line.command();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| {
        Failure::new(format!("`{line}` could not be started: {error}"), "is `nice` there?")
    })?;
    BUILDING.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    Ok(())
}

/// Ends whatever is still being built: nobody waits for it any more.
pub(super) fn end() {
    for mut child in BUILDING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // One that has ended already cannot be told to.
        let _ = child.kill();
        let _ = child.wait();
    }
}
