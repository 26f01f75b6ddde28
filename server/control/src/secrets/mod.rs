//! Encryption of stored secrets: AES-256-GCM, with keys that are never stored in the database.
//!
//! A [`Keyring`] contains the key that encrypts and earlier ones that still decrypt. A ciphertext is bound to its context,
//! so that write access to the database does not allow to replace one secret by another.

mod keyring;
mod rotate;
mod service_keys;
mod stored;
mod zeroizing;

pub use keyring::{KeyError, KeySource, Keyring};
pub use rotate::rotate;
pub(crate) use rotate::secret_context;
pub use service_keys::ServiceKeys;
pub use stored::{OpenedSecret, open_secret};
pub use zeroizing::ZeroizingValue;
