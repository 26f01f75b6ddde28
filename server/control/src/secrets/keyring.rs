//! Encryption keys and the encryption of secrets.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use solon_common::private_files;
use zeroize::Zeroizing;

/// Length of a key in bytes.
const LENGTH: usize = 32;

/// Length of the nonce in bytes, which precedes the ciphertext.
const NONCE: usize = 12;

/// Source of the keys that encrypt and decrypt secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A text with keys of 32 bytes in base64 or hexadecimal, one per line. The first one encrypts.
    Text(Zeroizing<String>),
    /// A file that contains such a text.
    File(PathBuf),
    /// A file that is created with a generated key if it does not exist.
    Made(PathBuf),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text(…)"),
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Made(path) => write!(f, "Made({})", path.display()),
        }
    }
}

/// Error of a key or of a decryption, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError(pub String);

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for KeyError {}

struct Key {
    id: String,
    bytes: Zeroizing<[u8; LENGTH]>,
}

/// The key that encrypts, and earlier ones that still decrypt.
pub struct Keyring {
    keys: Vec<Key>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.keys.iter().map(|key| key.id.as_str()).collect();
        write!(f, "Keyring({})", ids.join(", "))
    }
}

impl Keyring {
    /// Opens the keys of a source.
    ///
    /// # Errors
    /// A file cannot be read or created, or a key is invalid.
    pub fn open(source: &KeySource) -> Result<Self, KeyError> {
        match source {
            KeySource::Text(text) => Self::read(text),
            KeySource::File(path) => Self::read_file(path),
            KeySource::Made(path) if path.exists() => Self::read_file(path),
            KeySource::Made(path) => {
                make_file(path, &[random_key()?], Publish::First)?;
                tracing::warn!(
                    file = %path.display(),
                    "generated a key for secrets in the data folder; configure a key that is stored elsewhere"
                );
                Self::read_file(path)
            }
        }
    }

    fn read_file(path: &Path) -> Result<Self, KeyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| KeyError(format!("cannot read {}: {error}", path.display())))?;
        Self::read(&Zeroizing::new(text))
    }

    /// Parses the keys of a text.
    ///
    /// # Errors
    /// A key is invalid.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        let keys: Result<Vec<Key>, KeyError> = text.split_whitespace().map(Key::read).collect();
        let keys = keys?;
        if keys.is_empty() {
            return Err(KeyError("no key for secrets".to_owned()));
        }
        Ok(Self { keys })
    }

    /// Returns a random key that is not stored.
    ///
    /// # Errors
    /// The random number generator failed.
    pub fn random() -> Result<Self, KeyError> {
        let keys = vec![random_key()?];
        Ok(Self { keys })
    }

    /// Returns the id of the key that encrypts.
    pub fn current(&self) -> &str {
        self.keys.first().map_or("", |key| &key.id)
    }

    /// Encrypts a text, bound to `context`. Returns the id of the key with the ciphertext.
    ///
    /// # Errors
    /// The encryption or the random number generator failed.
    pub fn seal(&self, context: &str, text: &[u8]) -> Result<(&str, Vec<u8>), KeyError> {
        let Some(key) = self.keys.first() else {
            return Err(KeyError("no key for secrets".to_owned()));
        };
        // the capacity includes the tag: a reallocation during in-place encryption would leave plaintext in freed memory
        let mut sealed = Vec::with_capacity(NONCE + text.len() + AES_256_GCM.tag_len());
        sealed.extend_from_slice(text);
        let nonce = key
            .cipher()?
            .seal_in_place_append_tag(Aad::from(context.as_bytes()), &mut sealed)
            .map_err(|_| KeyError("a secret could not be encrypted".to_owned()))?;
        sealed.splice(0..0, nonce.as_ref().iter().copied());
        Ok((&key.id, sealed))
    }

    /// Decrypts a ciphertext that is bound to `context`.
    ///
    /// # Errors
    /// The key is missing, or the ciphertext is not authentic.
    pub fn unseal(
        &self,
        context: &str,
        key_id: &str,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let Some(key) = self.keys.iter().find(|key| key.id == key_id) else {
            return Err(KeyError(format!(
                "the key {key_id} is not among the keys for secrets"
            )));
        };
        let wrong = || KeyError("an encrypted value was modified".to_owned());
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or_else(wrong)?;
        let mut rest = Zeroizing::new(rest.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = key
            .cipher()?
            .open_in_place(nonce, Aad::from(context.as_bytes()), &mut rest)
            .map_err(|_| wrong())?
            .len();
        rest.truncate(length);
        Ok(rest)
    }

    /// Adds a new key, which encrypts from now on, and writes all keys to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_key(&mut self, path: &Path) -> Result<(), KeyError> {
        self.keys.insert(0, random_key()?);
        make_file(path, &self.keys, Publish::Instead)
    }

    /// Deletes all keys except for the current one and the previous one, from memory and from the file. A running service
    /// may still encrypt with the previous one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget_earlier(&mut self, path: &Path) -> Result<(), KeyError> {
        self.keys.truncate(2);
        make_file(path, &self.keys, Publish::Instead)
    }
}

