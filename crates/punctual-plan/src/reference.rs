//! References: `${secret:NAME}`, `${env:NAME}` and `${file:PATH}` in a value stand for what is only known at launch.
//!
//! A definition holds the reference and never the value, so nothing that shows a definition can show a secret.

use core::fmt;

/// What a value refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// A secret of the run's org, by name.
    Secret(String),
    /// A variable of the environment of the process that launches.
    Env(String),
    /// The content of a file on its host, without the line's end.
    File(String),
}

impl Reference {
    fn read(inside: &str) -> Option<Self> {
        let (kind, name) = inside.split_once(':')?;
        let name = name.to_owned();
        match kind {
            "secret" => Some(Self::Secret(name)),
            "env" => Some(Self::Env(name)),
            "file" => Some(Self::File(name)),
            _ => None,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Secret(name) | Self::Env(name) | Self::File(name) => name,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Secret(_) => "secret",
            Self::Env(_) => "env",
            Self::File(_) => "file",
        };
        write!(f, "${{{kind}:{}}}", self.name())
    }
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// What a reference will bring.
    Reference(Reference),
}

/// A value that may hold references.
///
/// ```
/// use punctual_plan::{Piece, Reference, Template};
///
/// let template = Template::parse("Bearer ${secret:api}")?;
/// let secret = Reference::Secret("api".to_owned());
/// assert_eq!(template.0, [Piece::Text("Bearer ".to_owned()), Piece::Reference(secret)]);
/// // Two dollars stand for one; what is no reference is left as it is.
/// assert_eq!(Template::parse("$${env:HOME} ${HOME}")?.0, [Piece::Text("${env:HOME} ${HOME}".to_owned())]);
/// # Ok::<(), punctual_plan::BadReference>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(pub Vec<Piece>);

impl Template {
    /// Reads a value.
    ///
    /// # Errors
    /// When a reference names nothing or does not end.
    pub fn parse(text: &str) -> Result<Self, BadReference> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let inside = &rest[start + 2..];
            if !begins_reference(inside) {
                plain.push_str(&rest[..start + 2]);
                rest = inside;
                continue;
            }
            let Some(end) = inside.find('}') else {
                return Err(BadReference::Open(rest[start..].to_owned()));
            };
            let (found, after) = (Reference::read(&inside[..end]), &inside[end + 1..]);
            if rest[..start].ends_with('$') {
                plain.push_str(&rest[..start]);
                plain.push_str(&rest[start + 1..start + 3 + end]);
            } else {
                plain.push_str(&rest[..start]);
                let found = found.filter(|reference| !reference.name().trim().is_empty());
                let Some(reference) = found else {
                    return Err(BadReference::Nameless(rest[start..start + 3 + end].to_owned()));
                };
                if !plain.is_empty() {
                    pieces.push(Piece::Text(core::mem::take(&mut plain)));
                }
                pieces.push(Piece::Reference(reference));
            }
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Everything it refers to.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Reference(reference) => Some(reference),
            Piece::Text(_) => None,
        })
    }
}

/// Whether what follows `${` names a kind of reference; anything else belongs to somebody else.
fn begins_reference(inside: &str) -> bool {
    ["secret:", "env:", "file:"].iter().any(|kind| inside.starts_with(kind))
}

/// A reference that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadReference {
    /// It does not end.
    Open(String),
    /// It names nothing.
    Nameless(String),
}

impl fmt::Display for BadReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(text) => write!(f, "`{text}` has no closing `}}`"),
            Self::Nameless(text) => write!(f, "`{text}` names nothing"),
        }
    }
}

impl core::error::Error for BadReference {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let template = Template::parse(text).expect("it can be read");
        let said: Vec<String> = template.0.iter().map(said).collect();
        assert_eq!(said, expected, "{text}");
    }

    fn said(piece: &Piece) -> String {
        match piece {
            Piece::Text(text) => text.clone(),
            Piece::Reference(reference) => format!("<{reference}>"),
        }
    }

    #[test]
    fn references_are_told_from_text() {
        check("", &[]);
        check("plain $5 ${x} $", &["plain $5 ${x} $"]);
        check("${secret:a}", &["<${secret:a}>"]);
        check("a${env:B}c${file:/run/d}", &["a", "<${env:B}>", "c", "<${file:/run/d}>"]);
        check("$${secret:a} ${secret:a}", &["${secret:a} ", "<${secret:a}>"]);
        check("${x:y}", &["${x:y}"]);
    }

    #[test]
    fn a_reference_that_cannot_be_meant_is_refused() {
        assert_eq!(Template::parse("a ${secret:b"), Err(BadReference::Open("${secret:b".to_owned())));
        assert_eq!(Template::parse("${env: }"), Err(BadReference::Nameless("${env: }".to_owned())));
    }
}
