//! Tokens: who asks.

use serde::Serialize;
use serde_json::Value;

use super::{Place, Reader, moment};

/// What someone may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Administrator,
    /// See everything but secrets' values.
    Viewer,
    /// Make bundles, sources and secrets, and do everything with those.
    Owner,
    /// Make stacks, and do everything with those.
    StackOwner,
}

impl Role {
    /// The word of a role.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Viewer => "viewer",
            Self::Owner => "owner",
            Self::StackOwner => "stack_owner",
        }
    }

    /// The role of a word.
    pub fn named(word: &str) -> Option<Self> {
        let all = [
            Self::Administrator,
            Self::Viewer,
            Self::Owner,
            Self::StackOwner,
        ];
        all.into_iter().find(|role| role.as_str() == word)
    }

    /// Reads a role.
    pub(crate) fn read(reader: &mut Reader, place: &Place<'_>, value: &Value) -> Option<Self> {
        let word = reader.text(place, value);
        let role = Self::named(&word);
        if role.is_none() && value.is_string() {
            let words = "must be one of `administrator`, `viewer`, `owner`, `stack_owner`";
            reader.refuse(place, words);
        }
        role
    }
}

/// A token as a request describes it.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its name; empty where the body has none.
    pub name: String,
    /// What its holder may do.
    pub role: Option<Role>,
    /// When its key ends to be taken, in microseconds since 1970.
    pub expires_at: Option<i64>,
}

impl Token {
    /// Reads a token: `{"name": …, "role": …, "expires_at": …}`.
    pub fn read(reader: &mut Reader, place: &Place<'_>, value: &Value) -> Self {
        let mut members = reader.object(place, value);
        let name = members.name(reader, place);
        let role = match members.take("role") {
            Some(value) => Role::read(reader, &place.member("role"), value),
            None => {
                if members.is_object() {
                    reader.refuse(&place.member("role"), "is required");
                }
                None
            }
        };
        let expires_at = members.take("expires_at").and_then(|value| {
            let place = place.member("expires_at");
            let text = reader.text(&place, value);
            let end = moment::read(&text);
            if end.is_none() && value.is_string() {
                reader.refuse(&place, "must be a time such as `2030-01-31T00:00:00Z`");
            }
            end
        });
        members.end(reader, place);
        Self {
            name,
            role,
            expires_at,
        }
    }
}
