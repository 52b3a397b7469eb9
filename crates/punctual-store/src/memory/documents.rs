//! Shared things, tokens and answers that are given once.

use jiff::Timestamp;
use punctual_plan::OrgKey;

use super::data::Data;
use super::table::{DocumentRecord, EventRecord, RequestRecord};
use crate::stored::Limits;
use crate::{
    Answer, Answered, Cut, Document, DocumentKind, Error, Listed, NewDocument, Scope, Token, to_microsecond,
};

impl Scope {
    /// Its org; the engine has none to write to.
    pub(super) fn one(&self) -> Result<OrgKey, Error> {
        match self {
            Self::Org { org, .. } => Ok(*org),
            Self::Engine => Err(Error::Forbidden { what: "do that without naming an org" }),
        }
    }
}

impl Data {
    pub(super) fn put_document(&mut self, scope: &Scope, new: NewDocument) -> Result<Document, Error> {
        let place = (new.kind.table(), scope.one()?, new.name.clone());
        if new.kind == DocumentKind::Limits {
            Limits::read(&new.body)?;
        }
        let found = self.documents.get(&place).map_or(0, |record| record.version);
        if new.replaces.is_some_and(|replaces| replaces != found) {
            return Err(Error::Conflict { what: format!("`{}`", new.name) });
        }
        let (version, updated_at) = (found + 1, to_microsecond(new.now));
        let record = DocumentRecord { version, body: new.body.clone(), updated_at };
        let org = place.1;
        self.documents.insert(place, record);
        self.refer_anew(org, new.kind);
        self.note_document(scope, (new.kind, "put", &new.name), updated_at)?;
        Ok(Document { kind: new.kind, name: new.name, version, body: new.body, updated_at })
    }

    pub(super) fn document(
        &self,
        scope: &Scope,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Document>, Error> {
        let record = self.documents.get(&(kind.table(), scope.one()?, name.to_owned()));
        Ok(record.map(|record| shown(kind, name, record)))
    }

    pub(super) fn documents(
        &self,
        scope: &Scope,
        kind: DocumentKind,
        cut: &Cut,
    ) -> Result<Listed<Document>, Error> {
        let org = scope.one()?;
        let from = (kind.table(), org, cut.after.clone().unwrap_or_default());
        let found =
            self.documents.range(from..).take_while(|(place, _)| (place.0, place.1) == (kind.table(), org));
        let found = found.filter(|(place, _)| cut.after.as_ref().is_none_or(|after| place.2 > *after));
        let found = found.take(cut.limit as usize + 1);
        let mut rows: Vec<Document> = found.map(|(place, record)| shown(kind, &place.2, record)).collect();
        let is_more = rows.len() > cut.limit as usize;
        rows.truncate(cut.limit as usize);
        let next = rows.last().filter(|_| is_more).map(|document| document.name.clone());
        Ok(Listed { rows, next })
    }

    pub(super) fn remove_document(
        &mut self,
        scope: &Scope,
        kind: DocumentKind,
        name: String,
    ) -> Result<bool, Error> {
        let place = (kind.table(), scope.one()?, name);
        let is_removed = self.documents.remove(&place).is_some();
        if is_removed {
            self.refer_anew(place.1, kind);
            let now = self.now();
            self.note_document(scope, (kind, "removed", &place.2), now)?;
        }
        Ok(is_removed)
    }

    /// What was done to a shared thing, in the audit log.
    fn note_document(
        &mut self,
        scope: &Scope,
        (kind, done, name): (DocumentKind, &str, &str),
        at: Timestamp,
    ) -> Result<(), Error> {
        self.record(EventRecord {
            org: scope.one()?,
            at,
            actor: scope.user(),
            kind: format!("{}.{done}", kind.table()),
            schedule: None,
            run: None,
            detail: name.to_owned(),
        });
        Ok(())
    }

    pub(super) fn put_token(&mut self, scope: &Scope, token: Token) -> Result<(), Error> {
        let place = (scope.one()?, token.id.clone());
        if self.token_hashes.get(&token.hash).is_some_and(|other| *other != place) {
            return Err(Error::Conflict { what: format!("the token `{}`", token.id) });
        }
        let token = Token {
            created_at: to_microsecond(token.created_at),
            expires_at: token.expires_at.map(to_microsecond),
            revoked_at: token.revoked_at.map(to_microsecond),
            ..token
        };
        if let Some(before) = self.tokens.get(&place) {
            self.token_hashes.remove(&before.hash);
        }
        self.token_hashes.insert(token.hash.clone(), place.clone());
        self.tokens.insert(place, token);
        Ok(())
    }

    pub(super) fn token(&self, hash: &str) -> Option<(OrgKey, Token)> {
        let place = self.token_hashes.get(hash)?;
        Some((place.0, self.tokens.get(place)?.clone()))
    }

    pub(super) fn token_list(&self, scope: &Scope) -> Result<Vec<Token>, Error> {
        let org = scope.one()?;
        let tokens = self.tokens.range((org, String::new())..).take_while(|(place, _)| place.0 == org);
        Ok(tokens.map(|(_, token)| token.clone()).collect())
    }

    pub(super) fn answer_once(&mut self, scope: &Scope, answer: Answer) -> Result<Answered, Error> {
        let place = (scope.one()?, answer.key);
        Ok(match self.requests.get(&place) {
            Some(before) if before.question == answer.question => Answered::Before(before.answer.clone()),
            Some(_) => Answered::Differs,
            None => {
                let at = to_microsecond(answer.now);
                let record = RequestRecord { question: answer.question, answer: answer.answer, at };
                self.requests.insert(place, record);
                Answered::Kept
            }
        })
    }
}

fn shown(kind: DocumentKind, name: &str, record: &DocumentRecord) -> Document {
    let DocumentRecord { version, body, updated_at } = record.clone();
    Document { kind, name: name.to_owned(), version, body, updated_at }
}
