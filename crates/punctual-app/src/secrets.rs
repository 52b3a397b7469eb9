//! Secrets of an org: put, listed by name, removed; never shown.

use jiff::Timestamp;
use punctual_engine::{Label, Vault};
use punctual_store::{
    Access, AnyStore, Cut, Document, DocumentKind, NewDocument, Scope, Store, to_microsecond,
};

use crate::declare::nearest_hint;
use crate::{Database, Failure, Identity, Kind};

/// Secrets of one page of a listing.
const LIST_PAGE: u32 = 1_000;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// A secret as it is shown: everything but its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRow {
    /// Its name.
    pub name: String,
    /// Raised by each change.
    pub version: i64,
    /// When it was last put.
    pub updated_at: Timestamp,
}

impl From<Document> for SecretRow {
    fn from(document: Document) -> Self {
        Self { name: document.name, version: document.version, updated_at: document.updated_at }
    }
}

/// The secrets of the org on whose behalf the program is used.
pub struct Secrets {
    store: AnyStore,
    scope: Scope,
    org_id: String,
    vault: Vault,
}

impl Secrets {
    /// Opens the ledger that keeps them.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open(database: &Database) -> Result<Self, Failure> {
        let (store, vault) = (database.open(Access::Visit).await?, database.vault()?);
        let identity = Identity::from_env()?;
        let scope = identity.scope(&store).await?;
        Ok(Self { store, scope, org_id: identity.org_id, vault })
    }

    /// Seals a value and keeps it under a name, in the place of the one before.
    ///
    /// # Errors
    /// When the name or the value cannot be used, or the key or the database fails.
    pub async fn put(&self, name: &str, value: &str) -> Result<SecretRow, Failure> {
        check(name, value)?;
        let body = self.vault.seal(Label { org_id: &self.org_id, name }, value)?;
        let now = to_microsecond(self.store.now().await?);
        let kind = DocumentKind::Secret;
        let new = NewDocument { kind, name: name.to_owned(), body, replaces: None, now };
        Ok(self.store.put_document(self.scope.clone(), new).await?.into())
    }

    /// Checks what would be put; writes nothing.
    ///
    /// # Errors
    /// When the name or the value cannot be used.
    pub fn check(&self, name: &str, value: &str) -> Result<(), Failure> {
        check(name, value)
    }

    /// All of them, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self) -> Result<Vec<SecretRow>, Failure> {
        let mut cut = Cut::first(LIST_PAGE);
        let mut rows = Vec::new();
        loop {
            let page = self.store.documents(self.scope.clone(), DocumentKind::Secret, cut).await?;
            rows.extend(page.rows.into_iter().map(SecretRow::from));
            match page.next {
                Some(after) => cut = Cut { after: Some(after), limit: LIST_PAGE },
                None => return Ok(rows),
            }
        }
    }

    /// One of them.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn get(&self, name: &str) -> Result<SecretRow, Failure> {
        let found = self.store.document(self.scope.clone(), DocumentKind::Secret, name.to_owned()).await?;
        match found {
            Some(document) => Ok(document.into()),
            None => Err(self.missing(name).await?),
        }
    }

    /// Removes one.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn remove(&self, name: &str) -> Result<(), Failure> {
        let is_removed =
            self.store.remove_document(self.scope.clone(), DocumentKind::Secret, name.to_owned()).await?;
        if is_removed { Ok(()) } else { Err(self.missing(name).await?) }
    }

    async fn missing(&self, name: &str) -> Result<Failure, Failure> {
        let known = self.list().await?;
        let hint = nearest_hint(name, known.iter().map(|row| row.name.as_str()), "there are no secrets");
        Ok(Failure {
            kind: Kind::NotFound,
            message: format!("there is no secret `{name}`"),
            hint: Some(hint),
        })
    }
}

/// A name that a reference can hold, and a value that a variable can.
fn check(name: &str, value: &str) -> Result<(), Failure> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        return Err(Failure::invalid(
            format!("`{name}` cannot be the name of a secret"),
            format!("use up to {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`"),
        ));
    }
    if value.is_empty() {
        return Err(Failure::invalid(
            "the value is empty",
            "write it to standard input, or name a file with `--from-file`",
        ));
    }
    if value.contains('\0') {
        return Err(Failure::invalid(
            "the value holds a NUL, which no variable can hold",
            "encode it, such as with `base64`",
        ));
    }
    Ok(())
}
