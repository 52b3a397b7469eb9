//! A proxy: requests go through it, and the addresses that may be reached are the same as without it.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::server::{Reply, Server};
use super::stage::{Stage, end, hook};

/// A small proxy that opens tunnels, and keeps what it was asked for.
struct Proxy {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(tunnel(stream, Arc::clone(&known)));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

/// Opens a tunnel for one connection.
async fn tunnel(stream: TcpStream, asked: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| line != "\r\n") {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        lines.push(line);
    }
    let to = lines[0].strip_prefix("CONNECT ")?.split(' ').next()?.to_owned();
    asked.lock().expect("no panic").push(to.clone());
    let Ok(mut server) = TcpStream::connect(&to).await else {
        return stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await.ok();
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
    copy_bidirectional(&mut stream, &mut server).await.ok().map(|_| ())
}

#[tokio::test]
async fn requests_go_through_the_proxy_to_the_address_that_was_checked() {
    let (server, proxy) = (Server::start(|_| Reply::ok()).await, Proxy::start().await);
    let stage = Stage { reach: "yes", proxy: Some(proxy.url.clone()), ..Stage::new() };
    let port = server.url("").rsplit_once(':').expect("a port").1.to_owned();
    let run = stage.run("through", hook(format!("http://localhost:{port}/a"))).await;
    assert_eq!(end(&run), "success");
    let seen = server.seen("/a").remove(0);
    assert_eq!(seen.header("host"), format!("localhost:{port}"), "the receiver is called by its name");
    let asked = proxy.asked();
    assert_eq!(asked.last(), Some(&format!("127.0.0.1:{port}")), "{asked:?}");
    assert!(asked.iter().all(|to| !to.contains("localhost")), "the proxy looks nothing up: {asked:?}");
}

#[tokio::test]
async fn what_is_out_of_reach_stays_so_behind_a_proxy() {
    let (server, proxy) = (Server::start(|_| Reply::ok()).await, Proxy::start().await);
    let stage = Stage { reach: "no", proxy: Some(proxy.url.clone()), ..Stage::new() };
    let port = server.url("").rsplit_once(':').expect("a port").1.to_owned();
    let serving = stage.serve().await;
    for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433"] {
        stage.once(host, hook(format!("http://{host}:{port}/a"))).await;
        let run = stage.ended(host, 1).await.remove(0);
        assert!(end(&run).starts_with("failed "), "{host}: {}", end(&run));
    }
    serving.stop().await;
    assert!(proxy.asked().is_empty() && server.seen("/a").is_empty(), "{:?}", proxy.asked());
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_not_there_is_told() {
    let server = Server::start(|_| Reply::ok()).await;
    let refusing = Server::start(|_| Reply::code(403)).await;
    for (name, proxy) in [("refused", refusing.url("")), ("absent", "http://127.0.0.1:9".to_owned())] {
        let stage = Stage { reach: "yes", proxy: Some(proxy), ..Stage::new() };
        let run = stage.run(name, hook(server.url("/a"))).await;
        assert!(end(&run).starts_with("failed launch_failed"), "{name}: {}", end(&run));
    }
    assert!(server.seen("/a").is_empty(), "nothing goes past the proxy");
}
