//! Encryption of what is kept: AES-256 in Galois counter mode, by keys that the database never sees.
//!
//! A [`Keyring`] holds the key that encrypts and earlier ones that still decrypt. What is encrypted is bound to its place
//! by context, so that nobody who writes into the database can pass one secret for another.

mod cleared;
mod keyring;
mod rotate;
mod service_keys;

pub use cleared::Cleared;
pub use keyring::{KeyError, KeySource, Keyring};
pub use rotate::rotate;
pub(crate) use rotate::secret_context;
pub use service_keys::ServiceKeys;