impl Key {
    fn read(text: &str) -> Result<Self, KeyError> {
        let wrong = || KeyError("a key for secrets must be 32 bytes in base64".to_owned());
        let bytes = if text.len() == 2 * LENGTH {
            hex::decode(text).ok()
        } else {
            let plain = text.trim_end_matches('=');
            let url = URL_SAFE_NO_PAD.decode(plain);
            url.ok().or_else(|| STANDARD.decode(text).ok())
        };
        let bytes = Zeroizing::new(bytes.ok_or_else(wrong)?);
        let bytes: &[u8; LENGTH] = bytes.as_slice().try_into().map_err(|_| wrong())?;
        Ok(Self::new(Zeroizing::new(*bytes)))
    }

    fn new(bytes: Zeroizing<[u8; LENGTH]>) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(b"solon control: the number of a key\n");
        context.update(bytes.as_slice());
        let digest = context.finish();
        let id = hex::encode(digest.as_ref().get(..8).unwrap_or_default());
        Self { id, bytes }
    }

    fn cipher(&self) -> Result<RandomizedNonceKey, KeyError> {
        RandomizedNonceKey::new(&AES_256_GCM, self.bytes.as_slice())
            .map_err(|_| KeyError("a key for secrets is of no use".to_owned()))
    }
}

fn random_key() -> Result<Key, KeyError> {
    let mut bytes = Zeroizing::new([0; LENGTH]);
    getrandom::fill(bytes.as_mut_slice())
        .map_err(|error| KeyError(format!("the system has no random bytes: {error}")))?;
    Ok(Key::new(bytes))
}

/// Publication mode of a key file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publish {
    /// Creates the file unless it exists. If several processes create it at the same time, all use the first one.
    First,
    /// Replaces the existing file.
    Instead,
}

/// Writes keys to a file that only its owner can read. The file is replaced atomically for concurrent readers.
fn make_file(path: &Path, keys: &[Key], publish: Publish) -> Result<(), KeyError> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let count = MADE.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{count}.new", std::process::id()));
        let mut file =
            private_files::options(OpenOptions::new().write(true).create(true).truncate(true))
                .open(&temporary)?;
        for key in keys {
            let text = Zeroizing::new(STANDARD.encode(key.bytes.as_slice()));
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        if publish == Publish::Instead {
            return std::fs::rename(temporary, path);
        }
        let linked = std::fs::hard_link(&temporary, path);
        std::fs::remove_file(temporary)?;
        match linked {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    };
    write().map_err(|error: std::io::Error| {
        KeyError(format!("cannot write {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::{KeyError, KeySource, Keyring};

    #[test]
    fn sealed_values_open_only_in_their_context() {
        let first = Keyring::read(&"11".repeat(32)).unwrap();
        let (id, sealed) = first.seal("secrets/a", b"hidden").unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"hidden"));
        assert_eq!(*first.unseal("secrets/a", id, &sealed).unwrap(), b"hidden");
        assert!(first.unseal("secrets/b", id, &sealed).is_err());
        let mut altered = sealed.clone();
        *altered.last_mut().unwrap() ^= 1;
        assert!(first.unseal("secrets/a", id, &altered).is_err());
        assert!(first.unseal("secrets/a", id, &[]).is_err());

        let text = format!("{}\n{}\n", "22".repeat(32), "11".repeat(32));
        let later = Keyring::read(&text).unwrap();
        assert_ne!(later.current(), id);
        assert_eq!(*later.unseal("secrets/a", id, &sealed).unwrap(), b"hidden");
        let other = Keyring::read(&"22".repeat(32)).unwrap();
        let KeyError(message) = other.unseal("secrets/a", id, &sealed).unwrap_err();
        assert!(message.contains(id), "{message}");
    }

    /// Threads that open the key file at the same time all use the same key.
    #[test]
    fn a_key_is_created_once() {
        let name = format!("solon-keyring-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let source = KeySource::Made(folder.join("secrets.key"));
        let start = std::sync::Barrier::new(8);
        let ids: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
            let open = || {
                start.wait();
                Keyring::open(&source).unwrap().current().to_owned()
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            all.into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(ids.len(), 1);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn keys_have_32_bytes() {
        for text in ["", "short", "AAAA", &"zz".repeat(32)] {
            assert!(Keyring::read(text).is_err(), "{text}");
        }
    }
}
