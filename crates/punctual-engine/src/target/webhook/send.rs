//! Sending: a request goes out, redirects are followed by hand and within reach, and an answer is read within bounds.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Method, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use super::client::{Clients, Line, NoWay, why};
use super::fill::Identity;
use super::request::{Prepared, SIGNATURE, TOKEN};
use super::resolve::OutOfReach;

/// How much of an answer is read: a larger one is left, and its connection closed.
const READ_BYTES_MAX: usize = 64 * 1024;

/// What became of a request.
pub(super) enum Sent {
    /// Somebody answered.
    Answer(Answer),
    /// It would have gone to an address out of reach.
    OutOfReach { address: IpAddr, url: String },
    /// It was certainly not delivered.
    Unsent(String),
    /// It may have been delivered, and nobody answered.
    Unanswered(String),
}

/// An answer.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) retry_after: Option<String>,
    /// Who answered, without what may be secret in the address.
    pub(super) url: String,
    pub(super) host: String,
    /// The beginning of its body.
    pub(super) bytes: Vec<u8>,
    pub(super) end: End,
    /// Why a redirect was not followed.
    pub(super) note: Option<&'static str>,
}

/// How the body of an answer ended.
pub(super) enum End {
    /// It was read whole.
    Whole,
    /// It was longer than what is read.
    Cut,
    /// It broke off, or did not end in time.
    Broken(String),
}

/// A request on its way.
pub(super) struct Errand<'a> {
    pub(super) clients: &'a Clients,
    pub(super) prepared: Prepared,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) redirects: u32,
}

impl Errand<'_> {
    /// Sends it and reads the answer; takes no longer than its time.
    pub(super) async fn run(mut self) -> Sent {
        let deadline = Instant::now() + self.timeout;
        let mut followed = 0;
        loop {
            let response = match timeout_at(deadline, self.ask()).await {
                Ok(Ok(response)) => response,
                Ok(Err(sent)) => return sent,
                Err(_) => return Sent::Unanswered(format!("{} {}", self.shown(), self.too_late())),
            };
            let note = match self.turn(&response) {
                Turn::Stay(note) => note,
                Turn::Go(url) if followed < self.redirects => {
                    followed += 1;
                    self.follow(url, response.status());
                    continue;
                }
                Turn::Go(_) => Some("it redirects more often than `redirects` allows"),
            };
            return Sent::Answer(self.read(response, deadline, note).await);
        }
    }

    fn too_late(&self) -> String {
        format!("gave no answer within {}", seconds(self.timeout))
    }

    /// The address as it may be shown: what people hide in it is in its user part, its query and its fragment.
    fn shown(&self) -> String {
        shown(&self.prepared.url)
    }

    async fn ask(&self) -> Result<Response, Sent> {
        let Prepared { url, method, headers, own, body, .. } = &self.prepared;
        self.clients.lead(url).await.map_err(|no_way| match no_way {
            NoWay::OutOfReach(out) => self.out_of_reach(&out),
            NoWay::Other(text) => Sent::Unsent(format!("{}: {text}", self.shown())),
        })?;
        let line = Line { identity: self.prepared.identity.clone(), connect_timeout: self.connect_timeout };
        let client = self.clients.get(&line).map_err(Sent::Unsent)?;
        // The target's own headers first: what every receiver relies on is not replaced by them.
        let mut all = own.clone();
        for (name, value) in headers {
            all.insert(name, value.clone());
        }
        let mut request = client.request(method.clone(), url.clone()).headers(all);
        if let Some(body) = body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &reqwest::Error) -> Sent {
        if let Some(out) = find_out_of_reach(error) {
            return self.out_of_reach(out);
        }
        let text = match error.is_timeout() && error.is_connect() {
            true => {
                format!("{} let no connection be made within {}", self.shown(), seconds(self.connect_timeout))
            }
            false => format!("{}: {}", self.shown(), why(error)),
        };
        if error.is_connect() || error.is_builder() { Sent::Unsent(text) } else { Sent::Unanswered(text) }
    }

    fn out_of_reach(&self, out: &OutOfReach) -> Sent {
        Sent::OutOfReach { address: out.address, url: self.shown() }
    }

    /// Where an answer leads, if it is a redirect that may be followed.
    fn turn(&self, response: &Response) -> Turn {
        let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else {
            return Turn::Stay(None);
        };
        let from = &self.prepared.url;
        let to = location.to_str().ok().and_then(|location| from.join(location).ok());
        let Some(to) = to.filter(|to| matches!(to.scheme(), "http" | "https") && to.has_host()) else {
            return Turn::Stay(Some("it redirects to what is no web address"));
        };
        if from.scheme() == "https" && to.scheme() == "http" {
            return Turn::Stay(Some("it redirects to where nothing is encrypted"));
        }
        let keeps_body = keeps_body(response.status(), &self.prepared.method);
        if keeps_body && self.prepared.is_body_secret && !is_same_host(from, &to) {
            return Turn::Stay(Some("it redirects to another host, and the body holds a secret"));
        }
        Turn::Go(to)
    }

    /// Turns the request to where it was sent on. Another host gets nothing that only the first one may have.
    fn follow(&mut self, to: Url, status: StatusCode) {
        let prepared = &mut self.prepared;
        if !keeps_body(status, &prepared.method) {
            prepared.method = Method::GET;
            prepared.body = None;
            // They speak of a body that is not there any more.
            prepared.headers.remove(CONTENT_TYPE);
            prepared.own.remove(CONTENT_TYPE);
            prepared.headers.remove(SIGNATURE);
        }
        if !is_same_host(&prepared.url, &to) {
            prepared.own = HeaderMap::new();
            prepared.headers.remove(SIGNATURE);
            prepared.headers.remove(TOKEN);
            let authorities = prepared.identity.authorities.take();
            prepared.identity = Identity { authorities, ..Identity::default() };
        }
        prepared.url = to;
    }

    async fn read(&self, mut response: Response, deadline: Instant, note: Option<&'static str>) -> Answer {
        let code = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        let mut bytes = Vec::new();
        let end = match timeout_at(deadline, read_body(&mut response, &mut bytes)).await {
            Ok(end) => end,
            Err(_) => End::Broken(format!("its answer did not end within {}", seconds(self.timeout))),
        };
        let host = self.prepared.url.host_str().unwrap_or_default().to_owned();
        Answer { code, retry_after, url: self.shown(), host, bytes, end, note }
    }
}

