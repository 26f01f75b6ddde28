//! Keys of the metadata service of EC2 (version 2) and of the credentials services of containers (ECS, EKS).

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Uri};
use jiff::Timestamp;
use serde::Deserialize;

use super::AwsKeys;
use super::source::region;
use crate::config::{AwsMetadataConfig, Secret};
use crate::credentials::cache::Obtained;
use crate::credentials::endpoint::{self, Environment, Sources, failed};
use crate::error::Error;
use crate::files;

const SERVER: &str = "AWS metadata service";
const EC2: &str = "http://169.254.169.254";
const ECS: &str = "http://169.254.170.2";

/// Addresses of the credentials services of containers.
const CONTAINERS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    /// Absent in responses of the containers' services.
    #[serde(default)]
    code: Option<String>,
    access_key_id: String,
    secret_access_key: Secret,
    token: Secret,
    expiration: String,
}

/// Returns the keys of a role of the machine, or those of the container if `role` is absent.
///
/// # Errors
/// The service does not exist, or it has no keys.
pub async fn obtain(
    config: &AwsMetadataConfig,
    sources: &Sources,
) -> Result<Obtained<AwsKeys>, Error> {
    let environment = &sources.environment;
    let region = region(config.aws_region.as_ref(), environment)?;
    let role = config.iam_role.as_deref().filter(|role| !role.is_empty());
    let request = match role {
        Some(role) => {
            let server = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT");
            let server = server.unwrap_or_else(|| EC2.to_owned());
            let server = server.trim_end_matches('/');
            let mut request = endpoint::request(
                Method::PUT,
                &format!("{server}/latest/api/token"),
                Bytes::new(),
            )?;
            endpoint::add_header(&mut request, "X-aws-ec2-metadata-token-ttl-seconds", "60")?;
            let token = endpoint::fetch(SERVER, &sources.direct, request).await?;
            let token = endpoint::text(SERVER, &token)?;
            let url = format!("{server}/latest/meta-data/iam/security-credentials/{role}");
            let mut request = endpoint::request(Method::GET, &url, Bytes::new())?;
            endpoint::add_header(&mut request, "X-aws-ec2-metadata-token", token.expose())?;
            request
        }
        None => {
            let url = container_url(environment)?;
            let mut request = endpoint::request(Method::GET, &url, Bytes::new())?;
            let token = match environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
                Some(path) => Some(files::read_token(path.into()).await?),
                None => environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
            };
            if let Some(token) = token {
                endpoint::add_header(&mut request, "Authorization", &token)?;
            }
            request
        }
    };
    let body = endpoint::fetch(SERVER, &sources.direct, request).await?;
    let response: Response = endpoint::parsed(SERVER, &body)?;
    if response
        .code
        .as_deref()
        .is_some_and(|code| code != "Success")
    {
        return Err(failed(format!(
            "{SERVER}: the response has no success code"
        )));
    }
    Ok(Obtained {
        validity: validity(&response.expiration)?,
        value: AwsKeys {
            id: response.access_key_id,
            secret: response.secret_access_key,
            token: Some(response.token),
            region,
        },
    })
}

/// Returns the time until an expiration in RFC 3339.
///
/// # Errors
/// The text is not a time, or the time has passed.
pub fn validity(expiration: &str) -> Result<Duration, Error> {
    let end: Timestamp = expiration
        .parse()
        .map_err(|_| failed("AWS credentials: invalid expiration"))?;
    let remaining = end.duration_since(Timestamp::now());
    // keys that have expired are not used
    Duration::try_from(remaining).map_err(|_| failed("AWS credentials: expired"))
}

/// Returns the URL of the credentials service of the container.
///
/// # Errors
/// There is none, or an unprotected one on another machine.
fn container_url(environment: &Environment) -> Result<String, Error> {
    if let Some(path) = environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        return Ok(format!("{ECS}/{}", path.trim_start_matches('/')));
    }
    let url = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let url = url.ok_or_else(|| {
        failed("neither `iam_role`, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set")
    })?;
    let parsed: Uri = url
        .parse()
        .map_err(|_| failed("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL"))?;
    let host = parsed.host().unwrap_or_default().trim_matches(['[', ']']);
    let address: Option<IpAddr> = host.parse().ok();
    let is_near = host == "localhost"
        || CONTAINERS.contains(&host)
        || address.is_some_and(|address| address.is_loopback());
    if parsed.scheme_str() == Some("https") || is_near {
        Ok(url)
    } else {
        Err(failed(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI must use `https`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{container_url, validity};
    use crate::credentials::endpoint::Environment;

    #[test]
    fn credentials_of_containers_are_not_requested_in_clear_from_other_machines() {
        let url_for = |name: &'static str, value: &'static str| {
            container_url(&Environment::new(move |variable| {
                (variable == name).then(|| value.to_owned())
            }))
            .ok()
        };
        let relative = url_for(
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "/v2/credentials/x",
        );
        assert_eq!(
            relative.as_deref(),
            Some("http://169.254.170.2/v2/credentials/x")
        );
        for (url, is_allowed) in [
            ("https://example.com/x", true),
            ("http://localhost:1/x", true),
            ("http://127.0.0.9/x", true),
            ("http://[::1]/x", true),
            ("http://169.254.170.23/v1/credentials", true),
            ("http://[fd00:ec2::23]/v1/credentials", true),
            ("http://example.com/x", false),
            ("http://127.0.0.1.example.com/x", false),
            ("http://169.254.169.254/x", false),
            ("x", false),
        ] {
            let actual = url_for("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
            assert_eq!(actual.is_some(), is_allowed, "{url}");
        }
        assert!(url_for("OTHER", "x").is_none());
    }

    #[test]
    fn expired_keys_are_not_used() {
        assert!(validity("2013-05-24T00:00:00Z").is_err());
        assert!(validity("soon").is_err());
        assert!(validity("9000-01-01T00:00:00Z").is_ok());
    }
}
