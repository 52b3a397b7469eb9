//! Stencils: texts with values of the run, `{{ payload.region }}`, beside references such as `${secret:api}`.
//!
//! A value stands as it is: text without quotes, anything else as JSON. `{{ payload | json }}` is JSON in any case, so
//! that a text is safe inside a JSON body. `{{{{` stands for `{{`. A name that no run has is refused when it is read.

use core::fmt;

use crate::{BadReference, Piece, Reference, Template};

/// What a run is known by: every name that a stencil may begin with.
pub const RUN_FIELDS: [&str; 17] = [
    "schedule_id",
    "schedule_name",
    "schedule_version",
    "org_id",
    "user_id",
    "payload",
    "run_id",
    "idempotency_key",
    "scheduled_for",
    "fire_at",
    "triggered_at",
    "manual_trigger",
    "attempt",
    "origin",
    "fence",
    "request_id",
    "traceparent",
];

/// A part of a stencil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Text as it stands.
    Text(String),
    /// What a reference will bring.
    Reference(Reference),
    /// A value of the run.
    Value {
        /// Its name, and the names below it.
        path: Vec<String>,
        /// Whether it is written as JSON in any case.
        form: ValueForm,
    },
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// Text without quotes, anything else as JSON.
    Plain,
    /// As JSON.
    Json,
}

/// A text with places for values.
///
/// ```
/// use punctual_plan::{Mark, Stencil, ValueForm};
///
/// let stencil = Stencil::parse(r#"{"due": "{{ scheduled_for }}", "what": {{ payload.kind | json }}}"#)?;
/// let kind = vec!["payload".to_owned(), "kind".to_owned()];
/// assert!(stencil.0.contains(&Mark::Value { path: kind, form: ValueForm::Json }));
/// assert!(Stencil::parse("{{ sheduled_for }}").is_err());
/// # Ok::<(), punctual_plan::BadStencil>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stencil(pub Vec<Mark>);

impl Stencil {
    /// Reads a text.
    ///
    /// # Errors
    /// When a place does not end, or names what no run has, or a reference cannot be meant.
    pub fn parse(text: &str) -> Result<Self, BadStencil> {
        let mut marks = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            plain.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            if let Some(after) = inside.strip_prefix("{{") {
                plain.push_str("{{");
                rest = after;
                continue;
            }
            let Some(end) = inside.find("}}") else {
                return Err(BadStencil::Open(rest[start..].chars().take(40).collect()));
            };
            flush(&mut plain, &mut marks)?;
            marks.push(value(&inside[..end])?);
            rest = &inside[end + 2..];
        }
        plain.push_str(rest);
        flush(&mut plain, &mut marks)?;
        Ok(Self(marks))
    }

    /// Whether it refers to a secret, a variable or a file.
    pub fn has_references(&self) -> bool {
        self.0.iter().any(|mark| matches!(mark, Mark::Reference(_)))
    }
}

/// What stood between two places, with its references.
fn flush(plain: &mut String, marks: &mut Vec<Mark>) -> Result<(), BadStencil> {
    let template = Template::parse(&core::mem::take(plain)).map_err(BadStencil::Reference)?;
    marks.extend(template.0.into_iter().map(|piece| match piece {
        Piece::Text(text) => Mark::Text(text),
        Piece::Reference(reference) => Mark::Reference(reference),
    }));
    Ok(())
}

fn value(inside: &str) -> Result<Mark, BadStencil> {
    let (name, form) = match inside.split_once('|') {
        None => (inside, ValueForm::Plain),
        Some((name, form)) if form.trim() == "json" => (name, ValueForm::Json),
        Some((_, form)) => return Err(BadStencil::Form(form.trim().to_owned())),
    };
    let path: Vec<String> = name.trim().split('.').map(str::to_owned).collect();
    match path.first() {
        Some(first) if RUN_FIELDS.contains(&first.as_str()) => Ok(Mark::Value { path, form }),
        _ => Err(BadStencil::Unknown(name.trim().to_owned())),
    }
}

/// A stencil that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadStencil {
    /// A place does not end.
    Open(String),
    /// No run has it.
    Unknown(String),
    /// A value cannot be written so.
    Form(String),
    /// A reference cannot be meant.
    Reference(BadReference),
}

impl fmt::Display for BadStencil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(text) => write!(f, "`{text}` has no closing `}}}}`"),
            Self::Unknown(name) => write!(f, "no run has a `{name}`"),
            Self::Form(form) => write!(f, "`{form}` is no form of a value"),
            Self::Reference(problem) => problem.fmt(f),
        }
    }
}

impl core::error::Error for BadStencil {}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(mark: &Mark) -> String {
        match mark {
            Mark::Text(text) => text.clone(),
            Mark::Reference(reference) => format!("<{reference}>"),
            Mark::Value { path, form } => format!("<{} {form:?}>", path.join("/")),
        }
    }

    fn check(text: &str, expected: &[&str]) {
        let stencil = Stencil::parse(text).expect("it can be read");
        let marks: Vec<String> = stencil.0.iter().map(said).collect();
        assert_eq!(marks, expected, "{text}");
    }

    #[test]
    fn places_are_told_from_text() {
        check("", &[]);
        check("plain { } }} ${x}", &["plain { } }} ${x}"]);
        check("{{run_id}}", &["<run_id Plain>"]);
        check("a {{ payload.a.b }} b", &["a ", "<payload/a/b Plain>", " b"]);
        check("{\"p\":{{ payload|json }}}", &["{\"p\":", "<payload Json>", "}"]);
        check("{{{{ x }}", &["{{ x }}"]);
        check("${secret:a}{{ attempt }}", &["<${secret:a}>", "<attempt Plain>"]);
    }

    #[test]
    fn what_no_run_has_is_refused() {
        let check = |text: &str, expected: BadStencil| assert_eq!(Stencil::parse(text), Err(expected));
        check("{{ token }}", BadStencil::Unknown("token".to_owned()));
        check("{{ }}", BadStencil::Unknown(String::new()));
        check("a {{ run_id", BadStencil::Open("{{ run_id".to_owned()));
        check("{{ run_id | upper }}", BadStencil::Form("upper".to_owned()));
        check("${secret:b", BadStencil::Reference(BadReference::Open("${secret:b".to_owned())));
    }
}
