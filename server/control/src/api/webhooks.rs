//! Webhooks: deliveries of providers of repositories, authenticated by a shared secret instead of a key.
//!
//! A source without a webhook, an unknown source and a wrong signature have the same response, so that deliveries reveal no
//! names. The id of a delivery is not signed. A copied delivery with another id causes a fetch at most once in
//! [`limits::WEBHOOK_PAUSE`], and a fetch never changes a bundle without a change of the source.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use super::answer::Answer;
use super::request::ApiRequest;
use super::service::ServiceState;
use crate::db::{Mode, Transaction};
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::{Kind, Webhook, WebhookProvider};
use crate::secrets::{ZeroizingValue, open_secret};

/// Headers with a signature or a token.
const SIGNATURES: [&str; 3] = ["x-hub-signature-256", "x-gitlab-token", "x-gitea-signature"];

/// Returns `true` if the headers have a signature of any provider. The body of another request is not read.
pub fn has_signature(headers: &HeaderMap) -> bool {
    SIGNATURES.iter().any(|name| headers.contains_key(*name))
}

/// Handles a delivery to the webhook of a source. 401 unless its signature or token is valid.
pub async fn receive(
    state: &ServiceState,
    source: &str,
    request: &ApiRequest,
) -> Result<Answer, ApiError> {
    let rejected = || ApiError::new(ApiErrorKind::Unknown, "Unauthorized");
    if request.body.len() > limits::WEBHOOK_BODY {
        let message = format!("the body is larger than {} bytes", limits::WEBHOOK_BODY);
        return Err(ApiError::new(ApiErrorKind::TooLarge, message));
    }
    let mut transaction = state.database.begin(Mode::Read).await?;
    let configuration = find_configured(state, &mut transaction, source).await;
    transaction.roll_back().await;
    let (id, webhook, reference, secret) = configuration?.ok_or_else(rejected)?;
    let (headers, body) = (&request.headers, &request.body);
    if !is_authentic(webhook.provider, &secret.0, headers, body) {
        tracing::warn!(
            source,
            request = request.id,
            "the signature of a webhook is wrong"
        );
        return Err(rejected());
    }
    let digest = delivery_digest(webhook.provider, headers, body);
    let mut transaction = state.database.begin(Mode::Write).await?;
    let received = async {
        // the source may have been deleted in the meantime
        let head = transaction.head(Kind::Source, source).await?;
        if head.is_none_or(|head| head.id != id) {
            return Err(rejected());
        }
        if !transaction.remember_delivery(id, &digest).await? {
            return Ok("repeated");
        }
        if is_ping(headers) || !concerns(body, &reference) {
            return Ok("ignored");
        }
        Ok(if transaction.trigger_source(id).await? {
            "triggered"
        } else {
            "waiting"
        })
    };
    let received = received.await;
    let outcome = transaction.settle(received).await?;
    tracing::info!(source, outcome, request = request.id, "Webhook received.");
    Ok(Answer::json(
        &serde_json::json!({"result": {"state": outcome}}),
    ))
}

/// Returns the id of a source, its webhook, the reference of its repository and the shared secret.
async fn find_configured(
    state: &ServiceState,
    transaction: &mut Transaction,
    source: &str,
) -> Result<Option<(i64, Webhook, String, ZeroizingValue)>, ApiError> {
    let Some(item) = transaction.item(Kind::Source, source).await? else {
        return Ok(None);
    };
    let Some((webhook, reference)) = Webhook::of_source(&item.body) else {
        return Ok(None);
    };
    let opened_secret = open_secret(transaction, &state.keyring, &webhook.secret).await?;
    let value = opened_secret
        .as_ref()
        .and_then(|opened_secret| opened_secret.secret.value.as_ref());
    let Some(secret) = value.and_then(Webhook::shared_secret) else {
        let secret = webhook.secret;
        tracing::warn!(
            source,
            secret,
            "the secret of a webhook is not a `password` or a `token_auth` with a value; deliveries are rejected"
        );
        return Ok(None);
    };
    let secret = ZeroizingValue(Value::from(secret));
    Ok(Some((item.head.id, webhook, reference, secret)))
}

/// Returns the only value of a header, or `None` if it is missing or repeated.
fn only_value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.as_bytes())
}

/// Returns `true` if a delivery was sent by an owner of the secret. Comparisons take constant time.
fn is_authentic(
    provider: WebhookProvider,
    secret: &Value,
    headers: &HeaderMap,
    body: &[u8],
) -> bool {
    let Some(secret) = secret.as_str().filter(|secret| !secret.is_empty()) else {
        return false;
    };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let is_signed = |signature: Option<&[u8]>| {
        let tag = signature.and_then(|text| hex::decode(text).ok());
        tag.is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
    };
    match provider {
        WebhookProvider::Github => {
            let header = only_value(headers, "x-hub-signature-256");
            is_signed(header.and_then(|header| header.strip_prefix(b"sha256=")))
        }
        WebhookProvider::Gitea => is_signed(only_value(headers, "x-gitea-signature")),
        // GitLab sends the secret itself. Digests of both are compared, so that the time does not depend on the length.
        WebhookProvider::Gitlab => only_value(headers, "x-gitlab-token").is_some_and(|token| {
            let tag = hmac::sign(&key, token);
            hmac::verify(&key, secret.as_bytes(), tag.as_ref()).is_ok()
        }),
    }
}

