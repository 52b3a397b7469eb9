//! Shared things, tokens, and answers to requests that carry a key of their own.

use jiff::Timestamp;
use punctual_plan::OrgKey;
use rusqlite::{Row, params};

use super::audit::{About, record};
use super::connection::{Db, rows};
use super::decode::{column, instant, maybe_instant};
use super::{actor_of, listed, org_of, page_rows, sql};
use crate::stored::Limits;
use crate::{Answer, Answered, Cut, Document, DocumentKind, Error, Listed, NewDocument, Scope, Token};

/// All shared things of a kind, by name.
pub(super) fn all(db: &Db, org: i64, kind: DocumentKind) -> Result<Vec<Document>, Error> {
    let text = in_table(sql!("documents_all"), kind);
    rows(&mut db.prepare(&text)?, [org], |row| read_document(row, kind))
}

/// The statement for the table of a kind; the names come from a closed list.
fn in_table(statement: &str, kind: DocumentKind) -> String {
    statement.replace("{table}", kind.table())
}

fn read_document(row: &Row<'_>, kind: DocumentKind) -> Result<Document, Error> {
    Ok(Document {
        kind,
        name: column(row, 0)?,
        version: column(row, 1)?,
        body: column(row, 2)?,
        updated_at: instant(row, 3)?,
    })
}

/// The org of a write, which must be one.
fn own(scope: &Scope) -> Result<OrgKey, Error> {
    match scope {
        Scope::Org { org, .. } => Ok(*org),
        Scope::Engine => Err(Error::Forbidden { what: "write what belongs to an org without naming it" }),
    }
}

/// One shared thing.
pub(super) fn find(
    db: &Db,
    scope: &Scope,
    kind: DocumentKind,
    name: &str,
) -> Result<Option<Document>, Error> {
    let text = in_table(sql!("document"), kind);
    db.first(&text, params![org_of(scope), name], |row| read_document(row, kind))
}

/// Shared things of a kind, by name.
pub(super) fn list(db: &Db, scope: &Scope, kind: DocumentKind, cut: &Cut) -> Result<Listed<Document>, Error> {
    let text = in_table(sql!("documents"), kind);
    let after = cut.after.as_deref().unwrap_or_default();
    let rows =
        db.rows(&text, params![org_of(scope), after, page_rows(cut)], |row| read_document(row, kind))?;
    Ok(listed(rows, cut, |row| row.name.clone()))
}

/// Writes a shared thing, if it is in the version that it shall replace.
pub(super) fn put(db: &Db, scope: &Scope, new: &NewDocument) -> Result<Document, Error> {
    let org = own(scope)?;
    if new.kind == DocumentKind::Limits {
        Limits::read(&new.body)?;
    }
    let before = find(db, scope, new.kind, &new.name)?;
    let had = before.as_ref().map_or(0, |document| document.version);
    if new.replaces.is_some_and(|expected| expected != had) {
        return Err(Error::Conflict { what: format!("`{}`", new.name) });
    }
    let (name, body, updated_at) = (new.name.clone(), new.body.clone(), new.now);
    let version = had + 1;
    let row = params![org.0, name, version, body, updated_at.as_microsecond()];
    db.change(&in_table(sql!("put_document"), new.kind), row)?;
    if new.kind == DocumentKind::Limits && before.is_none() {
        // Nobody kept count before: the first start counts what is in flight.
        db.change(sql!("forget_org_use"), [org.0])?;
    }
    let deed = Deed { org, kind: new.kind, name: &new.name, done: "put", at: new.now };
    note(db, scope, &deed)?;
    Ok(Document { kind: new.kind, name, version, body, updated_at })
}

/// Removes a shared thing.
pub(super) fn remove(db: &Db, scope: &Scope, kind: DocumentKind, name: &str) -> Result<bool, Error> {
    let org = own(scope)?;
    let is_removed = db.change(&in_table(sql!("remove_document"), kind), params![org.0, name])? == 1;
    if is_removed {
        if kind == DocumentKind::Limits {
            db.change(sql!("forget_org_use"), [org.0])?;
        }
        note(db, scope, &Deed { org, kind, name, done: "removed", at: db.now() })?;
    }
    Ok(is_removed)
}

/// What was done to a shared thing, in the audit log.
fn note(db: &Db, scope: &Scope, what: &Deed<'_>) -> Result<(), Error> {
    let about = About { org: what.org, at: what.at, actor: actor_of(scope), schedule: None, run: None };
    let kind = format!("{}.{}", what.kind.table(), what.done);
    record(db, about, &kind, what.name)
}

/// A change of a shared thing.
struct Deed<'a> {
    org: OrgKey,
    kind: DocumentKind,
    name: &'a str,
    done: &'a str,
    at: Timestamp,
}

/// Keeps a token's hash.
pub(super) fn put_token(db: &Db, scope: &Scope, token: &Token) -> Result<(), Error> {
    let org = own(scope)?;
    let row = params![
        org.0,
        token.id,
        token.hash,
        token.user,
        token.scopes,
        token.created_at.as_microsecond(),
        token.expires_at.map(Timestamp::as_microsecond),
        token.revoked_at.map(Timestamp::as_microsecond),
    ];
    db.change(sql!("put_token"), row).map(|_| ())
}

/// Whose token has this hash.
pub(super) fn token_by_hash(db: &Db, hash: &str) -> Result<Option<(OrgKey, Token)>, Error> {
    db.first(sql!("token_by_hash"), [hash], |row| Ok((OrgKey(column(row, 7)?), read_token(row)?)))
}

/// The tokens of an org.
pub(super) fn tokens(db: &Db, scope: &Scope) -> Result<Vec<Token>, Error> {
    db.rows(sql!("list_tokens"), params![org_of(scope)], read_token)
}

fn read_token(row: &Row<'_>) -> Result<Token, Error> {
    Ok(Token {
        id: column(row, 0)?,
        hash: column(row, 1)?,
        user: column(row, 2)?,
        scopes: column(row, 3)?,
        created_at: instant(row, 4)?,
        expires_at: maybe_instant(row, 5)?,
        revoked_at: maybe_instant(row, 6)?,
    })
}

/// Keeps the answer to a request under its key, or gives back the one that is kept.
pub(super) fn answer_once(db: &Db, scope: &Scope, answer: &Answer) -> Result<Answered, Error> {
    let org = own(scope)?;
    let kept = db.first(sql!("request"), params![org.0, answer.key], |row| {
        Ok((column::<String>(row, 0)?, column::<String>(row, 1)?))
    })?;
    match kept {
        Some((question, kept)) if question == answer.question => Ok(Answered::Before(kept)),
        Some(_) => Ok(Answered::Differs),
        None => {
            let at = answer.now.as_microsecond();
            let row = params![org.0, answer.key, answer.question, answer.answer, at];
            db.change(sql!("insert_request"), row)?;
            Ok(Answered::Kept)
        }
    }
}
