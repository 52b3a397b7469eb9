//! A server of a test's own, which it may stop, restart and copy.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server in a folder of its own. Its keeper stops it and removes the folder when the test ends, however it ends.
pub(crate) struct Server {
    folder: PathBuf,
    pub(crate) port: u16,
    password: String,
    keeper: Child,
}

/// How a server ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// It ends its connections and writes everything out.
    Fast,
    /// It falls over, as in a power cut.
    Immediate,
}

fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("no {name}: run this through `cargo xtask with-postgres -- cargo test …`"))
}

/// A program of PostgreSQL, run by the user that may.
fn program(name: &str) -> Vec<String> {
    let program = format!("{}/{name}", variable("PUNCTUAL_TEST_POSTGRES_BIN"));
    match variable("PUNCTUAL_TEST_POSTGRES_USER") {
        user if user.is_empty() => vec![program],
        user => {
            let ids = [format!("--reuid={user}"), format!("--regid={user}")];
            let words = ["setpriv".to_owned()].into_iter().chain(ids);
            words.chain(["--init-groups".to_owned(), "--".to_owned(), program]).collect()
        }
    }
}

impl Server {
    /// An empty server.
    pub(crate) fn start() -> Self {
        let server = Self::new(random());
        server.run("initdb", &format!("--pgdata={} --pwfile={} --username=postgres --auth=scram-sha-256 --no-sync --encoding=UTF8 --no-locale", server.data(), server.folder.join("password").display()));
        server.launch();
        server
    }

    fn new(password: String) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .expect("the ground of the test holds")
            .local_addr()
            .expect("the ground of the test holds")
            .port();
        let folder = std::env::temp_dir().join(format!("punctual-own-{}-{port}", std::process::id()));
        std::fs::create_dir(&folder).expect("the ground of the test holds");
        let words = ["-c", include_str!("../../../../xtask/src/ground/keeper.sh"), "keeper"];
        let mut keeper = Command::new("sh");
        keeper.args(words).arg(&folder).args(program("pg_ctl")).stdin(Stdio::piped());
        let keeper = std::os::unix::process::CommandExt::process_group(&mut keeper, 0)
            .spawn()
            .expect("the ground of the test holds");
        let server = Self { folder, port, password, keeper };
        std::fs::write(server.folder.join("password"), &server.password)
            .expect("the ground of the test holds");
        server.give_away();
        server
    }

    /// The folder belongs to the user that runs the server, and nobody else looks into it.
    fn give_away(&self) {
        let user = variable("PUNCTUAL_TEST_POSTGRES_USER");
        if !user.is_empty() {
            done(Command::new("chown").args(["-R", &format!("{user}:")]).arg(&self.folder));
        }
        done(Command::new("chmod").args(["-R", "go="]).arg(&self.folder));
    }

    /// A synchronous standby of this server: nothing is acknowledged from now on before both have it on disk.
    pub(crate) async fn standby(&self) -> Self {
        let standby = Self::new(self.password.clone());
        let mut copy = command("pg_basebackup");
        let place =
            format!("--host=127.0.0.1 --port={} --username=postgres --pgdata={}", self.port, standby.data());
        copy.args(place.split(' ')).args([
            "--write-recovery-conf",
            "--wal-method=stream",
            "--checkpoint=fast",
        ]);
        done(copy.env("PGPASSWORD", &self.password).current_dir(&standby.folder));
        standby.launch();
        let client = crate::ground::connect(&self.url()).await;
        client
            .batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            .await
            .expect("the ground of the test holds");
        client.batch_execute("SELECT pg_reload_conf()").await.expect("the ground of the test holds");
        let synced = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while client.query_one(synced, &[]).await.expect("the ground of the test holds").get::<_, i64>(0) == 0
        {
        }
        standby
    }

    fn launch(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={}",
            self.port,
            self.folder.display()
        );
        let mut start = command("pg_ctl");
        start.args([
            "start",
            "--wait",
            &format!("--pgdata={}", self.data()),
            &format!("--options={options}"),
        ]);
        done(
            start
                .arg(format!("--log={}", self.folder.join("server.log").display()))
                .current_dir(&self.folder),
        );
    }

    /// Ends the server.
    pub(crate) fn stop(&self, how: Stop) {
        let mode = match how {
            Stop::Fast => "fast",
            Stop::Immediate => "immediate",
        };
        self.run("pg_ctl", &format!("stop --wait --mode={mode} --pgdata={}", self.data()));
    }

    /// Ends the server and starts it again.
    pub(crate) fn restart(&self, how: Stop) {
        self.stop(how);
        self.launch();
    }

    /// Makes a standby the server.
    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &format!("promote --wait --pgdata={}", self.data()));
    }

    fn run(&self, name: &str, words: &str) {
        done(command(name).args(words.split(' ')).current_dir(&self.folder));
    }

    fn data(&self) -> String {
        Path::new(&self.folder).join("data").display().to_string()
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// Where it or its standby is, whichever may be written to.
    pub(crate) fn url_with(&self, standby: &Self) -> String {
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", self.port, standby.port);
        format!("postgres://postgres:{}@{hosts}/postgres?target_session_attrs=read-write", self.password)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // The keeper has said itself what it could not do.
        let _ = self.keeper.wait();
    }
}

fn command(name: &str) -> Command {
    let words = program(name);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn done(command: &mut Command) {
    let status = command.status().expect("the ground of the test holds");
    assert!(status.success(), "{command:?}: {status}");
}

fn random() -> String {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")
        .expect("the ground of the test holds")
        .read_exact(&mut bytes)
        .expect("the ground of the test holds");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
