//! Secrets at rest: sealed with a key that is in a file of its own, so that a copy of the database gives nothing away.
//!
//! AES-256-GCM under a random nonce; org and name are bound to what they seal, so that one value cannot stand in for
//! another. docs/adr has the reasons.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use serde_json::{Value, json};

/// How long a key is.
const KEY_BYTES: usize = 32;

/// The longest value: what a variable of the environment can hold, with room for others.
pub const SECRET_BYTES_MAX: usize = 64 * 1024;

/// The name of the only cipher there is, for those who read the table.
const CIPHER: &str = "aes-256-gcm";

/// Seals and opens secrets with the key in a file.
#[derive(Clone, Debug)]
pub struct Vault {
    path: PathBuf,
}

/// Whose secret, and which.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// The tenant, by its public id.
    pub org_id: &'a str,
    /// The secret's name.
    pub name: &'a str,
}

impl Label<'_> {
    fn bytes(&self) -> Vec<u8> {
        // No org's id and no name can hold a NUL: two labels are never the same bytes.
        [self.org_id.as_bytes(), b"\0", self.name.as_bytes()].concat()
    }
}

impl Vault {
    /// The vault whose key is, or will be, in a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the key is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Seals a value; the key is made when the first one is. What comes back is what the database keeps.
    ///
    /// ```
    /// use punctual_engine::{Label, Vault};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let vault = Vault::new(folder.path().join("punctual.key"));
    /// let label = Label { org_id: "default", name: "api" };
    /// let sealed = vault.seal(label, "s3cr3t")?;
    /// assert!(!sealed.contains("s3cr3t"));
    /// assert_eq!(vault.open(label, &sealed)?, "s3cr3t");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the value is too long, or the key cannot be read or made.
    pub fn seal(&self, label: Label<'_>, value: &str) -> Result<String, VaultError> {
        if value.len() > SECRET_BYTES_MAX {
            return Err(VaultError::TooLong);
        }
        let key = match self.read() {
            Err(VaultError::NoKey { .. }) => self.make()?,
            other => other?,
        };
        let mut sealed = value.as_bytes().to_vec();
        let nonce = key
            .seal_in_place_append_tag(Aad::from(label.bytes()), &mut sealed)
            .map_err(|_| VaultError::Broken { name: label.name.to_owned() })?;
        Ok(json!({"cipher": CIPHER, "nonce": to_hex(nonce.as_ref()), "sealed": to_hex(&sealed)}).to_string())
    }

    /// Opens what was sealed.
    ///
    /// # Errors
    /// When the key is missing or another one, or what was sealed was changed.
    pub fn open(&self, label: Label<'_>, body: &str) -> Result<String, VaultError> {
        let broken = || VaultError::Broken { name: label.name.to_owned() };
        let body: Value = serde_json::from_str(body).map_err(|_| broken())?;
        let part = |name: &str| body[name].as_str().and_then(from_hex).ok_or_else(broken);
        if body["cipher"] != CIPHER {
            return Err(broken());
        }
        let nonce = Nonce::try_assume_unique_for_key(&part("nonce")?).map_err(|_| broken())?;
        let mut sealed = part("sealed")?;
        let key = self.read()?;
        let value =
            key.open_in_place(nonce, Aad::from(label.bytes()), &mut sealed).map_err(|_| broken())?.to_vec();
        String::from_utf8(value).map_err(|_| broken())
    }

