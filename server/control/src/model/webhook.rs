//! Webhooks of sources: a provider of repositories reports a push.

use serde::Serialize;
use serde_json::Value;

use super::{FieldPath, Kind, Reader, Reference, SecretValue};

/// A webhook of a source: its deliveries cause a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Webhook {
    /// The provider, which decides how a delivery is authenticated.
    pub provider: WebhookProvider,
    /// The name of the secret that the provider and the service share.
    pub secret: String,
}

/// A provider of repositories, with the header that authenticates a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookProvider {
    /// GitHub: `X-Hub-Signature-256`.
    Github,
    /// GitLab: `X-Gitlab-Token`.
    Gitlab,
    /// Gitea and Forgejo: `X-Gitea-Signature`.
    Gitea,
}

impl WebhookProvider {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "github" => Self::Github,
            "gitlab" => Self::Gitlab,
            "gitea" => Self::Gitea,
            _ => return None,
        })
    }
}

impl Webhook {
    /// Parses the member `webhook` of a source.
    pub(super) fn read(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        value: &Value,
    ) -> Option<Self> {
        let mut members = reader.object(field_path, value);
        let name = members.required(reader, field_path, "provider");
        let secret = members.required(reader, field_path, "secret");
        members.end(reader, field_path);
        let provider = WebhookProvider::from_name(&name);
        if provider.is_none() && !name.is_empty() {
            let field_path = field_path.member("provider");
            let message = format_args!("must be `github`, `gitlab` or `gitea`, not {name:?}");
            reader.report(&field_path, message);
        }
        provider.map(|provider| Self { provider, secret })
    }

    /// Returns the webhook of a stored source and the reference of its repository, which may be empty.
    pub fn of_source(body: &str) -> Option<(Self, String)> {
        let body: Value = serde_json::from_str(body).ok()?;
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        let webhook = Self {
            provider: WebhookProvider::from_name(text("/webhook/provider")?)?,
            secret: text("/webhook/secret")?.to_owned(),
        };
        let reference = text("/git/reference").unwrap_or_default();
        Some((webhook, reference.to_owned()))
    }

    /// Returns the reference to the secret. It is sent to no host, so `allowed_hosts` never permit its use: a source uses
    /// secrets of its own owner, unless an administrator or a file writes it.
    pub(super) fn reference(&self) -> Reference {
        Reference {
            kind: Kind::Secret,
            name: self.secret.clone(),
            field: "webhook.secret".to_owned(),
            address: None,
        }
    }

    /// Returns the shared secret in a value of type `password` or `token_auth`. Returns `None` for other types and for empty
    /// secrets, which authenticate nothing.
    pub fn shared_secret(value: &SecretValue) -> Option<&str> {
        let text = match value.kind() {
            "password" => value.text("password"),
            "token_auth" => value.text("token"),
            _ => None,
        };
        text.filter(|text| !text.is_empty())
    }
}
