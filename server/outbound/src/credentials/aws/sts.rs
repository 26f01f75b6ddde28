//! Keys of a role, from the Security Token Service.

use std::time::SystemTime;

use bytes::Bytes;
use http::Request;

use super::AwsKeys;
use super::metadata::validity;
use super::sign::sign;
use super::source::region;
use crate::config::{AwsRoleConfig, AwsWebIdentityConfig, Secret};
use crate::credentials::cache::Obtained;
use crate::credentials::endpoint::{self, Sources, failed};
use crate::error::Error;
use crate::files;

const SERVER: &str = "AWS STS";
const VERSION: &str = "2011-06-15";
const SESSION: &str = "open-policy-agent";
const DOMAIN: &str = "amazonaws.com";

/// Returns the keys of a role that other keys assume.
///
/// # Errors
/// The role is not known, or the service denies it.
pub async fn with_keys(
    config: &AwsRoleConfig,
    keys: &AwsKeys,
    sources: &Sources,
) -> Result<Obtained<AwsKeys>, Error> {
    let region = region(config.aws_region.as_ref(), &sources.environment)?;
    let role = config.iam_role_arn.clone().filter(|role| !role.is_empty());
    let role = role.or_else(|| sources.environment.get("AWS_ROLE_ARN"));
    let role = role.ok_or_else(|| failed("neither `iam_role_arn` nor AWS_ROLE_ARN is set"))?;
    let session = config.session_name.as_deref().unwrap_or(SESSION);
    let url = url(&region, config.aws_domain.as_ref(), sources);
    let mut request = endpoint::form(
        &url,
        &[
            ("Action", "AssumeRole"),
            ("RoleArn", &role),
            ("RoleSessionName", session),
            ("Version", VERSION),
        ],
    )?;
    let keys = AwsKeys {
        region: region.clone(),
        ..keys.clone()
    };
    sign(&mut request, &keys, "sts", SystemTime::now())?;
    exchange(request, region, sources).await
}

/// Returns the keys of a role that the token of another identity provider assumes.
///
/// # Errors
/// The token cannot be read, or the service denies it.
pub async fn with_token(
    config: &AwsWebIdentityConfig,
    sources: &Sources,
) -> Result<Obtained<AwsKeys>, Error> {
    let required = |name: &str| {
        let value = sources.environment.get(name);
        value.ok_or_else(|| failed(format!("no {name} set in environment")))
    };
    let region = region(config.aws_region.as_ref(), &sources.environment)?;
    let role = required("AWS_ROLE_ARN")?;
    let path = required("AWS_WEB_IDENTITY_TOKEN_FILE")?;
    let token: Secret = files::read_token(path.into()).await?.into();
    let session = config.session_name.as_deref().unwrap_or(SESSION);
    let url = url(&region, config.aws_domain.as_ref(), sources);
    let request = endpoint::form(
        &url,
        &[
            ("Action", "AssumeRoleWithWebIdentity"),
            ("RoleArn", &role),
            ("RoleSessionName", session),
            ("Version", VERSION),
            ("WebIdentityToken", token.expose()),
        ],
    )?;
    exchange(request, region, sources).await
}

fn url(region: &str, domain: Option<&String>, sources: &Sources) -> String {
    if let Some(url) = sources.environment.get("AWS_ENDPOINT_URL_STS") {
        return url;
    }
    let domain = domain.filter(|domain| !domain.is_empty()).cloned();
    let domain = domain.or_else(|| sources.environment.get("AWS_DOMAIN"));
    format!(
        "https://sts.{region}.{}/",
        domain.as_deref().unwrap_or(DOMAIN)
    )
}

async fn exchange(
    request: Request<Bytes>,
    region: String,
    sources: &Sources,
) -> Result<Obtained<AwsKeys>, Error> {
    let body = endpoint::fetch(SERVER, &sources.verified, request).await?;
    let body = endpoint::text(SERVER, &body)?;
    let value = |name: &str| {
        let value = element(body.expose(), name);
        value.ok_or_else(|| failed(format!("{SERVER}: the response has no {name}")))
    };
    Ok(Obtained {
        validity: validity(value("Expiration")?)?,
        value: AwsKeys {
            id: value("AccessKeyId")?.to_owned(),
            secret: value("SecretAccessKey")?.into(),
            token: Some(value("SessionToken")?.into()),
            region,
        },
    })
}

/// Returns the text of the first XML element with a name. Keys and tokens contain no characters that XML escapes.
fn element<'t>(xml: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let text = text.trim();
    let is_plain = !text.is_empty() && !text.contains(['<', '&']);
    is_plain.then_some(text)
}
