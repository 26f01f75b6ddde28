//! Tokens: credentials of API clients.

use serde::Serialize;
use serde_json::Value;

use super::{FieldPath, Reader, timestamp};

/// Role of a token: the permissions that it has without grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// All permissions, also on items of other owners.
    Administrator,
    /// Reads everything except for values of secrets.
    Viewer,
    /// Creates bundles, sources and secrets, and has all permissions on those.
    Owner,
    /// Creates stacks, and has all permissions on those.
    StackOwner,
}

impl Role {
    /// Returns the name of the role in requests, such as `stack_owner`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Viewer => "viewer",
            Self::Owner => "owner",
            Self::StackOwner => "stack_owner",
        }
    }

    /// Returns the role of a name, or `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::Administrator,
            Self::Viewer,
            Self::Owner,
            Self::StackOwner,
        ];
        all.into_iter().find(|role| role.as_str() == name)
    }

    pub(crate) fn read(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        value: &Value,
    ) -> Option<Self> {
        let name = reader.text(field_path, value);
        let role = Self::from_name(&name);
        if role.is_none() && value.is_string() {
            let message = "must be one of `administrator`, `viewer`, `owner`, `stack_owner`";
            reader.report(field_path, message);
        }
        role
    }
}

/// A token as a request describes it.
#[derive(Clone, Debug)]
pub struct Token {
    /// The name. Empty if the body has none.
    pub name: String,
    /// The role. `None` if the body has none, which creating a token rejects.
    pub role: Option<Role>,
    /// The time after which its key is rejected, in microseconds since 1970.
    pub expires_at: Option<i64>,
}

impl Token {
    /// Reads a token: `{"name": …, "role": …, "expires_at": …}`.
    pub fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let name = members.name(reader, field_path);
        let role = match members.take("role") {
            Some(value) => Role::read(reader, &field_path.member("role"), value),
            None => {
                if members.is_object() {
                    reader.report(&field_path.member("role"), "is required");
                }
                None
            }
        };
        let expires_at = members.take("expires_at").and_then(|value| {
            let field_path = field_path.member("expires_at");
            let text = reader.text(&field_path, value);
            let end = timestamp::read(&text);
            if end.is_none() && value.is_string() {
                reader.report(&field_path, "must be a time such as `2030-01-31T00:00:00Z`");
            }
            end
        });
        members.end(reader, field_path);
        Self {
            name,
            role,
            expires_at,
        }
    }
}
