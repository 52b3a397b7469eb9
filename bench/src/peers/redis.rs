//! A Redis of our own: on a free port of 127.0.0.1, in a folder that is gone afterwards, with its log on.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

/// How long it may take to come up.
const UP_WITHIN: Duration = Duration::from_secs(10);

/// A running server; dropping it ends it.
pub(super) struct Redis {
    child: Child,
    pub(super) url: String,
}

impl Redis {
    pub(super) fn start(folder: &Path) -> Result<Self, Failure> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut command = Command::new("redis-server");
        command.args([
            "--bind",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "--appendonly",
            "yes",
            "--save",
            "",
        ]);
        command.arg("--dir").arg(folder).stdout(Stdio::null());
        let child = command.spawn().map_err(|error| format!("redis-server: {error}"))?;
        let redis = Self { child, url: format!("redis://127.0.0.1:{port}") };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > UP_WITHIN {
                return Err("redis-server does not come up".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(redis)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
