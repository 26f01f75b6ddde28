//! Kinds of items and the names they may have.

use crate::limits;

/// A kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A collection of policies and data that is distributed.
    Bundle,
    /// Where policies and data come from.
    Source,
    /// Sources that go into the bundles with certain labels.
    Stack,
    /// Credentials.
    Secret,
    /// Someone who asks, and the key by which that is known.
    Token,
}

impl Kind {
    /// Every kind that owners may have.
    pub const OWNED: [Self; 4] = [Self::Bundle, Self::Source, Self::Stack, Self::Secret];

    /// The word in paths, tables and files: `bundles`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Bundle => "bundles",
            Self::Source => "sources",
            Self::Stack => "stacks",
            Self::Secret => "secrets",
            Self::Token => "tokens",
        }
    }

    /// The word in messages: `bundle`.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Source => "source",
            Self::Stack => "stack",
            Self::Secret => "secret",
            Self::Token => "token",
        }
    }

    /// The kind of a word in paths.
    pub fn of_plural(word: &str) -> Option<Self> {
        let all = [
            Self::Bundle,
            Self::Source,
            Self::Stack,
            Self::Secret,
            Self::Token,
        ];
        all.into_iter().find(|kind| kind.plural() == word)
    }
}

/// Says what is wrong with a name; it may hold any character but NUL.
///
/// # Errors
/// What is wrong.
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
