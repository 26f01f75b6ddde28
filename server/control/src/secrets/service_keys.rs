//! Keys that the service generates for itself. They sign cursors and compute digests of token keys.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::{KeyError, Keyring};
use crate::db::{Database, Mode};
use crate::error::ApiError;

pub(super) const SETTING: &str = "service_keys";

/// Keys that are derived from a root key, which the database stores encrypted.
pub struct ServiceKeys {
    tokens: hmac::Key,
    versions: hmac::Key,
    sessions: hmac::Key,
    forms: hmac::Key,
    cursors: Keyring,
}

impl ServiceKeys {
    /// Opens the keys of a database, or generates them if it has none.
    ///
    /// # Errors
    /// The database cannot be reached, or the key that encrypted its keys is missing.
    pub async fn open(database: &Database, keyring: &Keyring) -> Result<Self, ApiError> {
        let mut transaction = database.begin(Mode::Write).await?;
        let root = match transaction.setting(SETTING).await? {
            Some(kept) => unseal(keyring, &kept).map_err(|error| ApiError::internal(error.0))?,
            None => {
                let mut root = Zeroizing::new(vec![0; 32]);
                getrandom::fill(&mut root)
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                let kept = seal(keyring, &root).map_err(|error| ApiError::internal(error.0))?;
                transaction.put_setting(SETTING, &kept).await?;
                root
            }
        };
        transaction.commit().await?;
        Self::derive(&root).map_err(|error| ApiError::internal(error.0))
    }

    fn derive(root: &[u8]) -> Result<Self, KeyError> {
        let root = hmac::Key::new(hmac::HMAC_SHA256, root);
        let derived = |purpose: &str| hmac::sign(&root, purpose.as_bytes());
        let key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, derived(purpose).as_ref());
        let cursors = Zeroizing::new(hex::encode(derived("cursors").as_ref()));
        Ok(Self {
            tokens: key("tokens"),
            versions: key("versions"),
            sessions: key("sessions"),
            forms: key("forms"),
            cursors: Keyring::read(&cursors)?,
        })
    }

    /// Returns the digest of a token key, which the database stores.
    pub fn digest(&self, key: &str) -> Vec<u8> {
        hmac::sign(&self.tokens, key.as_bytes()).as_ref().to_vec()
    }

    /// Returns the digest of the cookie of a session, which the database stores.
    pub fn session_digest(&self, cookie: &str) -> Vec<u8> {
        hmac::sign(&self.sessions, cookie.as_bytes())
            .as_ref()
            .to_vec()
    }

    /// Returns the token that forms contain for a cookie: an HMAC of it.
    pub fn form_token(&self, cookie: &str) -> String {
        hex::encode(hmac::sign(&self.forms, cookie.as_bytes()))
    }

    /// Returns `true` if a token is that of a cookie. Takes constant time.
    pub fn is_form_token(&self, cookie: &str, token: &str) -> bool {
        let tag = hex::decode(token).unwrap_or_default();
        hmac::verify(&self.forms, cookie.as_bytes(), &tag).is_ok()
    }

    /// Returns a tag for a state, which reveals nothing else about it.
    pub fn tag(&self, state: &str) -> String {
        let digest = hmac::sign(&self.versions, state.as_bytes());
        URL_SAFE_NO_PAD.encode(digest.as_ref().get(..12).unwrap_or_default())
    }

    /// Returns an opaque cursor for an id in a list.
    ///
    /// # Errors
    /// The random number generator failed.
    pub fn cursor(&self, list: &str, number: i64) -> Result<String, KeyError> {
        let (_, sealed) = self.cursors.seal(list, &number.to_be_bytes())?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Returns the id in a cursor of this list, or `None` if the cursor is invalid.
    pub fn number(&self, list: &str, cursor: &str) -> Option<i64> {
        let sealed = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let number = self.cursors.unseal(list, self.cursors.current(), &sealed);
        Some(i64::from_be_bytes(number.ok()?.as_slice().try_into().ok()?))
    }
}

const CONTEXT: &str = "settings/service_keys";

/// Returns the stored record: the id of the encryption key, a line feed, and the encrypted root key.
pub(super) fn seal(keyring: &Keyring, root: &[u8]) -> Result<Vec<u8>, KeyError> {
    let (id, sealed) = keyring.seal(CONTEXT, root)?;
    let mut kept = id.as_bytes().to_vec();
    kept.push(b'\n');
    kept.extend_from_slice(&sealed);
    Ok(kept)
}

pub(super) fn unseal(keyring: &Keyring, kept: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let wrong = || KeyError("the keys of the service are broken".to_owned());
    let end = kept
        .iter()
        .position(|&byte| byte == b'\n')
        .ok_or_else(wrong)?;
    let (id, sealed) = kept.split_at_checked(end).ok_or_else(wrong)?;
    let id = std::str::from_utf8(id).map_err(|_| wrong())?;
    keyring.unseal(CONTEXT, id, sealed.get(1..).unwrap_or_default())
}
