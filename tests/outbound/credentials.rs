//! Credentials that servers give: token endpoints, metadata services, AWS.

mod aws;
mod clouds;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};
use solon_outbound::{Client, ClientOptions, Environment, ErrorKind};

use crate::certificates::{Authority, server};
use crate::client::file;
use crate::server::{Received, Server, client_with, fetch, redirect, response};

/// A service that responds with 200, a server that gives credentials, and the file of its authority.
struct Setup {
    service: Server,
    endpoint: Server,
    authority: PathBuf,
}

impl Setup {
    /// Starts a service, and a server that gives credentials with the responses of a function.
    async fn new(
        name: &str,
        respond: impl Fn(&Received, usize) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        let authority = Authority::new();
        let pair = authority.sign("localhost");
        Self {
            service: Server::start(|_, _| response(200, "ok")).await,
            endpoint: Server::with_tls(server(&pair, None, &["http/1.1"]), respond).await,
            authority: file(&format!("{name}-ca.pem"), &authority.certificate),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.endpoint.address.port())
    }

    fn client(&self, credentials: &Value, keys: &Value) -> Result<Client, String> {
        self.client_in(credentials, keys, &[])
    }

    fn client_in(
        &self,
        credentials: &Value,
        keys: &Value,
        environment: &[(&str, &str)],
    ) -> Result<Client, String> {
        let service = json!({
            "url": self.service.url(), "tls": {"ca_cert": self.authority}, "credentials": credentials
        });
        client_with(&service, keys, &options(environment))
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.authority);
    }
}

fn options(environment: &[(&str, &str)]) -> ClientOptions {
    let owned = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let variables: BTreeMap<String, String> = owned.collect();
    ClientOptions {
        environment: Environment::new(move |name| variables.get(name).cloned()),
        proxies: Arc::default(),
        ..ClientOptions::default()
    }
}

fn token(name: &str, seconds: u64) -> Response<Bytes> {
    let body = json!({"access_token": name, "token_type": "bearer", "expires_in": seconds});
    response(200, &body.to_string())
}

#[tokio::test]
async fn oauth2_client_credentials() {
    let setup = Setup::new("oauth2", |_, number| token(&format!("t{number}"), 3600)).await;
    let config = json!({"oauth2": {
        "token_url": setup.url("/token"), "client_id": "me", "client_secret": "s:e+c",
        "scopes": ["a", "b"], "additional_headers": {"X-Tenant": "t"}, "additional_parameters": {"audience": "x y"},
    }});
    let client = setup.client(&config, &json!({})).unwrap();
    for _ in 0..3 {
        fetch(&client, "/").await.unwrap();
        assert_eq!(
            setup.service.last().header("authorization"),
            Some("Bearer t0")
        );
    }
    // one token for three requests
    assert_eq!(setup.endpoint.count(), 1);
    let received = setup.endpoint.last();
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("POST", "/token")
    );
    assert_eq!(received.header("authorization"), Some("Basic bWU6czplK2M="));
    assert_eq!(received.header("x-tenant"), Some("t"));
    let kind = received.header("content-type");
    assert_eq!(kind, Some("application/x-www-form-urlencoded"));
    let want = [
        ("audience", "x y"),
        ("grant_type", "client_credentials"),
        ("scope", "a b"),
    ];
    assert_eq!(
        received.form(),
        want.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    );
}

#[tokio::test]
async fn rejected_tokens_are_replaced_once() {
    let setup = Setup::new("rejected", |_, number| token(&format!("t{number}"), 3600)).await;
    let service = Server::start(|received, _| match received.header("authorization") {
        Some("Bearer t1") => response(200, "in"),
        _ => response(401, "out"),
    })
    .await;
    let credentials =
        json!({"oauth2": {"token_url": setup.url("/"), "client_id": "a", "client_secret": "b"}});
    let config = json!({"url": service.url(), "tls": {"ca_cert": setup.authority}, "credentials": credentials});
    let client = client_with(&config, &json!({}), &options(&[])).unwrap();
    assert_eq!(fetch(&client, "/").await, Ok((200, "in".to_owned())));
    assert_eq!(service.count(), 2);
    assert_eq!(fetch(&client, "/").await, Ok((200, "in".to_owned())));
    assert_eq!((service.count(), setup.endpoint.count()), (3, 2));
    // a service that rejects every token gets two requests
    let closed = Server::start(|_, _| response(401, "out")).await;
    let config = json!({"url": closed.url(), "tls": {"ca_cert": setup.authority}, "credentials": credentials});
    let client = client_with(&config, &json!({}), &options(&[])).unwrap();
    assert_eq!(fetch(&client, "/").await, Ok((401, "out".to_owned())));
    assert_eq!(closed.count(), 2);
}

/// Reads a JWT without a check of its signature.
fn decoded_jwt(token: &str) -> (Value, Value, Vec<u8>) {
    let parts: Vec<Vec<u8>> = token
        .split('.')
        .map(|part| URL_SAFE_NO_PAD.decode(part).unwrap())
        .collect();
    let json = |part: &[u8]| serde_json::from_slice(part).unwrap();
    (json(&parts[0]), json(&parts[1]), parts[2].clone())
}

