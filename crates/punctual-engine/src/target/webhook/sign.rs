//! Signatures as Standard Webhooks has them: HMAC-SHA256 over id, time and body, one for each secret.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How a secret begins.
const PREFIX: &str = "whsec_";

/// How many bytes a key has at least: fewer could be guessed.
const KEY_BYTES_MIN: usize = 24;

/// How many bytes a key has at most.
const KEY_BYTES_MAX: usize = 64;

/// A key that signs.
pub(super) struct Key(hmac::Key);

impl Key {
    /// Reads the keys of a secret; one that is being replaced may hold several, with spaces between them.
    ///
    /// # Errors
    /// When one is none; the message never holds it.
    pub(super) fn read_all(secret: &str) -> Result<Vec<Self>, String> {
        let keys: Vec<Self> = secret.split_whitespace().map(Self::read).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err("it is empty".to_owned()) } else { Ok(keys) }
    }

    fn read(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix(PREFIX).unwrap_or(text);
        let bytes = STANDARD.decode(digits).map_err(|_| format!("it is no key as `{PREFIX}` and base64"))?;
        if !(KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&bytes.len()) {
            let count = bytes.len();
            return Err(format!("a key has {KEY_BYTES_MIN} to {KEY_BYTES_MAX} bytes, and this one {count}"));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }
}

/// What is signed.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    pub(super) id: &'a str,
    /// When, in seconds.
    pub(super) at: i64,
    pub(super) body: &'a [u8],
}

impl Signed<'_> {
    /// The signatures of all keys, with spaces between them.
    pub(super) fn by(&self, keys: &[Key]) -> String {
        let sign = |key: &Key| {
            let mut context = hmac::Context::with_key(&key.0);
            context.update(format!("{}.{}.", self.id, self.at).as_bytes());
            context.update(self.body);
            format!("v1,{}", STANDARD.encode(context.sign().as_ref()))
        };
        keys.iter().map(sign).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn a_signature_is_the_one_of_the_specification() {
        // The example that the specification gives.
        let signed = Signed {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: 1_614_265_330,
            body: br#"{"test": 2432232314}"#,
        };
        let keys = Key::read_all(SECRET).expect("a key");
        assert_eq!(signed.by(&keys), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let both = Key::read_all(&format!("{SECRET} whsec_{}", STANDARD.encode([7; 32]))).expect("two keys");
        let signatures = signed.by(&both);
        assert_eq!(signatures.split(' ').count(), 2);
        assert!(
            signatures.starts_with("v1,g0hM9SsE") && signatures.split(' ').all(|one| one.starts_with("v1,"))
        );
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        for (secret, expected) in [
            ("", "it is empty"),
            ("whsec_?", "it is no key as `whsec_` and base64"),
            ("whsec_aGVsbG8=", "a key has 24 to 64 bytes, and this one 5"),
        ] {
            assert_eq!(Key::read_all(secret).err().as_deref(), Some(expected));
        }
    }
}
