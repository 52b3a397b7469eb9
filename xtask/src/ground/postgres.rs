//! A PostgreSQL server of our own: in a temporary folder, on a free port of 127.0.0.1, gone afterwards.
//!
//! Start with [`Server::start`]. The server keeps its durable defaults (`fsync` on): what is tested on it shall hold
//! on a real one. `check` proves that it can be had; the tests of the store find it in [`URL_VARIABLE`].

use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::check::Pace;
use crate::failure::Failure;
use crate::ground::apt::is_root;
use crate::ground::found;
use crate::ground::pages::Pages;
use crate::line::Line;

/// The variable that tells a program where the server is.
pub(crate) const URL_VARIABLE: &str = "PUNCTUAL_TEST_POSTGRES";

/// The variables that tell a test how to start a server of its own: the folder of the programs, and the user that runs
/// them, empty if that is us.
pub(crate) const BIN_VARIABLE: &str = "PUNCTUAL_TEST_POSTGRES_BIN";
pub(crate) const USER_VARIABLE: &str = "PUNCTUAL_TEST_POSTGRES_USER";

/// The oldest version that Punctual works with, as the server counts: 15.0.
const VERSION_MIN: u32 = 150_000;

/// Settings without which a commit is no promise, or the server is not private.
const SETTINGS: &[(&str, &str)] = &[
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("listen_addresses", "127.0.0.1"),
    ("synchronous_commit", "on"),
];

/// Another program may take the free port before the server does; this often another port is tried.
const START_ATTEMPTS_MAX: usize = 3;

/// How long the server may take to come up, in seconds.
const START_SECONDS_MAX: &str = "60";

/// How often it is looked whether a standby has caught up, and how long after each other.
const SYNC_LOOKS_MAX: usize = 300;
const SYNC_LOOK_EVERY: Duration = Duration::from_millis(100);

/// The user that runs the server when we are root; Debian's package creates it.
const SERVER_USER: &str = "postgres";

const HINT: &str = "`cargo xtask ground` installs PostgreSQL; is there room in the temporary folder?";

/// What docs/guides/operate.md advises for very many schedules, but for the memory, which is a quarter of the machine's.
const ROOMY: [(&str, &str); 4] = [
    ("checkpoint_timeout", "15min"),
    ("max_wal_size", "32GB"),
    ("wal_compression", "lz4"),
    ("autovacuum_vacuum_cost_delay", "10ms"),
];

/// A running server. Dropping it, or the end of this process, stops it and removes its folder.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    password: String,
    /// Settings that are not the defaults.
    settings: Vec<(&'static str, String)>,
    keeper: Child,
    /// Given back when the server has ended.
    pages: Option<Pages>,
}

/// `cargo xtask with-postgres -- CMD…`
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let words = arguments.strip_prefix(&["--".to_owned()]).filter(|words| !words.is_empty());
    let Some(words) = words else {
        return Err(Failure::new("there is no command to run", "cargo xtask with-postgres -- CMD…"));
    };
    let server = Server::start()?;
    let status = server.told_to(Line::new(words))?.command().status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            Err(Failure::new(format!("`{}` ended with {status}", words.join(" ")), "see its output above"))
        }
        Err(error) => {
            Err(Failure::new(format!("`{}` could not be started: {error}", words[0]), "is it on the PATH?"))
        }
    }
}

/// The step of `check`: starts a server, asks it what it is, and stops it.
pub(crate) fn smoke(_pace: Pace) -> Result<String, Failure> {
    let server = Server::start()?;
    let said = server.psql(include_str!("smoke.sql"))?;
    let version = judged(&said)?;
    Ok(format!("version {}.{} on 127.0.0.1:{}", version / 10_000, version % 10_000, server.port))
}

