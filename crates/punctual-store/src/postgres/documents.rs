//! Shared things, tokens and answers to requests.

use jiff::Timestamp;
use punctual_plan::OrgKey;
use tokio_postgres::Row;

use super::connection::{Arg, Role, Tx, col};
use super::create::actor;
use super::ledger::{About, Events};
use super::said::is_duplicate;
use super::schedules::listed;
use super::{Postgres, sql};
use crate::instant::from_micros;
use crate::stored::Limits;
use crate::{Answer, Answered, Cut, Document, DocumentKind, Error, Listed, NewDocument, Scope, Token};

/// The org that a scope writes for.
pub(super) fn org_of(scope: &Scope) -> Result<OrgKey, Error> {
    match scope {
        Scope::Org { org, .. } => Ok(*org),
        Scope::Engine => Err(Error::Forbidden { what: "write what belongs to an org" }),
    }
}

pub(super) fn read_document(kind: DocumentKind, row: &Row) -> Result<Document, Error> {
    Ok(Document {
        kind,
        name: col(row, 0)?,
        version: col(row, 1)?,
        body: col(row, 2)?,
        updated_at: from_micros(col(row, 3)?)?,
    })
}

fn read_token(row: &Row) -> Result<Token, Error> {
    let micros = |place| col::<Option<i64>>(row, place)?.map(from_micros).transpose();
    Ok(Token {
        id: col(row, 1)?,
        hash: col(row, 2)?,
        user: col(row, 3)?,
        scopes: col(row, 4)?,
        created_at: from_micros(col(row, 5)?)?,
        expires_at: micros(6)?,
        revoked_at: micros(7)?,
    })
}

/// What was done to a shared thing, in the audit log.
async fn note(
    tx: &Tx,
    scope: &Scope,
    (kind, done, name): (DocumentKind, &str, &str),
    at: Timestamp,
) -> Result<(), Error> {
    let about = About { org: org_of(scope)?, schedule: None, run: None };
    let mut events = Events::default();
    events.say(about, &actor(scope), (&format!("{}.{done}", kind.table()), name));
    events.write(tx, at).await
}

impl Postgres {
    pub(super) async fn write_document(&self, scope: &Scope, new: &NewDocument) -> Result<Document, Error> {
        let org = org_of(scope)?;
        if new.kind == DocumentKind::Limits {
            Limits::read(&new.body)?;
        }
        let tx = self.connections.begin(scope.into(), "writing a shared thing").await?;
        let result = async {
            let document = self.write_document_in(&tx, org, new).await?;
            note(&tx, scope, (new.kind, "put", &new.name), new.now).await?;
            Ok(document)
        };
        let result = result.await;
        tx.finish(result).await
    }

    async fn write_document_in(&self, tx: &Tx, org: OrgKey, new: &NewDocument) -> Result<Document, Error> {
        let (name, body, now) = (new.name.as_str(), new.body.as_str(), new.now.as_microsecond());
        let statement = sql!("put_document").replace("{table}", new.kind.table());
        let row = tx.row(&statement, &[&org.0, &name, &body, &now, &new.replaces]).await?;
        let row = row.ok_or_else(|| Error::Conflict { what: format!("`{name}`") })?;
        let document = read_document(new.kind, &row)?;
        if new.kind == DocumentKind::Limits && document.version == 1 {
            // Nobody kept count before: what is in flight is counted when it is asked for.
            tx.run(sql!("forget_org_use"), &[&org.0]).await?;
        }
        self.notify(tx).await?;
        Ok(document)
    }

    pub(super) async fn find_document(
        &self,
        scope: &Scope,
        kind: DocumentKind,
        name: &str,
    ) -> Result<Option<Document>, Error> {
        let tx = self.connections.begin(scope.into(), "reading a shared thing").await?;
        let statement = sql!("find_document").replace("{table}", kind.table());
        let row = tx.row(&statement, &[&name]).await;
        tx.over(row).await?.map(|row| read_document(kind, &row)).transpose()
    }

