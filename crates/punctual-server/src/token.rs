//! The token of a server: made at its first start, kept as a hash, and written where its owner finds it.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use punctual_app::{Database, Failure};
use punctual_store::{AnyStore, Scope, Store, Token};
use sha2::{Digest, Sha256};
use tracing::info;

/// What a token begins with, so that people and scanners of leaked secrets know one.
const PREFIX: &str = "punctual_";

/// Random bytes of a token.
const BYTES: usize = 32;

/// A token that only its owner reads.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The token of a server: the one in the file, if the database knows it; else a new one.
    ///
    /// # Errors
    /// When the file cannot be written or is open to others, or the database fails.
    pub async fn of_server(store: &AnyStore, scope: Scope, file: &Path) -> Result<Self, Failure> {
        if let Some(kept) = Self::read(file)? {
            let known = store.token(hash_of(&kept.0)).await?;
            if known.is_some_and(|(_, token)| token.revoked_at.is_none()) {
                return Ok(kept);
            }
        }
        let secret = Self::new()?;
        let hash = hash_of(&secret.0);
        let token = Token {
            id: format!("tok-{}", &hash[..12]),
            hash,
            user: None,
            scopes: "*".to_owned(),
            created_at: Timestamp::now(),
            expires_at: None,
            revoked_at: None,
        };
        // The file comes first: a token that nobody knows is of no use, a file with an unknown token is replaced.
        secret.write(file).map_err(|error| unwritable(file, &error))?;
        store.put_token(scope, token).await?;
        let (token, file) = (&secret.0, file.display());
        info!(
            token,
            %file,
            "a token was made, and is shown only now; send it as `Authorization: Bearer TOKEN`, or set `PUNCTUAL_TOKEN`"
        );
        Ok(secret)
    }

    /// The token in a file, if there is one.
    ///
    /// # Errors
    /// When others may read the file.
    pub fn read(file: &Path) -> Result<Option<Self>, Failure> {
        let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
        let mode = std::fs::metadata(file).map(|data| data.permissions().mode()).unwrap_or_default();
        if mode & 0o077 != 0 {
            return Err(Failure::invalid(
                format!("others may read the token in `{}`", file.display()),
                "remove the file: the next start of the server makes another token",
            ));
        }
        Ok(Some(Self(text.trim().to_owned())).filter(|secret| !secret.0.is_empty()))
    }

    /// What is sent.
    pub fn show(&self) -> &str {
        &self.0
    }

    fn new() -> Result<Self, Failure> {
        let mut bytes = [0; BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Failure::world("the system has no random numbers"))?;
        Ok(Self(format!("{PREFIX}{}", hex(&bytes))))
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        let mut new = file.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        let mut opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        // A file that was there before keeps its mode.
        opened.set_permissions(Permissions::from_mode(0o600))?;
        opened.write_all(format!("{}\n", self.0).as_bytes())?;
        opened.sync_all()?;
        std::fs::rename(new, file)
    }
}

impl From<String> for Secret {
    fn from(token: String) -> Self {
        Self(token)
    }
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::world(format!("cannot write the token into `{}`: {error}", file.display()))
}

/// Where the token of the server of a database is: beside the file, or in the user's data folder.
///
/// # Errors
/// When no data folder is known.
pub fn token_file(database: &Database) -> Result<PathBuf, Failure> {
    Ok(match database {
        Database::Sqlite { path } => beside(path, ".token"),
        Database::Postgres { url } => {
            let folder = database.journal()?;
            folder.with_file_name(format!("postgres-{}.token", &hash_of(url)[..12]))
        }
    })
}

/// A file beside another one.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The hash that a token is kept as.
pub(crate) fn hash_of(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
