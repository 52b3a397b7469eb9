//! What a web request must be before it is stored: an address, headers and texts that a launch can use.

use punctual_plan::{BadStencil, Stencil, Template};
use reqwest::Url;
use reqwest::header::HeaderName;

/// Headers that every request has of its own, or that belong to the connection.
const RESERVED: [&str; 14] = [
    "connection",
    "content-length",
    "host",
    "idempotency-key",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "traceparent",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

/// Why a part of a web request cannot be used, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRequest {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

fn bad(message: impl Into<String>, hint: impl Into<String>) -> BadRequest {
    BadRequest { message: message.into(), hint: hint.into() }
}

/// Checks the address of a web request; one that holds references is only known at launch.
///
/// ```
/// use punctual_engine::check_url;
///
/// assert!(check_url("https://example.com/hook").is_ok());
/// assert!(check_url("${secret:hook-url}").is_ok());
/// assert_eq!(check_url("ftp://example.com").unwrap_err().message, "`ftp://example.com` is not a web address");
/// ```
///
/// # Errors
/// When it is none, or shows a password.
pub fn check_url(text: &str) -> Result<(), BadRequest> {
    let template = Template::parse(text).map_err(|error| {
        bad(
            error.to_string(),
            "write `${secret:NAME}`, `${env:NAME}` or `${file:PATH}`; `$${` stands for `${`",
        )
    })?;
    if template.references().next().is_some() {
        return Ok(());
    }
    let not_one = || bad(format!("`{text}` is not a web address"), "write it as `https://example.com/hook`");
    let url = Url::parse(text).map_err(|_| not_one())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(not_one());
    }
    if !url.username().is_empty() || url.password().is_some() {
        let hint = "put it with `punctual secret put NAME`, and add the header \
                    `Authorization: Basic ${secret:NAME}`";
        return Err(bad("the address holds a name or a password, which everybody would see", hint));
    }
    Ok(())
}

/// Checks a header of a web request.
///
/// # Errors
/// When its name is none or is taken, or its value cannot be meant.
pub fn check_header(name: &str, value: &str) -> Result<(), BadRequest> {
    if name.parse::<HeaderName>().is_err() {
        return Err(bad(
            format!("`{name}` cannot be the name of a header"),
            "use letters, digits and dashes, such as `X-Team`",
        ));
    }
    let lower = name.to_ascii_lowercase();
    if RESERVED.contains(&lower.as_str()) || lower.starts_with("punctual-") || lower.starts_with("ce-") {
        let hint = "remove it; requests have such headers of their own";
        return Err(bad(format!("the header `{name}` cannot be set"), hint));
    }
    check_text(value)
}

/// Checks a header's value or a body.
///
/// # Errors
/// When it names what no run has, or a reference in it cannot be meant.
pub fn check_text(text: &str) -> Result<(), BadRequest> {
    let problem = match Stencil::parse(text) {
        Ok(_) => return Ok(()),
        Err(problem) => problem,
    };
    let hint = match &problem {
        BadStencil::Open(_) => "end it with `}}`; `{{{{` stands for `{{`".to_owned(),
        BadStencil::Form(_) => "write `{{ payload | json }}`, or leave the form out".to_owned(),
        BadStencil::Unknown(_) => {
            format!("a run has {}; `payload.NAME` is a part of it", punctual_plan::RUN_FIELDS.join(", "))
        }
        BadStencil::Reference(_) => {
            "write `${secret:NAME}`, `${env:NAME}` or `${file:PATH}`; `$${` stands for `${`".to_owned()
        }
    };
    Err(bad(problem.to_string(), hint))
}