/// The server's version, if all that it said of itself is as it must be.
fn judged(said: &str) -> Result<u32, Failure> {
    let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    for (name, expected) in SETTINGS {
        let actual = value(name).unwrap_or("nothing");
        if actual != *expected {
            let what = format!("setting `{name}` is `{actual}` instead of `{expected}`");
            return Err(Failure::new(what, "does a file in /etc or a PG variable change it?"));
        }
    }
    let version: u32 = value("server_version_num").and_then(|number| number.parse().ok()).unwrap_or_default();
    if version < VERSION_MIN {
        let what = format!("PostgreSQL {} is too old, {} is needed", version / 10_000, VERSION_MIN / 10_000);
        return Err(Failure::new(what, "install a newer package of it"));
    }
    Ok(version)
}

impl Server {
    /// Starts a server, on another port if the first was taken meanwhile.
    pub(crate) fn start() -> Result<Self, Failure> {
        Self::start_with(&[])
    }

    /// Starts a server that is set up for very many schedules, as our guide advises.
    pub(crate) fn start_roomy() -> Result<Self, Failure> {
        let memory = std::fs::read_to_string("/proc/meminfo")
            .map_err(|error| Failure::new(format!("the memory of this machine: {error}"), HINT))?;
        let quarter = quarter_of_memory(&memory)
            .ok_or_else(|| Failure::new("`/proc/meminfo` does not tell the memory of this machine", HINT))?;
        let usual = ROOMY.map(|(name, value)| (name, value.to_owned()));
        let pages = Pages::set_aside(quarter, &memory);
        let buffers = ("shared_buffers", format!("{quarter}MB"));
        let mut server = Self::start_with(&[usual.as_slice(), &[buffers]].concat())?;
        server.pages = pages;
        Ok(server)
    }