    fn read(&self) -> Result<RandomizedNonceKey, VaultError> {
        let failed = |source| VaultError::Key { path: self.path.clone(), source };
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(VaultError::NoKey { path: self.path.clone() });
            }
            other => other.map_err(failed)?,
        };
        let mode = fs::metadata(&self.path).map_err(failed)?.mode();
        if mode & 0o077 != 0 {
            return Err(VaultError::Readable { path: self.path.clone() });
        }
        let bytes = from_hex(text.trim()).filter(|bytes| bytes.len() == KEY_BYTES);
        let bytes = bytes.ok_or_else(|| failed(io::Error::other("it holds no key")))?;
        RandomizedNonceKey::new(&AES_256_GCM, &bytes).map_err(|_| failed(io::Error::other("it holds no key")))
    }

    /// Makes a key that only its owner can read. Of two processes that do so at once, one wins and both use its key.
    fn make(&self) -> Result<RandomizedNonceKey, VaultError> {
        let failed = |source| VaultError::Key { path: self.path.clone(), source };
        let mut bytes = [0; KEY_BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| failed(io::Error::other("no random numbers")))?;
        let fresh = self.path.with_extension(format!("key-{}", std::process::id()));
        let written = self.write(&fresh, &bytes);
        // A link, unlike a rename, never replaces a key that is there.
        let linked = written.and_then(|()| fs::hard_link(&fresh, &self.path));
        let _ = fs::remove_file(&fresh);
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
            _ => self.read(),
        }
    }

    fn write(&self, fresh: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(fresh)?;
        writeln!(file, "{}", to_hex(bytes))?;
        file.sync_all()
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Why a secret cannot be sealed or opened. It never holds a value.
#[derive(Debug)]
pub enum VaultError {
    /// There is no key.
    NoKey {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The key cannot be read or made.
    Key {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others can read the key.
    Readable {
        /// Where it is.
        path: PathBuf,
    },
    /// It was sealed with another key, or changed.
    Broken {
        /// Which secret.
        name: String,
    },
    /// The value is too long.
    TooLong,
}

impl VaultError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKey { path } => {
                format!("copy the key of the host on which the secret was put to `{}`", path.display())
            }
            Self::Key { path, .. } => format!("check `{}`; without it no secret can be read", path.display()),
            Self::Readable { path } => format!("run `chmod 600 {}`", path.display()),
            Self::Broken { name } => format!("put it again with `punctual secret put {name}`"),
            Self::TooLong => {
                format!("keep it in a file and refer to it as `${{file:PATH}}`; {SECRET_BYTES_MAX} bytes fit")
            }
        }
    }
}

impl fmt::Display for VaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey { path } => write!(f, "there is no key `{}`", path.display()),
            Self::Key { path, source } => write!(f, "cannot use the key `{}`: {source}", path.display()),
            Self::Readable { path } => write!(f, "others can read the key `{}`", path.display()),
            Self::Broken { name } => write!(f, "the secret `{name}` was sealed with another key, or changed"),
            Self::TooLong => write!(f, "the value is longer than {SECRET_BYTES_MAX} bytes"),
        }
    }
}

impl std::error::Error for VaultError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const API: Label<'static> = Label { org_id: "acme", name: "api" };

    #[test]
    fn the_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(folder.path().join("new/punctual.key"));
        let sealed = vault.seal(API, "first").unwrap();
        let again = vault.seal(API, "first").unwrap();
        assert_ne!(sealed, again, "the same value is sealed differently each time");
        assert_eq!(fs::metadata(vault.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(vault.open(API, &sealed).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1, "nothing else is left");
        fs::set_permissions(vault.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(vault.open(API, &sealed), Err(VaultError::Readable { .. })));
    }

    #[test]
    fn what_was_sealed_opens_only_unchanged_under_its_own_name_and_key() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(folder.path().join("punctual.key"));
        let sealed = vault.seal(API, "value").unwrap();
        let is_broken = |vault: &Vault, label, body: &str| {
            matches!(vault.open(label, body), Err(VaultError::Broken { .. }))
        };
        assert!(is_broken(&vault, Label { name: "other", ..API }, &sealed));
        assert!(is_broken(&vault, Label { org_id: "other", ..API }, &sealed));
        let mut body: Value = serde_json::from_str(&sealed).unwrap();
        let (first, rest) = body["sealed"].as_str().unwrap().split_at(2);
        let another = if first == "00" { "01" } else { "00" };
        body["sealed"] = json!(format!("{another}{rest}"));
        assert!(is_broken(&vault, API, &body.to_string()));
        assert!(is_broken(&vault, API, "plain text"));
        let other = Vault::new(folder.path().join("other.key"));
        assert!(matches!(other.open(API, &sealed), Err(VaultError::NoKey { .. })));
        other.seal(API, "value").unwrap();
        assert!(is_broken(&other, API, &sealed));
    }

    #[test]
    fn a_value_that_no_variable_could_hold_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(folder.path().join("punctual.key"));
        assert!(matches!(vault.seal(API, &"x".repeat(SECRET_BYTES_MAX + 1)), Err(VaultError::TooLong)));
    }
}
