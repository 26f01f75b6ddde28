//! Keys that the service makes for itself: they sign cursors, and make digests of tokens' keys.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::{KeyError, Keyring};
use crate::db::{Database, Mode};
use crate::error::Refusal;

/// The setting that holds them.
pub(super) const SETTING: &str = "service_keys";

/// Keys that are derived from one, which the database holds encrypted.
pub struct ServiceKeys {
    tokens: hmac::Key,
    versions: hmac::Key,
    cursors: Keyring,
}

impl ServiceKeys {
    /// The keys of a database, which are made if it has none.
    ///
    /// # Errors
    /// A database that cannot be reached, or whose keys are encrypted by a key that is not here.
    pub async fn open(database: &Database, keyring: &Keyring) -> Result<Self, Refusal> {
        let mut transaction = database.begin(Mode::Write).await?;
        let root = match transaction.setting(SETTING).await? {
            Some(kept) => unseal(keyring, &kept).map_err(|error| Refusal::internal(error.0))?,
            None => {
                let mut root = Zeroizing::new(vec![0; 32]);
                getrandom::fill(&mut root).map_err(|error| Refusal::internal(error.to_string()))?;
                let kept = seal(keyring, &root).map_err(|error| Refusal::internal(error.0))?;
                transaction.put_setting(SETTING, &kept).await?;
                root
            }
        };
        transaction.commit().await?;
        Self::derive(&root).map_err(|error| Refusal::internal(error.0))
    }

    fn derive(root: &[u8]) -> Result<Self, KeyError> {
        let root = hmac::Key::new(hmac::HMAC_SHA256, root);
        let derived = |purpose: &str| hmac::sign(&root, purpose.as_bytes());
        let key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, derived(purpose).as_ref());
        let cursors = Zeroizing::new(hex::encode(derived("cursors").as_ref()));
        Ok(Self {
            tokens: key("tokens"),
            versions: key("versions"),
            cursors: Keyring::read(&cursors)?,
        })
    }

    /// The digest of a token's key, by which the database knows it.
    pub fn digest(&self, key: &str) -> Vec<u8> {
        hmac::sign(&self.tokens, key.as_bytes()).as_ref().to_vec()
    }

    /// A tag for a state of something, which tells nothing else about it.
    pub fn tag(&self, state: &str) -> String {
        let digest = hmac::sign(&self.versions, state.as_bytes());
        URL_SAFE_NO_PAD.encode(digest.as_ref().get(..12).unwrap_or_default())
    }

    /// A cursor that stands for a number in a list, and tells nobody which.
    ///
    /// # Errors
    /// A fault of the machine.
    pub fn cursor(&self, list: &str, number: i64) -> Result<String, KeyError> {
        let (_, sealed) = self.cursors.seal(list, &number.to_be_bytes())?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// The number of a cursor of this list; nothing where it is none.
    pub fn number(&self, list: &str, cursor: &str) -> Option<i64> {
        let sealed = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let number = self.cursors.unseal(list, self.cursors.current(), &sealed);
        Some(i64::from_be_bytes(number.ok()?.as_slice().try_into().ok()?))
    }
}

const CONTEXT: &str = "settings/service_keys";

/// What is kept: the number of the key, a line end, what it encrypted.
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
