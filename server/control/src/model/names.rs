//! Kinds of items and their valid names.

use crate::limits;

/// A kind of items. Names are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A collection of policies and data that is distributed.
    Bundle,
    /// An origin of policies and data.
    Source,
    /// Sources that are added to all bundles with certain labels.
    Stack,
    /// Credentials, encrypted in the database.
    Secret,
    /// A credential of an API client.
    Token,
}

impl Kind {
    /// The kinds of items that have owners: all except for tokens.
    pub const OWNED: [Self; 4] = [Self::Bundle, Self::Source, Self::Stack, Self::Secret];

    /// Returns the plural in paths, tables and files, such as `bundles`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Bundle => "bundles",
            Self::Source => "sources",
            Self::Stack => "stacks",
            Self::Secret => "secrets",
            Self::Token => "tokens",
        }
    }

    /// Returns the singular in messages, such as `bundle`.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Source => "source",
            Self::Stack => "stack",
            Self::Secret => "secret",
            Self::Token => "token",
        }
    }

    /// Returns the kind of a plural in a path, such as `bundles`. Returns `None` for any other text.
    pub fn of_plural(plural: &str) -> Option<Self> {
        let all = [
            Self::Bundle,
            Self::Source,
            Self::Stack,
            Self::Secret,
            Self::Token,
        ];
        all.into_iter().find(|kind| kind.plural() == plural)
    }
}

/// Checks a name, which may contain any character except for NUL.
///
/// # Errors
/// The problem of the name.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        Err("must not be empty".to_owned())
    } else if name.len() > limits::NAME {
        Err(format!("is longer than {} bytes", limits::NAME))
    } else if name.contains('\0') {
        Err("has a NUL character".to_owned())
    } else {
        Ok(())
    }
}