/// Returns the digest by which a delivery is remembered: that of its id or, without one, of its body.
fn delivery_digest(provider: WebhookProvider, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let names: &[&str] = match provider {
        WebhookProvider::Github => &["x-github-delivery"],
        WebhookProvider::Gitlab => &["idempotency-key", "x-gitlab-event-uuid"],
        WebhookProvider::Gitea => &["x-gitea-delivery"],
    };
    let id = names.iter().find_map(|name| only_value(headers, name));
    let text = match id {
        Some(id) => [b"id\0", id].concat(),
        None => [b"body\0", body].concat(),
    };
    digest(&SHA256, &text).as_ref().to_vec()
}

/// Returns `true` if a delivery only tests the connection.
fn is_ping(headers: &HeaderMap) -> bool {
    let event =
        only_value(headers, "x-github-event").or_else(|| only_value(headers, "x-gitea-event"));
    event == Some(b"ping")
}

#[derive(Deserialize)]
struct PushEvent {
    #[serde(default, rename = "ref")]
    reference: Value,
}

/// Returns `true` if a delivery may concern a reference of a repository. A body of an unknown format does.
fn concerns(body: &[u8], reference: &str) -> bool {
    let short = |name: &str| {
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let parts = ["heads/", "tags/"];
        let short = parts.iter().find_map(|part| name.strip_prefix(part));
        short.unwrap_or(name).to_owned()
    };
    let push = serde_json::from_slice::<PushEvent>(body).ok();
    let pushed_reference = push.and_then(|push| push.reference.as_str().map(short));
    match pushed_reference {
        Some(pushed_reference) if !reference.is_empty() && reference != "HEAD" => {
            pushed_reference == short(reference)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{concerns, is_authentic};
    use crate::model::WebhookProvider::{Gitea, Github, Gitlab};
    use http::HeaderMap;

    /// The example of GitHub's documentation, and deliveries that must be rejected.
    #[test]
    fn signatures() {
        let secret = "It's a Secret to Everybody";
        let body = b"Hello, World!";
        let tag = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let upper = tag.to_uppercase();
        let prefixed = format!("sha256={tag}");
        let shorter = prefixed.strip_suffix("17").unwrap();
        let (hub, gitea, gitlab) = ("x-hub-signature-256", "x-gitea-signature", "x-gitlab-token");
        for (provider, headers, expected) in [
            (Github, vec![(hub, prefixed.as_str())], true),
            (Gitea, vec![(gitea, tag)], true),
            (Gitea, vec![(gitea, upper.as_str())], true),
            (Gitlab, vec![(gitlab, secret)], true),
            (Github, vec![], false),
            (Github, vec![(hub, tag)], false),
            (Github, vec![(hub, "sha256=")], false),
            (Github, vec![(hub, "sha256=zz")], false),
            (Github, vec![(hub, shorter)], false),
            (Github, vec![(gitea, tag)], false),
            (Github, vec![(gitlab, secret)], false),
            (Github, vec![(hub, &prefixed), (hub, &prefixed)], false),
            (Github, vec![("x-hub-signature", &prefixed)], false),
            (Gitea, vec![(hub, prefixed.as_str())], false),
            (Gitea, vec![(gitea, "")], false),
            (Gitlab, vec![(gitlab, "")], false),
            (Gitlab, vec![(gitlab, "It's a Secret to Everybod")], false),
            (Gitlab, vec![(gitlab, tag)], false),
            (Gitlab, vec![], false),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.append(*name, value.parse().unwrap());
            }
            let actual = is_authentic(provider, &secret.into(), &map, body);
            assert_eq!(actual, expected, "{provider:?} {headers:?}");
            assert!(!is_authentic(provider, &"".into(), &map, body));
            let other = is_authentic(provider, &secret.into(), &map, b"Hello, World?");
            assert_eq!(other, expected && provider == Gitlab, "{provider:?}");
        }
    }

    #[test]
    fn pushes_concern_references() {
        for (body, reference, expected) in [
            (r#"{"ref":"refs/heads/main"}"#, "main", true),
            (r#"{"ref":"refs/heads/main"}"#, "refs/heads/main", true),
            (
                r#"{"ref":"main","ref_type":"branch"}"#,
                "refs/heads/main",
                true,
            ),
            (r#"{"ref":"refs/tags/v1"}"#, "v1", true),
            (r#"{"ref":"refs/heads/a/b"}"#, "a/b", true),
            (r#"{"ref":"refs/heads/other"}"#, "main", false),
            (r#"{"ref":"refs/heads/a/main"}"#, "main", false),
            (r#"{"ref":"refs/heads/other"}"#, "", true),
            (r#"{"ref":"refs/heads/other"}"#, "HEAD", true),
            (r#"{"ref":7}"#, "main", true),
            ("{}", "main", true),
            ("payload=%7B%7D", "main", true),
            ("", "main", true),
        ] {
            assert_eq!(
                concerns(body.as_bytes(), reference),
                expected,
                "{body} {reference}"
            );
        }
    }
}
