//! Data sources over HTTP.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use solon_outbound::tls::{self, FixedIdentity, Trust};
use solon_outbound::{Client, ClientOptions, ClientSetup};

use super::{DatasourceError, ReceivedDocument, Validators};
use crate::limits;
use crate::model::{Datasource, DatasourceConfig, SecretValue};
use crate::sync::{FetchOptions, oidc};

#[derive(Clone, Debug)]
pub struct HttpSource {
    client: Client,
    method: Method,
    /// The path and the query, which may contain an API key.
    target: Arc<str>,
    body: Bytes,
}

impl HttpSource {
    /// Opens a data source without a connection.
    ///
    /// # Errors
    /// The configuration or the secret is not valid.
    pub fn open(
        datasource: &Datasource,
        secret: Option<&SecretValue>,
        options: &FetchOptions,
    ) -> Result<Self, String> {
        let DatasourceConfig::Http {
            url,
            method,
            body,
            headers,
        } = &datasource.config
        else {
            return Err("not a datasource over HTTP".to_owned());
        };
        let invalid = || "the address is not valid".to_owned();
        let (url, _) = url.split_once('#').unwrap_or((url, ""));
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let scheme = uri.scheme_str().ok_or_else(invalid)?;
        let authority = uri.authority().ok_or_else(invalid)?;
        let mut target = uri
            .path_and_query()
            .map_or("/", |target| target.as_str())
            .to_owned();
        let client_options = ClientOptions {
            networks: Arc::new(options.networks.clone()),
            proxies: options.proxies.clone(),
            ..ClientOptions::default()
        };
        let mut setup = ClientSetup {
            head_timeout: Some(Duration::from_secs(limits::DATASOURCE_HEAD_SECONDS)),
            ..ClientSetup::default()
        };
        for (name, value) in headers {
            if !value.is_empty() {
                add_header(&mut setup.headers, name, value)?;
            }
        }
        if let Some(secret) = secret {
            authorize(secret, &mut setup, &mut target, options)?;
        }
        let address = format!("{scheme}://{authority}");
        let client = Client::for_address(&datasource.name, &address, setup, &client_options)?;
        let method = if method.is_empty() { "GET" } else { method };
        Ok(Self {
            client,
            method: method
                .parse()
                .map_err(|_| "the method is not valid".to_owned())?,
            target: target.into(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        })
    }

    /// Returns the document, or `None` if the server responds that it still has the known version.
    ///
    /// # Errors
    /// The server does not return it, or it is larger than `max` bytes.
    pub async fn receive(
        &self,
        known: Option<&Validators>,
        max: usize,
    ) -> Result<Option<ReceivedDocument>, DatasourceError> {
        let failed = |error: solon_outbound::Error| DatasourceError::failed(error.to_string());
        let request = Request::builder()
            .method(self.method.clone())
            .uri(&*self.target)
            .body(self.body.clone());
        let mut request =
            request.map_err(|_| DatasourceError::failed("the address is not valid"))?;
        let known = known.filter(|_| self.method == Method::GET);
        if let Some(known) = known {
            let validators = [
                (IF_NONE_MATCH, &known.etag),
                // a tag is more precise than a time
                (IF_MODIFIED_SINCE, &known.last_modified),
            ];
            let first = validators.iter().find_map(|(name, value)| {
                let value = HeaderValue::from_str(value.as_ref()?).ok()?;
                Some((name.clone(), value))
            });
            request.headers_mut().extend(first);
        }
        let response = self.client.send(request).await.map_err(failed)?;
        let status = response.status();
        if status == StatusCode::NOT_MODIFIED && known.is_some() {
            return Ok(None);
        }
        if !status.is_success() {
            // the body could repeat credentials
            let text = format!("unsuccessful status code {}", status.as_u16());
            return Err(DatasourceError::of_status(status, text));
        }
        let header = |name: HeaderName| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        if header(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            let text = "the response is compressed, which the request did not allow";
            return Err(DatasourceError::failed(text));
        }
        let validators = Validators {
            etag: header(ETAG),
            last_modified: header(LAST_MODIFIED),
        };
        let bytes = response.into_body().read_bounded(max).await;
        Ok(Some(ReceivedDocument {
            bytes: bytes.map_err(failed)?,
            validators,
        }))
    }
}

/// Adds a header. The message of an error does not contain its value.
fn add_header(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let key: HeaderName = name
        .parse()
        .map_err(|_| format!("{name:?} is not the name of a header"))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("the value of {name:?} is not valid in a header"))?;
    value.set_sensitive(true);
    headers.insert(key, value);
    Ok(())
}

/// Adds the credentials of a secret to requests.
fn authorize(
    secret: &SecretValue,
    setup: &mut ClientSetup,
    target: &mut String,
    options: &FetchOptions,
) -> Result<(), String> {
    let text = |name: &str| secret.text(name).unwrap_or_default();
    let authorization = AUTHORIZATION.as_str();
    match secret.kind() {
        "token_auth" => {
            let value = format!("Bearer {}", text("token"));
            add_header(&mut setup.headers, authorization, &value)
        }
        "basic_auth" => {
            let pair = format!("{}:{}", text("username"), text("password"));
            let value = format!("Basic {}", STANDARD.encode(pair));
            add_header(&mut setup.headers, authorization, &value)
        }
        "api_key" if text("in") == "query" => {
            let pair: String = form_urlencoded::Serializer::new(String::new())
                .append_pair(text("key"), text("value"))
                .finish();
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(&pair);
            Ok(())
        }
        "api_key" => add_header(&mut setup.headers, text("key"), text("value")),
        "tls_cert" => {
            if !text("root_ca").is_empty() {
                setup.trust = Trust::Authorities {
                    certificates: tls::certificates(text("root_ca").as_bytes())
                        .map_err(|_| "failed to append root CA certificate".to_owned())?,
                    system: false,
                };
            }
            if !text("tls_cert").is_empty() {
                let chain = tls::certificates(text("tls_cert").as_bytes())?;
                let key = tls::certified_key(chain, text("tls_key").as_bytes())?;
                setup.identity = Some(Arc::new(FixedIdentity(Arc::new(key))));
            }
            Ok(())
        }
        "oidc_client_credentials" => {
            setup.authorize = Some(Arc::new(oidc::client_token(secret, options)?));
            Ok(())
        }
        other => Err(format!("unsupported secret type for http sync: {other}")),
    }
}
