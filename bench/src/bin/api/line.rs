//! One connection that is kept open: plain HTTP/1.1, as little of it as the measurement needs.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Failure;
use crate::server::Server;

/// A connection.
pub(crate) struct Line {
    stream: TcpStream,
    token: String,
    read: Vec<u8>,
}

/// An answer.
pub(crate) struct Answer {
    status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// That it is the expected one.
    pub(crate) fn expect(&self, status: u16) -> Result<(), Failure> {
        match self.status == status {
            true => Ok(()),
            false => {
                Err(format!("{} instead of {status}: {}", self.status, String::from_utf8_lossy(&self.body))
                    .into())
            }
        }
    }
}

impl Line {
    pub(crate) async fn open(server: &Server) -> Result<Self, Failure> {
        let stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, token: server.token.clone(), read: Vec::new() })
    }

    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&str>,
    ) -> Result<Answer, Failure> {
        let body = body.unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.read.clear();
        let (head, length) = loop {
            if let Some(head) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                let text = std::str::from_utf8(&self.read[..head])?;
                let length = text.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
                });
                break (head + 4, length.ok_or("an answer without its length")?);
            }
            self.more().await?;
        };
        while self.read.len() < head + length {
            self.more().await?;
        }
        let status = std::str::from_utf8(&self.read[9..12])?.parse()?;
        Ok(Answer { status, body: self.read[head..head + length].to_vec() })
    }

    async fn more(&mut self) -> Result<(), Failure> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err("the server closed the connection".into()),
            _ => Ok(()),
        }
    }
}