#[tokio::test]
async fn oauth2_with_signed_tokens() {
    let setup = Setup::new("signed", |_, _| token("t", 0)).await;
    let pair = rcgen::KeyPair::generate().unwrap();
    let keys = json!({
        "ec": {"private_key": pair.serialize_pem(), "algorithm": "ES256"},
        "mac": {"key": "secret", "algorithm": "HS256"},
    });
    let config = json!({"oauth2": {
        "token_url": setup.url("/"), "grant_type": "jwt_bearer", "signing_key": "ec", "scopes": ["a", "b"],
        "additional_claims": {"iss": "me", "n": 1}, "include_jti_claim": true, "thumbprint": "8F1B",
    }});
    let client = setup.client(&config, &keys).unwrap();
    fetch(&client, "/").await.unwrap();
    let form = setup.endpoint.last().form();
    assert_eq!(
        form["grant_type"],
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(form["scope"], "a b");
    let (header, claims, signature) = decoded_jwt(&form["assertion"]);
    assert_eq!(header, json!({"alg": "ES256", "typ": "JWT", "x5t": "jxs"}));
    assert_eq!(
        (&claims["iss"], &claims["n"], &claims["scope"]),
        (&json!("me"), &json!(1), &json!("a b"))
    );
    assert_eq!(
        claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(),
        600
    );
    assert_eq!(claims["jti"].as_str().unwrap().len(), 32);
    let (message, _) = form["assertion"].rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key_raw());
    public.verify(message.as_bytes(), &signature).unwrap();
    // a token without a validity is for one request
    fetch(&client, "/").await.unwrap();
    assert_eq!(setup.endpoint.count(), 2);

    let config =
        json!({"oauth2": {"token_url": setup.url("/"), "client_id": "me", "signing_key": "mac"}});
    fetch(&setup.client(&config, &keys).unwrap(), "/")
        .await
        .unwrap();
    let form = setup.endpoint.last().form();
    assert_eq!(form["grant_type"], "client_credentials");
    assert_eq!(form["client_id"], "me");
    assert_eq!(
        form["client_assertion_type"],
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    let (header, ..) = decoded_jwt(&form["client_assertion"]);
    assert_eq!(header, json!({"alg": "HS256", "typ": "JWT"}));
    assert_eq!(setup.endpoint.last().header("authorization"), None);

    // a token of another issuer, as workload identity of Azure has it
    let path = file("assertion", "first\n");
    let config = json!({"oauth2": {"token_url": setup.url("/"), "client_id": "me", "client_assertion_path": path}});
    let client = setup.client(&config, &keys).unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(setup.endpoint.last().form()["client_assertion"], "first");
    std::fs::write(&path, "second").unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(setup.endpoint.last().form()["client_assertion"], "second");
    std::fs::remove_file(path).unwrap();
    let error = fetch(&client, "/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credentials);
}

#[tokio::test]
async fn token_endpoints_may_fail() {
    let setup = Setup::new("failing", |received, _| match received.target.as_str() {
        "/denied" => response(
            401,
            r#"{"error": "invalid_client", "error_description": "unknown", "x": "hidden"}"#,
        ),
        "/text" => response(500, "hidden"),
        "/mac" => response(200, r#"{"access_token": "hidden", "token_type": "mac"}"#),
        "/broken" => response(200, r#"{"access_token": "hidden""#),
        "/away" => redirect(302, "https://localhost:1/hidden"),
        "/large" => response(200, &"x".repeat((1 << 20) + 1)),
        "/empty" => response(200, r#"{"access_token": " ", "token_type": "Bearer"}"#),
        _ => response(404, ""),
    })
    .await;
    for (path, want) in [
        (
            "/denied",
            "OAuth2 token endpoint: server replied with 401 Unauthorized: invalid_client: unknown",
        ),
        (
            "/text",
            "OAuth2 token endpoint: server replied with 500 Internal Server Error",
        ),
        ("/mac", "OAuth2 token endpoint: unknown token type"),
        (
            "/broken",
            "OAuth2 token endpoint: invalid response at line 1, column 25",
        ),
        (
            "/away",
            "OAuth2 token endpoint: server replied with 302 Found",
        ),
        (
            "/large",
            "OAuth2 token endpoint: response body exceeds the limit of 1048576 bytes",
        ),
        ("/empty", "the token is empty"),
    ] {
        let config = json!({"oauth2": {"token_url": setup.url(path), "client_id": "a", "client_secret": "b"}});
        let error = fetch(&setup.client(&config, &json!({})).unwrap(), "/")
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), want);
        assert_eq!(error.kind(), ErrorKind::Credentials);
        assert!(error.is_transient());
    }
    assert_eq!(setup.service.count(), 0);
    // an endpoint with a certificate of an unknown authority is not used
    let config =
        json!({"oauth2": {"token_url": setup.url("/"), "client_id": "a", "client_secret": "b"}});
    let service = json!({"url": setup.service.url(), "credentials": config});
    let client = client_with(&service, &json!({}), &options(&[])).unwrap();
    let error = fetch(&client, "/").await.unwrap_err();
    assert!(
        error.to_string().contains("signed by unknown authority"),
        "{error}"
    );
}

#[tokio::test]
async fn configurations_are_checked() {
    let setup = Setup::new("checked", |_, _| response(200, "")).await;
    let keys = json!({
        "public": {"key": "x"}, "odd": {"private_key": "x", "algorithm": "none"}, "broken": {"private_key": "x"},
        "wrong": {"private_key": rcgen::KeyPair::generate().unwrap().serialize_pem()},
    });
    let url = "https://x";
    for (credentials, want) in [
        (json!({"oauth2": {}}), ".oauth2.token_url: expected a URL"),
        (
            json!({"oauth2": {"token_url": "http://x"}}),
            ".oauth2.token_url: token_url required to use https scheme",
        ),
        (
            json!({"oauth2": {"token_url": url}}),
            ".oauth2: expected one of `client_secret`, `signing_key`, `client_assertion` and `client_assertion_path`",
        ),
        (
            json!({"oauth2": {"token_url": url, "client_secret": "s"}}),
            ".oauth2.client_id: missing",
        ),
        (
            json!({"oauth2": {"token_url": url, "client_secret": "s", "signing_key": "k"}}),
            ".oauth2: expected one of `client_secret`, `signing_key`, `client_assertion` and `client_assertion_path`",
        ),
        (
            json!({"oauth2": {"token_url": url, "grant_type": "jwt_bearer", "client_secret": "s"}}),
            ".oauth2: `grant_type: jwt_bearer` needs `signing_key`, and no other proof",
        ),
        (
            json!({"oauth2": {"token_url": url, "signing_key": "none"}}),
            ".oauth2.signing_key: there is no key `none` in `keys`",
        ),
        (
            json!({"oauth2": {"token_url": url, "signing_key": "public"}}),
            ".oauth2.signing_key: key `public`: no private key",
        ),
        (
            json!({"oauth2": {"token_url": url, "signing_key": "odd"}}),
            ".oauth2.signing_key: key `odd`: unsupported algorithm 'none'",
        ),
        (
            json!({"oauth2": {"token_url": url, "signing_key": "broken"}}),
            ".oauth2.signing_key: key `broken`: expected a private key as PEM, or the path of its file",
        ),
        (
            json!({"oauth2": {"token_url": url, "signing_key": "wrong"}}),
            ".oauth2.signing_key: key `wrong`: invalid RSA key: WrongAlgorithm",
        ),
        (
            json!({"oauth2": {"token_url": url, "client_id": "a", "client_secret": "s", "thumbprint": "xyz"}}),
            ".oauth2.thumbprint: expected hexadecimal digits",
        ),
        (
            json!({"oauth2": {"token_url": url, "aws_kms": {"name": "k"}}}),
            ".oauth2.aws_kms: not supported, sign with a key of `keys` (`signing_key`)",
        ),
        (
            json!({"oauth2": {"token_url": url, "azure_keyvault": {"key": "k"}}}),
            ".oauth2.azure_keyvault: not supported, sign with a key of `keys` (`signing_key`)",
        ),
        (
            json!({"s3_signing": {}}),
            ".s3_signing: a AWS credential service must be specified when S3 signing is enabled",
        ),
        (
            json!({"s3_signing": {"sso_credentials": {}}}),
            ".s3_signing.sso_credentials: not supported",
        ),
        (
            json!({"s3_signing": {"signature_version": "4a", "environment_credentials": {}}}),
            ".s3_signing.signature_version: `4a` is not supported, expected `4`",
        ),
        (
            json!({"s3_signing": {"service": "ecr", "environment_credentials": {}}}),
            ".s3_signing.service: `ecr` is not supported",
        ),
        (
            json!({"s3_signing": {"assume_role_credentials": {}}}),
            ".s3_signing.assume_role_credentials.aws_signing: expected `environment_credentials`, `profile_credentials` or `metadata_credentials`",
        ),
        (
            json!({"gcp_metadata": {}}),
            ".gcp_metadata: audience or scopes is required when gcp metadata is enabled",
        ),
        (
            json!({"gcp_metadata": {"audience": "a", "scopes": ["b"]}}),
            ".gcp_metadata: either audience or scopes can be set, not both, when gcp metadata is enabled",
        ),
        (
            json!({"azure_managed_identity": {"endpoint": "x?y"}}),
            ".azure_managed_identity.endpoint: expected a URL without a query",
        ),
        (json!({"plugin": "x"}), ".plugin: not supported"),
    ] {
        let error = setup.client(&credentials, &keys).unwrap_err();
        assert_eq!(error, format!("credentials{want}"));
    }
}