    pub(super) async fn list_documents(
        &self,
        scope: &Scope,
        kind: DocumentKind,
        cut: &Cut,
    ) -> Result<Listed<Document>, Error> {
        let tx = self.connections.begin(scope.into(), "listing shared things").await?;
        let statement = sql!("list_documents").replace("{table}", kind.table());
        let rows = tx.rows(&statement, &[&cut.after, &(i64::from(cut.limit) + 1)]).await;
        let rows = tx.over(rows).await?;
        let rows = rows.iter().map(|row| read_document(kind, row)).collect::<Result<Vec<_>, _>>()?;
        Ok(listed(rows, cut, |document| document.name.clone()))
    }

    pub(super) async fn delete_document(
        &self,
        scope: &Scope,
        kind: DocumentKind,
        name: &str,
    ) -> Result<bool, Error> {
        let org = org_of(scope)?;
        let now = self.clock_now().await?;
        let tx = self.connections.begin(scope.into(), "removing a shared thing").await?;
        let statement = sql!("remove_document").replace("{table}", kind.table());
        let result = async {
            let count = tx.run(&statement, &[&org.0, &name]).await?;
            if kind == DocumentKind::Limits {
                tx.run(sql!("forget_org_use"), &[&org.0]).await?;
            }
            if count > 0 {
                note(&tx, scope, (kind, "removed", name), now).await?;
            }
            self.notify(&tx).await?;
            Ok(count > 0)
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn write_token(&self, scope: &Scope, token: &Token) -> Result<(), Error> {
        let org = org_of(scope)?;
        let tx = self.connections.begin(scope.into(), "keeping a token").await?;
        let micros = |at: Option<jiff::Timestamp>| at.map(jiff::Timestamp::as_microsecond);
        let (id, hash, scopes) = (token.id.as_str(), token.hash.as_str(), token.scopes.as_str());
        let created = token.created_at.as_microsecond();
        let (expires, revoked) = (micros(token.expires_at), micros(token.revoked_at));
        let arguments: [&dyn Arg; 8] =
            [&org.0, &id, &hash, &token.user, &scopes, &created, &expires, &revoked];
        let result = tx.run(sql!("put_token"), &arguments).await.map(|_| ());
        let result = result.map_err(|error| match is_duplicate(&error) {
            true => Error::Conflict { what: format!("token `{id}`") },
            false => error,
        });
        tx.finish(result).await
    }

    pub(super) async fn find_token(&self, hash: &str) -> Result<Option<(OrgKey, Token)>, Error> {
        let tx = self.connections.begin(Role::Engine, "looking for a token").await?;
        let row = tx.row(sql!("find_token"), &[&hash]).await;
        tx.over(row).await?.map(|row| Ok((OrgKey(col(&row, 0)?), read_token(&row)?))).transpose()
    }

    pub(super) async fn list_tokens(&self, scope: &Scope) -> Result<Vec<Token>, Error> {
        let tx = self.connections.begin(scope.into(), "listing tokens").await?;
        let rows = tx.rows(sql!("list_tokens"), &[]).await;
        tx.over(rows).await?.iter().map(read_token).collect()
    }

    pub(super) async fn keep_answer(&self, scope: &Scope, answer: &Answer) -> Result<Answered, Error> {
        let org = org_of(scope)?;
        let tx = self.connections.begin(scope.into(), "keeping an answer").await?;
        let result = async {
            let (key, now) = (answer.key.as_str(), answer.now.as_microsecond());
            let arguments: [&dyn Arg; 5] = [&org.0, &key, &answer.question, &answer.answer, &now];
            if tx.run(sql!("keep_answer"), &arguments).await? > 0 {
                return Ok(Answered::Kept);
            }
            let row = tx.row(sql!("find_answer"), &[&org.0, &key]).await?;
            let row = row.ok_or_else(|| Error::Conflict { what: format!("request `{key}`") })?;
            let question: String = col(&row, 0)?;
            Ok(if question == answer.question { Answered::Before(col(&row, 1)?) } else { Answered::Differs })
        };
        let result = result.await;
        tx.finish(result).await
    }
}
