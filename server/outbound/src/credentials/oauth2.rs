//! Tokens of OAuth 2.0: client credentials (RFC 6749) and JWT bearer (RFC 7523).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::uri::Scheme;
use http::{Request, Uri};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cache::Obtained;
use super::endpoint::{self, Sources, failed};
use super::jwt::Signer;
use super::token::TokenSource;
use crate::config::{GrantType, KeyConfig, OAuth2Config, Secret};
use crate::error::Error;
use crate::files;

/// Validity of a signed JWT, in seconds.
const JWT_SECONDS: u64 = 600;

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ENDPOINT: &str = "OAuth2 token endpoint";

/// Requests tokens.
#[derive(Debug)]
pub struct OAuth2 {
    config: OAuth2Config,
    url: String,
    grant: GrantType,
    proof: Proof,
    thumbprint: Option<String>,
    sources: Sources,
}

/// Client authentication method at the token endpoint.
#[derive(Debug)]
enum Proof {
    Secret { id: String, secret: Secret },
    Signed(Box<Signer>),
    Assertion(Secret),
    AssertionFile(PathBuf),
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Secret,
    token_type: String,
    /// Some servers write the number as a string.
    #[serde(default)]
    expires_in: Value,
}

impl OAuth2 {
    /// Returns the credentials of a configuration.
    ///
    /// # Errors
    /// The configuration is incomplete, or names a key of a service that is not supported.
    pub fn new(
        config: &OAuth2Config,
        keys: &BTreeMap<String, KeyConfig>,
        sources: &Sources,
    ) -> Result<Self, String> {
        for (name, is_set) in [
            ("aws_kms", config.aws_kms.is_some()),
            ("aws_signing", config.aws_signing.is_some()),
            ("azure_keyvault", config.azure_keyvault.is_some()),
            ("azure_signing", config.azure_signing.is_some()),
        ] {
            if is_set {
                return Err(format!(
                    ".{name}: not supported, sign with a key of `keys` (`signing_key`)"
                ));
            }
        }
        let url = config.token_url.clone().unwrap_or_default();
        let parsed: Option<Uri> = url.parse().ok();
        let parsed = parsed.ok_or(".token_url: expected a URL")?;
        if parsed.scheme() != Some(&Scheme::HTTPS) {
            return Err(".token_url: token_url required to use https scheme".to_owned());
        }
        let grant = config.grant_type.unwrap_or_default();
        let thumbprint = config.thumbprint.as_ref();
        let thumbprint = thumbprint.map(|digits| {
            let bytes = hex::decode(digits).map_err(|_| ".thumbprint: expected hexadecimal digits");
            bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
        });
        Ok(Self {
            proof: proof(config, grant, keys)?,
            thumbprint: thumbprint.transpose()?,
            config: config.clone(),
            url,
            grant,
            sources: sources.clone(),
        })
    }

    /// Returns the request of a token. A client assertion is signed for each request.
    ///
    /// # Errors
    /// A file with an assertion cannot be read, or signing fails.
    async fn request(&self) -> Result<Request<Bytes>, Error> {
        let config = &self.config;
        let mut parameters: BTreeMap<&str, Secret> = BTreeMap::new();
        let mut basic = None;
        let assertion = match &self.proof {
            Proof::Secret { id, secret } => {
                basic = Some(format!("{id}:{}", secret.expose()));
                None
            }
            Proof::Signed(signer) => Some(self.signed(signer)?),
            Proof::Assertion(token) => Some(token.clone()),
            Proof::AssertionFile(path) => {
                let token = files::read_token(path.clone()).await?;
                if token.is_empty() {
                    return Err(failed(format!("{}: the file is empty", path.display())));
                }
                Some(token.into())
            }
        };
        match (self.grant, assertion) {
            (GrantType::JwtBearer, assertion) => {
                parameters.insert("grant_type", JWT_BEARER.into());
                parameters.insert("assertion", assertion.unwrap_or_default());
            }
            (GrantType::ClientCredentials, None) => {
                parameters.insert("grant_type", "client_credentials".into());
            }
            (GrantType::ClientCredentials, Some(assertion)) => {
                parameters.insert("grant_type", "client_credentials".into());
                let kind = config.client_assertion_type.as_deref();
                parameters.insert(
                    "client_assertion_type",
                    kind.unwrap_or(ASSERTION_TYPE).into(),
                );
                parameters.insert("client_assertion", assertion);
                if let Some(id) = &config.client_id {
                    parameters.insert("client_id", id.as_str().into());
                }
            }
        }
        if !config.scopes.is_empty() {
            parameters.insert("scope", config.scopes.join(" ").into());
        }
        for (name, value) in &config.additional_parameters {
            parameters.insert(name, value.clone());
        }
        let pairs: Vec<(&str, &str)> = parameters
            .iter()
            .map(|(name, value)| (*name, value.expose()))
            .collect();
        let mut request = endpoint::form(&self.url, &pairs)?;
        for (name, value) in &config.additional_headers {
            endpoint::add_header(&mut request, name, value.expose())?;
        }
        if let Some(basic) = basic {
            let value = format!("Basic {}", STANDARD.encode(basic));
            endpoint::add_header(&mut request, AUTHORIZATION.as_str(), &value)?;
        }
        Ok(request)
    }

