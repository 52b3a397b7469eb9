//! A program that runs: the leader of its group. Its end is awaited without collecting it, so that its number, which is
//! also that of its group, stays its own until nothing of the group is left.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use punctual_plan::Outcome;
use rustix::process::{PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};
use tokio::net::unix::pipe::Receiver;
use tokio::time::{sleep, timeout};

use super::spawn::pid;
use crate::Cancel;

/// How soon a program is looked at again that was said to have ended and has not.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// A program with everything it started that did not leave its group.
pub(super) struct Leader {
    child: Child,
    /// Readable once the program has ended.
    handle: Receiver,
}

/// How long a program may take, and how long it has once it was asked to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    pub(crate) kill_after: Duration,
}

impl Leader {
    /// Watches over a program; one that cannot be watched is ended.
    pub(super) fn new(mut child: Child) -> io::Result<Self> {
        let watch = |child: &Child| {
            let pid = pid(child).ok_or(io::ErrorKind::InvalidData)?;
            // It is no pipe, but it becomes readable like one, and nothing is read from it.
            Receiver::from_owned_fd_unchecked(pidfd_open(pid, PidfdFlags::empty())?)
        };
        match watch(&child) {
            Ok(handle) => Ok(Self { child, handle }),
            Err(problem) => {
                signal_group(&child, Signal::KILL);
                let _ = child.wait();
                Err(problem)
            }
        }
    }

    /// Waits for the program; when its time is up or it is cancelled, asks its whole group to end, then makes it. What
    /// is left of the group when the program has ended is killed.
    pub(super) async fn end(&mut self, patience: Patience, cancel: &Cancel) -> Outcome {
        let early = tokio::select! {
            biased;
            () = self.ended() => None,
            why = cancel.wanted() => Some(Outcome::Cancelled { by: why.to_string() }),
            () = sleep(patience.limit) => Some(Outcome::TimedOut),
        };
        if early.is_some() {
            signal_group(&self.child, Signal::TERM);
            if timeout(patience.kill_after, self.ended()).await.is_err() {
                signal_group(&self.child, Signal::KILL);
                self.ended().await;
            }
        }
        // The program is not collected yet: no other group can have its number.
        signal_group(&self.child, Signal::KILL);
        let status = self.child.wait();
        early.unwrap_or_else(|| outcome(status))
    }

    /// The program itself.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Ends a program that cannot be talked to.
    pub(super) fn kill(&mut self) {
        signal_group(&self.child, Signal::KILL);
        let _ = self.child.wait();
    }

    /// Resolves when the program has ended; it can still be collected then.
    async fn ended(&self) {
        while !self.has_ended() {
            // A handle that says so too early, or cannot be asked, is asked again a little later.
            let _ = self.handle.readable().await;
            if !self.has_ended() {
                sleep(ASK_AGAIN).await;
            }
        }
    }

    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let known = pid(&self.child).map(|pid| waitid(WaitId::Pid(pid), look));
        // Somebody else collected it, or it never was: there is nothing left to wait for.
        !matches!(known, Some(Ok(None)))
    }
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(group) = pid(child) {
        // A group that has ended meanwhile needs no signal.
        let _ = kill_process_group(group, signal);
    }
}

fn outcome(ended: io::Result<ExitStatus>) -> Outcome {
    match ended.map(|status| (status.code(), status.signal())) {
        Ok((Some(0), _)) => Outcome::Succeeded,
        Ok((Some(code), _)) => Outcome::Exited { code },
        Ok((None, Some(signal))) => Outcome::Signalled { signal },
        Ok((None, None)) | Err(_) => Outcome::InDoubt,
    }
}
