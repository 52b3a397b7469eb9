//! Starting a program: off the loop's threads, in a group of its own, as whom and within what it is allowed.
//!
//! A user and a priority belong to a thread on Linux, and a program begins with those of the thread that started it. So
//! they are set on a thread that exists only for this, without code that runs between fork and exec.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use punctual_plan::ProcessLimits;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit, setpriority_process};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_res_uid};

use super::host::{Identity, inherited_open_files};
use super::turnstile::Turnstile;

/// Programs that are being started at one moment: more would only wait for each other in the kernel.
const SPAWNS_MAX: usize = 8;

static SPAWNS: Turnstile = Turnstile::new(SPAWNS_MAX);

/// A program that is about to be started.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) argv: Vec<String>,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: Option<String>,
    pub(super) identity: Option<Identity>,
    pub(super) nice: Option<i8>,
    pub(super) limits: ProcessLimits,
    /// When it should have begun at the latest: of many that wait the first by this begins first.
    pub(super) until: Timestamp,
}

/// A program that has begun.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) child: Child,
    /// What it prints on both of its streams, in the order in which it does.
    pub(super) output: PipeReader,
}

/// Starts a program without holding up the loop.
pub(super) async fn spawn(order: Order) -> io::Result<Spawned> {
    let _pass = SPAWNS.enter(order.until).await;
    tokio::task::spawn_blocking(move || start(&order)).await.map_err(io::Error::other)?
}

fn start(order: &Order) -> io::Result<Spawned> {
    if order.identity.is_none() && order.nice.is_none() {
        return begin(order);
    }
    let apart = || {
        order.step_aside()?;
        begin(order)
    };
    std::thread::scope(|scope| scope.spawn(apart).join())
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
}

fn begin(order: &Order) -> io::Result<Spawned> {
    let (program, arguments) = order.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (output, printed) = io::pipe()?;
    let mut command = Command::new(program);
    if let Some(cwd) = &order.cwd {
        command.current_dir(cwd);
    }
    command
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(printed.try_clone()?)
        .stderr(printed)
        .process_group(0);
    let mut child = command.spawn()?;
    if let Err(problem) = order.confine(&child) {
        end(&mut child);
        return Err(problem);
    }
    Ok(Spawned { child, output })
}

impl Order {
    /// Makes the calling thread one of the user and the priority that the program shall have. There is no way back.
    fn step_aside(&self) -> io::Result<()> {
        if let Some(nice) = self.nice {
            let refused = |error: rustix::io::Errno| {
                io::Error::new(io::Error::from(error).kind(), format!("`nice: {nice}` is refused: {error}"))
            };
            setpriority_process(None, i32::from(nice)).map_err(refused)?;
        }
        if let Some(identity) = &self.identity {
            let refused = |error: rustix::io::Errno| {
                let message = format!("cannot become `{}`: {error}", identity.name);
                io::Error::new(io::Error::from(error).kind(), message)
            };
            let groups: Vec<_> =
                identity.groups.iter().map(|id| rustix::process::Gid::from_raw(*id)).collect();
            let uid = rustix::process::Uid::from_raw(identity.uid);
            set_thread_groups(&groups).map_err(refused)?;
            set_thread_gid(rustix::process::Gid::from_raw(identity.gid)).map_err(refused)?;
            set_thread_res_uid(uid, uid, uid).map_err(refused)?;
        }
        Ok(())
    }

    /// Sets the limits of a program that has just begun, from outside. Both bounds are the same: it cannot raise them.
    fn confine(&self, child: &Child) -> io::Result<()> {
        let ProcessLimits { memory, cpu_seconds, open_files, processes, file_size } = self.limits;
        let named = [
            ("memory", Resource::As, memory),
            ("cpu_seconds", Resource::Cpu, cpu_seconds),
            ("open_files", Resource::Nofile, open_files),
            ("processes", Resource::Nproc, processes),
            ("file_size", Resource::Fsize, file_size),
        ];
        for (name, resource, limit) in named {
            let Some(limit) = limit else { continue };
            let both = Rlimit { current: Some(limit), maximum: Some(limit) };
            prlimit(pid(child), resource, both)
                .map_err(|error| io::Error::other(format!("`limits.{name}: {limit}` is refused: {error}")))?;
        }
        if let (None, Some(inherited)) = (open_files, inherited_open_files()) {
            let own = rustix::process::getrlimit(Resource::Nofile);
            let before = Rlimit { current: Some(inherited), maximum: own.maximum };
            // A program that keeps our larger limit is none the worse for it.
            let _ = prlimit(pid(child), Resource::Nofile, before);
        }
        Ok(())
    }
}

/// The group of a program is named after it.
pub(super) fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Ends a program that may not go on, and collects what is left of it.
fn end(child: &mut Child) {
    if let Some(group) = pid(child) {
        // One that has ended by itself needs no signal.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