    /// Returns a JWT that the token endpoint verifies.
    fn signed(&self, signer: &Signer) -> Result<Secret, Error> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs());
        let mut claims = Map::new();
        claims.insert("iat".to_owned(), json!(now));
        claims.insert("exp".to_owned(), json!(now + JWT_SECONDS));
        for (name, value) in &self.config.additional_claims {
            claims.insert(name.clone(), value.0.clone());
        }
        if !self.config.scopes.is_empty() {
            claims.insert("scope".to_owned(), json!(self.config.scopes.join(" ")));
        }
        if self.config.include_jti_claim {
            let mut random = [0; 16];
            getrandom::fill(&mut random).map_err(|error| failed(error.to_string()))?;
            claims.insert("jti".to_owned(), json!(hex::encode(random)));
        }
        let mut header = Map::new();
        if let Some(thumbprint) = &self.thumbprint {
            header.insert("x5t".to_owned(), json!(thumbprint));
        }
        signer.sign(header, &claims).map_err(failed)
    }
}

/// Returns the proof of a configuration.
///
/// # Errors
/// There is none or more than one, or the key does not exist.
fn proof(
    config: &OAuth2Config,
    grant: GrantType,
    keys: &BTreeMap<String, KeyConfig>,
) -> Result<Proof, String> {
    let secret = config.client_secret.as_ref();
    let secret = secret.filter(|secret| !secret.expose().is_empty());
    let assertion = config.client_assertion.as_ref();
    let kinds = [
        secret.is_some(),
        config.signing_key.is_some(),
        assertion.is_some(),
        config.client_assertion_path.is_some(),
    ];
    let count = kinds.iter().filter(|is_set| **is_set).count();
    if grant == GrantType::JwtBearer && (config.signing_key.is_none() || count > 1) {
        return Err(
            ": `grant_type: jwt_bearer` needs `signing_key`, and no other proof".to_owned(),
        );
    }
    if count != 1 {
        return Err(
            ": expected one of `client_secret`, `signing_key`, `client_assertion` and `client_assertion_path`"
                .to_owned(),
        );
    }
    if let Some(name) = &config.signing_key {
        let key = keys.get(name);
        let key = key.ok_or_else(|| format!(".signing_key: there is no key `{name}` in `keys`"))?;
        let signer =
            Signer::new(key).map_err(|error| format!(".signing_key: key `{name}`: {error}"))?;
        return Ok(Proof::Signed(Box::new(signer)));
    }
    if let Some(path) = &config.client_assertion_path {
        return Ok(Proof::AssertionFile(path.into()));
    }
    if let Some(assertion) = assertion {
        return Ok(Proof::Assertion(assertion.clone()));
    }
    let id = config.client_id.clone().filter(|id| !id.is_empty());
    Ok(Proof::Secret {
        id: id.ok_or(".client_id: missing")?,
        secret: secret.cloned().unwrap_or_default(),
    })
}

impl TokenSource for OAuth2 {
    async fn obtain(&self) -> Result<Obtained<Secret>, Error> {
        let request = self.request().await?;
        let body = endpoint::fetch(ENDPOINT, &self.sources.service, request).await?;
        let token: TokenResponse = endpoint::parsed(ENDPOINT, &body)?;
        if !token.token_type.eq_ignore_ascii_case("bearer") {
            return Err(failed(format!("{ENDPOINT}: unknown token type")));
        }
        let seconds = match &token.expires_in {
            Value::String(digits) => digits.parse().unwrap_or(0),
            number => number.as_u64().unwrap_or(0),
        };
        Ok(Obtained {
            value: token.access_token.expose().trim().into(),
            validity: Duration::from_secs(seconds),
        })
    }
}