    fn start_with(settings: &[(&'static str, String)]) -> Result<Self, Failure> {
        let mut last = Failure::new("PostgreSQL was not started", HINT);
        for _ in 0..START_ATTEMPTS_MAX {
            match Self::start_once(settings) {
                Ok(server) => return Ok(server),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    fn start_once(settings: &[(&'static str, String)]) -> Result<Self, Failure> {
        let port = free_port().map_err(|error| Failure::new(format!("no free port: {error}"), HINT))?;
        let folder = std::env::temp_dir().join(format!("punctual-postgres-{}-{port}", std::process::id()));
        let password = password().map_err(|error| Failure::new(format!("no password: {error}"), HINT))?;
        let keeper = keeper(&folder)?;
        // From here on the keeper tidies up behind every failure.
        let server = Self { folder, port, password, settings: settings.to_vec(), keeper, pages: None };
        server.lay_out()?;
        server.launch()?;
        Ok(server)
    }

    /// Makes the empty database cluster, with a password that nobody else knows.
    fn lay_out(&self) -> Result<(), Failure> {
        self.own_folder()?;
        let folder = self.folder.display().to_string();
        let words = [
            format!("--pgdata={folder}/data"),
            format!("--pwfile={folder}/password"),
            "--username=postgres".to_owned(),
            "--auth=scram-sha-256".to_owned(),
            "--encoding=UTF8".to_owned(),
            "--no-locale".to_owned(),
        ];
        self.as_server_user("initdb", &words)
    }

    /// Makes the folder, which belongs to the user that runs the server and which nobody else looks into.
    fn own_folder(&self) -> Result<(), Failure> {
        let made = std::fs::create_dir(&self.folder)
            .and_then(|()| std::fs::write(self.folder.join("password"), &self.password));
        made.map_err(|error| Failure::new(format!("folder `{}`: {error}", self.folder.display()), HINT))?;
        let folder = self.folder.display().to_string();
        if is_root() {
            let owner = format!("{SERVER_USER}:");
            Line::new(["chown", "-R", owner.as_str(), folder.as_str()]).output()?;
        }
        Line::new(["chmod", "-R", "go=", folder.as_str()]).output().map(|_| ())
    }

    /// Starts the server and waits until it takes connections.
    fn launch(&self) -> Result<(), Failure> {
        let folder = self.folder.display().to_string();
        let own = self.settings.iter().map(|(name, value)| format!(" -c {name}={value}")).collect::<String>();
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={folder}{own}",
            self.port
        );
        let words = [
            "start".to_owned(),
            "--wait".to_owned(),
            format!("--timeout={START_SECONDS_MAX}"),
            format!("--pgdata={folder}/data"),
            format!("--log={folder}/server.log"),
            format!("--options={options}"),
        ];
        self.as_server_user("pg_ctl", &words).map_err(|failure| {
            let log = std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
            Failure::new(format!("{}\n{log}", failure.what), HINT)
        })
    }

    /// Where a program finds the server.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// Stops the server as a power cut does: nothing is written out.
    pub(crate) fn cut_power(&self) -> Result<(), Failure> {
        let data = format!("--pgdata={}/data", self.folder.display());
        self.as_server_user(
            "pg_ctl",
            &["stop".to_owned(), "--wait".to_owned(), "--mode=immediate".to_owned(), data],
        )
    }

    /// Starts the server again after its power was cut.
    pub(crate) fn come_back(&self) -> Result<(), Failure> {
        self.launch()
    }

    /// Writes everything that is in it into a file, as text.
    pub(crate) fn dump(&self, file: &Path) -> Result<(), Failure> {
        let (program, url) = (program("pg_dumpall")?, self.url());
        let words = [program, format!("--dbname={url}"), format!("--file={}", file.display())];
        // It connects to each of the databases by itself.
        Line::new(words).with("PGPASSWORD", &self.password).output().map(|_| ())
    }

    /// A synchronous standby of it: nothing is acknowledged from now on before both have it on disk.
    pub(crate) fn standby(&self) -> Result<Self, Failure> {
        let port = free_port().map_err(|error| Failure::new(format!("no free port: {error}"), HINT))?;
        let folder = std::env::temp_dir().join(format!("punctual-postgres-{}-{port}", std::process::id()));
        let keeper = keeper(&folder)?;
        let (password, settings) = (self.password.clone(), self.settings.clone());
        let standby = Self { folder, port, password, settings, keeper, pages: None };
        standby.own_folder()?;
        let password = format!("password={}", self.password);
        let words = [
            format!("--dbname=host=127.0.0.1 port={} user=postgres {password}", self.port),
            format!("--pgdata={}/data", standby.folder.display()),
            "--write-recovery-conf".to_owned(),
            "--wal-method=stream".to_owned(),
            "--checkpoint=fast".to_owned(),
        ];
        standby.as_server_user("pg_basebackup", &words)?;
        standby.launch()?;
        self.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.psql("SELECT pg_reload_conf()")?;
        for _ in 0..SYNC_LOOKS_MAX {
            if self.psql(include_str!("synced.sql"))?.trim() != "0" {
                return Ok(standby);
            }
            std::thread::sleep(SYNC_LOOK_EVERY);
        }
        Err(Failure::new("the standby did not catch up", HINT))
    }

    /// Makes a standby the server.
    pub(crate) fn promote(&self) -> Result<(), Failure> {
        let data = format!("--pgdata={}/data", self.folder.display());
        self.as_server_user("pg_ctl", &["promote".to_owned(), "--wait".to_owned(), data])
    }

    /// Where it or its standby is, whichever may be written to.
    pub(crate) fn url_with(&self, standby: &Self) -> String {
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", self.port, standby.port);
        format!("postgres://postgres:{}@{hosts}/postgres?target_session_attrs=read-write", self.password)
    }

    /// Its address, without whom it is for.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The same database by another way.
    pub(crate) fn url_through(&self, address: &str) -> String {
        format!("postgres://postgres:{}@{address}/postgres?sslmode=disable", self.password)
    }

    /// Where a program finds another database of it.
    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// A line that is told where the server is and how to start another.
    pub(crate) fn told_to(&self, line: Line) -> Result<Line, Failure> {
        // What stands on the PATH may be a link: the other programs are beside what it leads to.
        let program = std::fs::canonicalize(program("pg_ctl")?);
        let program = program.map_err(|error| Failure::new(format!("`pg_ctl`: {error}"), HINT))?;
        let bin = program.parent().unwrap_or(Path::new("")).display().to_string();
        let user = if is_root() { SERVER_USER } else { "" };
        Ok(line.with(URL_VARIABLE, &self.url()).with(BIN_VARIABLE, &bin).with(USER_VARIABLE, user))
    }

    /// Runs one statement and gives its rows as plain text.
    pub(crate) fn psql(&self, sql: &str) -> Result<String, Failure> {
        let psql = program("psql")?;
        let url = self.url();
        let words = [psql.as_str(), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, url.as_str()];
        Line::new(words).output()
    }

    fn as_server_user(&self, name: &str, words: &[String]) -> Result<(), Failure> {
        let line = Line::new(server_user_words(name)?.into_iter().chain(words.iter().cloned()));
        // The output goes to a file and not through a pipe, which a server left in the background would keep open.
        let log = self.folder.join(format!("{name}.log"));
        let file = std::fs::File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = file.map_err(|error| Failure::new(error.to_string(), HINT))?;
        let mut command = line.command();
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(out).stderr(err);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                Err(Failure::new(format!("`{line}` ended with {status}: {said}"), HINT))
            }
            Err(error) => Err(Failure::new(format!("`{line}` could not be started: {error}"), HINT)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        if let Err(error) = self.keeper.wait() {
            eprintln!(
                "error: the private PostgreSQL in `{}` may still be there: {error}",
                self.folder.display()
            );
        }
    }
}

/// Starts the guard that outlives us by the moment it takes to stop the server and to remove the folder.
fn keeper(folder: &Path) -> Result<Child, Failure> {
    let folder = folder.display().to_string();
    let words = ["sh", "-c", include_str!("keeper.sh"), "keeper", folder.as_str()].map(str::to_owned);
    let line = Line::new(words.into_iter().chain(server_user_words("pg_ctl")?));
    let mut command = line.command();
    // A process group of its own: Ctrl-C in the terminal must not end the guard before its work.
    command.process_group(0).stdin(Stdio::piped());
    command.spawn().map_err(|error| Failure::new(format!("the guard of the server: {error}"), HINT))
}

/// How a program of the server is called: PostgreSQL refuses to run as root.
fn server_user_words(name: &str) -> Result<Vec<String>, Failure> {
    let program = program(name)?;
    if !is_root() {
        return Ok(vec![program]);
    }
    let user = [format!("--reuid={SERVER_USER}"), format!("--regid={SERVER_USER}")];
    let before = ["setpriv".to_owned()].into_iter().chain(user);
    Ok(before.chain(["--init-groups".to_owned(), "--".to_owned(), program]).collect())
}

fn program(name: &str) -> Result<String, Failure> {
    let file = found(name).ok_or_else(|| Failure::new(format!("there is no `{name}`"), HINT))?;
    Ok(file.display().to_string())
}

/// A quarter of the machine's memory, in megabytes.
fn quarter_of_memory(memory: &str) -> Option<u64> {
    let kilobytes =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? / 1024 / 4)
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn password() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_old_or_careless_is_refused() {
        let good = "fsync=on\nfull_page_writes=on\nlisten_addresses=127.0.0.1\nserver_version_num=150018\nsynchronous_commit=on\n";
        let check = |from: &str, to: &str, expected: &str| {
            let result = judged(&good.replace(from, to));
            assert_eq!(result.map_or_else(|failure| failure.what, |version| version.to_string()), expected);
        };
        check("", "", "150018");
        check("fsync=on", "fsync=off", "setting `fsync` is `off` instead of `on`");
        check("127.0.0.1", "*", "setting `listen_addresses` is `*` instead of `127.0.0.1`");
        check("synchronous_commit=on\n", "", "setting `synchronous_commit` is `nothing` instead of `on`");
        check("150018", "140011", "PostgreSQL 14 is too old, 15 is needed");
    }

    #[test]
    fn a_quarter_of_the_memory_is_what_the_machine_says() {
        let check = |said: &str, expected: Option<u64>| assert_eq!(quarter_of_memory(said), expected);
        check("MemTotal:       24640892 kB\nMemFree:  1 kB\n", Some(6015));
        check("MemFree:        24640892 kB\n", None);
        check("MemTotal:       much\n", None);
    }
}
