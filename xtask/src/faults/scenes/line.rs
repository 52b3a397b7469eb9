//! Lines between the program and PostgreSQL are cut, slowed and half closed by a proxy.

use std::path::Path;
use std::time::Duration;

use super::super::Database;
use super::super::dice::Dice;
use super::super::node::Kit;
use super::super::proxy::{Cut, Proxy};
use super::super::reader::Reader;
use super::super::serve::now_us;
use super::stage::{Seen, Stage};
use crate::failure::Failure;
use crate::ground::postgres::Server;

/// How often something is done to the lines.
const DEEDS: u64 = 40;

/// How long the program goes on after each, at most.
const WHILE_MAX: Duration = Duration::from_millis(1_500);

/// How much a piece is held up, at most: a call has several, and is then as slow as a lease is long.
const DELAY_MAX: Duration = Duration::from_millis(120);

/// After how many of them the tables are judged.
const AUDIT_EVERY: u64 = 4;

/// Plays it.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let server = Server::start()?;
    let proxy = Proxy::start(server.address())
        .map_err(|error| Failure::new(format!("the proxy: {error}"), "is a port free?"))?;
    let kit = Kit::new(program.to_owned(), folder, server.url_through(&proxy.address.to_string()));
    let mut stage = Stage::begin(&kit, Database::Postgres)?;
    // Who judges asks the server itself.
    stage.load.reader = Reader::new(folder, &server.url())?.with_starts(&folder.join("starts"));
    let mut dice = Dice::new(now_us());
    for deed in 0..DEEDS {
        match deed % 8 {
            0 => proxy.cut_all(),
            1 => proxy.arm(Cut::Before),
            2 => proxy.arm(Cut::After),
            3 => proxy.slow(dice.time(Duration::ZERO, DELAY_MAX)),
            4 => proxy.half_close_all(),
            5 => proxy.arm(Cut::Stopped),
            6 => proxy.slow(Duration::ZERO),
            _ => proxy.arm(Cut::After),
        }
        std::thread::sleep(dice.time(Duration::ZERO, WHILE_MAX));
        if (deed + 1).is_multiple_of(AUDIT_EVERY) {
            stage.audit(&format!("after {} faults of the line", deed + 1))?;
        }
    }
    proxy.slow(Duration::ZERO);
    let done = format!("{DEEDS} faults, {} lines cut or half closed", proxy.cuts());
    Ok(vec![stage.end(done)?])
}