/// What an answer asks for.
enum Turn {
    /// It is to be read; why it leads nowhere, if it wanted to lead somewhere.
    Stay(Option<&'static str>),
    /// It leads elsewhere.
    Go(Url),
}

/// Reads the beginning of a body.
async fn read_body(response: &mut Response, bytes: &mut Vec<u8>) -> End {
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = READ_BYTES_MAX - bytes.len();
                bytes.extend_from_slice(&chunk[..room.min(chunk.len())]);
                if chunk.len() >= room {
                    return End::Cut;
                }
            }
            Ok(None) => return End::Whole,
            Err(error) => return End::Broken(format!("its answer broke off: {}", why(&error))),
        }
    }
}

/// Whether a redirect wants the same request again; the others want to be fetched.
fn keeps_body(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        307 | 308 => true,
        301 | 302 => *method != Method::POST,
        _ => false,
    }
}

/// Whether two addresses are of one host: also if the second is the encrypted one of the first.
fn is_same_host(from: &Url, to: &Url) -> bool {
    let is_upgrade =
        from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
    let is_same_port =
        from.scheme() == to.scheme() && from.port_or_known_default() == to.port_or_known_default();
    from.host_str() == to.host_str() && (is_same_port || is_upgrade)
}

/// An address without what people hide in it.
pub(super) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Neither can fail for an address with a host.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.to_string()
}

fn seconds(length: Duration) -> String {
    format!("{} s", length.as_secs_f64())
}

fn find_out_of_reach(error: &reqwest::Error) -> Option<&OutOfReach> {
    let mut inner: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = inner {
        if let Some(found) = error.downcast_ref::<OutOfReach>() {
            return Some(found);
        }
        inner = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_the_same_with_its_port_or_encrypted() {
        for (from, to, expected) in [
            ("http://a/x", "http://a/y", true),
            ("http://a/x", "http://a:80/y", true),
            ("http://a/x", "https://a/y", true),
            ("http://a:8080/x", "https://a:8443/y", false),
            ("http://a/x", "http://a:81/y", false),
            ("http://a/x", "http://b/x", false),
            ("https://a/x", "https://A/x", true),
        ] {
            let parse = |text: &str| Url::parse(text).expect("an address");
            assert_eq!(is_same_host(&parse(from), &parse(to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_not_shown() {
        let url = Url::parse("https://ada:key@example.com/hook?token=1#part").expect("an address");
        assert_eq!(shown(&url), "https://example.com/hook");
    }
}
