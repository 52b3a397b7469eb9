//! `cargo xtask faults scenes`: what databases, disks, lines, clocks and other versions can do to the program under load.
//!
//! [`SCENES`] is the list, each in a file of its own. In all of them the same load goes on, `ledger_reader.py` judges the tables
//! after each thing that was done, and at the end, when nothing is done any more, every tick must be closed.

mod disk;
mod line;
mod nights;
mod page;
mod server;
mod stage;
mod versions;
mod wall;

use std::path::Path;
use std::time::Instant;

use self::stage::Seen;
use super::serve;
use crate::failure::Failure;

/// A scene.
struct Scene {
    /// What it is called by.
    name: &'static str,
    /// What is done.
    says: &'static str,
    /// Plays it with a program, in a folder.
    play: fn(&Path, &Path) -> Result<Vec<Seen>, Failure>,
}

/// All of them.
#[rustfmt::skip]
const SCENES: &[Scene] = &[
    Scene { name: "clock", says: "the wall clock is set by an hour, back and forth, while everything goes on", play: wall::play },
    Scene { name: "server", says: "PostgreSQL falls over as in a power cut and comes back", play: server::restarts },
    Scene { name: "standby", says: "PostgreSQL is gone for good, and its synchronous standby takes its place", play: server::failover },
    Scene { name: "proxy", says: "lines to PostgreSQL are cut, slowed and half closed, at commits and at any time", play: line::play },
    Scene { name: "disk", says: "the disk under SQLite is full, and may only be read", play: disk::play },
    Scene { name: "page", says: "pages of the SQLite file are overwritten while nobody serves", play: page::play },
    Scene { name: "nights", says: "nights in which the clocks change, in five zones and both directions", play: nights::play },
    Scene { name: "versions", says: "an earlier program and today's share a database, in turns and at once", play: versions::play },
];

/// The command line: the scenes that are named, or all of them.
pub(super) fn command(arguments: &[String]) -> Result<(), Failure> {
    let known: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
    let usage = format!("cargo xtask faults scenes [{}]…", known.join("|"));
    if let Some(strange) = arguments.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::new(format!("there is no scene `{strange}`"), usage));
    }
    let program = serve::program()?;
    let mut table = Vec::new();
    for scene in
        SCENES.iter().filter(|scene| arguments.is_empty() || arguments.iter().any(|name| name == scene.name))
    {
        println!("{}: {}", scene.name, scene.says);
        let begun = Instant::now();
        serve::kept(|folder| {
            for seen in (scene.play)(&program, folder)? {
                println!("   {seen}");
                table.push(format!("| {} | {} |", scene.name, seen.cells()));
            }
            Ok(())
        })?;
        println!("   {:.0} s", begun.elapsed().as_secs_f64());
    }
    println!("\n| scene | database | what was done | audits | ticks | starts | again | problems |");
    println!("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n{}", table.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_that_is_not_there_is_refused() {
        let refused = command(&["flood".to_owned()]).expect_err("there is no such scene");
        assert_eq!(refused.what, "there is no scene `flood`");
        assert!(
            refused.hint.contains("clock|server|standby|proxy|disk|page|nights|versions"),
            "{}",
            refused.hint
        );
    }
}
