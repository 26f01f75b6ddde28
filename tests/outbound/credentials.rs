//! Credentials that servers give: token endpoints, metadata services, AWS.

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
use crate::server::{Received, Server, client_with, fetch, get, redirect, response};

/// A service that responds with 200, and the file of the authority of [`endpoint`].
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
fn parts(token: &str) -> (Value, Value, Vec<u8>) {
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
    let (header, claims, signature) = parts(&form["assertion"]);
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
    let (header, ..) = parts(&form["client_assertion"]);
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

#[tokio::test]
async fn tokens_of_google_cloud() {
    let metadata = Server::start(
        |received, _| match received.target.split('?').next().unwrap() {
            "/computeMetadata/v1/instance/service-accounts/default/token" => response(
                200,
                r#"{"access_token": "access", "expires_in": 3599, "token_type": "Bearer"}"#,
            ),
            "/identity" => response(200, "identity\n"),
            _ => response(404, ""),
        },
    )
    .await;
    let setup = Setup::new("gcp", |_, _| response(404, "")).await;
    // a proxy would read the token
    let service = json!({
        "url": setup.service.url(), "proxy": "http://proxy.invalid",
        "credentials": {"gcp_metadata": {"endpoint": metadata.url(), "scopes": ["a", "b"]}},
    });
    let client = client_with(&service, &json!({}), &options(&[])).unwrap();
    fetch(&client, "/").await.unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(
        setup.service.last().header("authorization"),
        Some("Bearer access")
    );
    assert_eq!(metadata.count(), 1);
    let received = metadata.last();
    assert_eq!(received.header("metadata-flavor"), Some("Google"));
    assert!(
        received.target.ends_with("?scopes=a%2Cb"),
        "{}",
        received.target
    );
    let credentials = json!({"gcp_metadata": {
        "endpoint": metadata.url(), "audience": "https://x", "id_token_path": "/identity"
    }});
    fetch(&setup.client(&credentials, &json!({})).unwrap(), "/")
        .await
        .unwrap();
    assert_eq!(
        setup.service.last().header("authorization"),
        Some("Bearer identity")
    );
    assert_eq!(
        metadata.last().target,
        "/identity?audience=https%3A%2F%2Fx&format=full"
    );
}

#[tokio::test]
async fn tokens_of_azure() {
    let metadata = Server::start(|received, number| {
        if received.header("metadata") != Some("true") {
            return response(400, "");
        }
        let body = match received.header("x-identity-header") {
            None => json!({"access_token": format!("a{number}"), "expires_in": "3600"}),
            Some(_) => json!({"access_token": "b", "expires_on": "9999999999"}),
        };
        response(200, &body.to_string())
    })
    .await;
    let setup = Setup::new("azure", |_, _| response(404, "")).await;
    let credentials = json!({"azure_managed_identity": {
        "endpoint": format!("{}/token", metadata.url()), "client_id": "c", "resource": "https://r/"
    }});
    let client = setup.client(&credentials, &json!({})).unwrap();
    fetch(&client, "/").await.unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(
        setup.service.last().header("authorization"),
        Some("Bearer a0")
    );
    let want = "/token?api-version=2018-02-01&resource=https%3A%2F%2Fr%2F&client_id=c";
    assert_eq!(metadata.last().target, want);
    let credentials = json!({"azure_managed_identity": {"use_app_service_msi": true}});
    let url = metadata.url();
    let environment = [
        ("IDENTITY_ENDPOINT", url.as_str()),
        ("IDENTITY_HEADER", "h"),
    ];
    let client = setup
        .client_in(&credentials, &json!({}), &environment)
        .unwrap();
    fetch(&client, "/").await.unwrap();
    fetch(&client, "/").await.unwrap();
    assert_eq!(
        setup.service.last().header("authorization"),
        Some("Bearer b")
    );
    assert_eq!(metadata.count(), 2);
    assert_eq!(metadata.last().header("x-identity-header"), Some("h"));
    let client = setup.client(&credentials, &json!({})).unwrap();
    let error = fetch(&client, "/").await.unwrap_err();
    assert_eq!(error.to_string(), "IDENTITY_ENDPOINT is not set");
}

/// Identifier, region and service of the key that signed a request.
fn scope(received: &Received) -> (String, String, String) {
    let header = received.header("authorization").unwrap();
    let credential = header.strip_prefix("AWS4-HMAC-SHA256 Credential=").unwrap();
    let parts: Vec<&str> = credential.split(',').next().unwrap().split('/').collect();
    assert_eq!(parts[4], "aws4_request");
    (
        parts[0].to_owned(),
        parts[2].to_owned(),
        parts[3].to_owned(),
    )
}

fn owned(id: &str, region: &str, service: &str) -> (String, String, String) {
    (id.to_owned(), region.to_owned(), service.to_owned())
}

#[tokio::test]
async fn keys_of_aws_in_the_environment_and_in_profiles() {
    let setup = Setup::new("aws", |_, _| response(404, "")).await;
    let environment = [
        ("AWS_ACCESS_KEY_ID", "ENV"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_SESSION_TOKEN", "t"),
    ];
    let credentials = json!({"s3_signing": {"environment_credentials": {}}});
    let client = setup
        .client_in(&credentials, &json!({}), &environment)
        .unwrap();
    fetch(&client, "/bucket/a%20b?c=d").await.unwrap();
    let received = setup.service.last();
    assert_eq!(scope(&received), owned("ENV", "eu-west-1", "s3"));
    assert_eq!(received.header("x-amz-security-token"), Some("t"));
    assert!(received.header("x-amz-content-sha256").is_some());
    assert_eq!(received.target, "/bucket/a%20b?c=d");
    let path = file(
        "profiles",
        "[default]\naws_access_key_id=D\naws_secret_access_key=s\n[other]\naws_access_key_id = O\naws_secret_access_key = s\n",
    );
    for (profile, want) in [(json!({}), "D"), (json!({"profile": "other"}), "O")] {
        let mut profile = profile;
        profile["path"] = json!(path);
        profile["aws_region"] = json!("eu-west-2");
        let credentials =
            json!({"s3_signing": {"service": "execute-api", "profile_credentials": profile}});
        fetch(&setup.client(&credentials, &json!({})).unwrap(), "/")
            .await
            .unwrap();
        assert_eq!(
            scope(&setup.service.last()),
            owned(want, "eu-west-2", "execute-api")
        );
    }
    // sources are tried one after another
    let credentials = json!({"s3_signing": {
        "environment_credentials": {}, "profile_credentials": {"path": path, "aws_region": "r"}
    }});
    fetch(&setup.client(&credentials, &json!({})).unwrap(), "/")
        .await
        .unwrap();
    assert_eq!(scope(&setup.service.last()).0, "D");
    let before = setup.service.count();
    let credentials = json!({"s3_signing": {
        "environment_credentials": {}, "profile_credentials": {"path": path, "profile": "none", "aws_region": "r"}
    }});
    let client = setup.client(&credentials, &json!({})).unwrap();
    let error = fetch(&client, "/").await.unwrap_err().to_string();
    assert!(
        error.starts_with("AWS credentials: no AWS_ACCESS_KEY_ID set in environment; "),
        "{error}"
    );
    assert!(
        error.ends_with("profile `none` has no `aws_access_key_id`"),
        "{error}"
    );
    assert_eq!(setup.service.count(), before);
    std::fs::remove_file(path).unwrap();
}

fn keys_of_metadata(id: &str) -> Response<Bytes> {
    let body = json!({
        "Code": "Success", "AccessKeyId": id, "SecretAccessKey": "s", "Token": "t", "Expiration": "9000-01-01T00:00:00Z"
    });
    response(200, &body.to_string())
}

#[tokio::test]
async fn keys_of_aws_metadata_services() {
    let metadata =
        Server::start(
            |received, _| match (received.method.as_str(), received.target.as_str()) {
                ("PUT", "/latest/api/token")
                    if received
                        .header("x-aws-ec2-metadata-token-ttl-seconds")
                        .is_some() =>
                {
                    response(200, "session")
                }
                ("GET", "/latest/meta-data/iam/security-credentials/reader")
                    if received.header("x-aws-ec2-metadata-token") == Some("session") =>
                {
                    keys_of_metadata("EC2")
                }
                ("GET", "/container") if received.header("authorization") == Some("proof") => {
                    keys_of_metadata("ECS")
                }
                _ => response(404, ""),
            },
        )
        .await;
    let setup = Setup::new("aws-metadata", |_, _| response(404, "")).await;
    let (url, container) = (metadata.url(), format!("{}/container", metadata.url()));
    let environment = [
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str()),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "proof"),
        ("AWS_REGION", "eu-west-1"),
    ];
    for (config, want) in [(json!({"iam_role": "reader"}), "EC2"), (json!({}), "ECS")] {
        let credentials = json!({"s3_signing": {"metadata_credentials": config}});
        let client = setup
            .client_in(&credentials, &json!({}), &environment)
            .unwrap();
        let before = metadata.count();
        fetch(&client, "/").await.unwrap();
        let requests = metadata.count() - before;
        fetch(&client, "/").await.unwrap();
        // the keys are cached
        assert_eq!(metadata.count() - before, requests);
        assert_eq!(scope(&setup.service.last()), owned(want, "eu-west-1", "s3"));
        assert_eq!(
            setup.service.last().header("x-amz-security-token"),
            Some("t")
        );
    }
}

#[tokio::test]
async fn roles_of_aws() {
    let setup = Setup::new("sts", |received, _| {
        let form = received.form();
        let id = match (form["Action"].as_str(), form["RoleArn"].as_str()) {
            ("AssumeRole", "arn:role") => {
                assert_eq!(scope(received), owned("ENV", "eu-west-1", "sts"));
                "ROLE"
            }
            ("AssumeRoleWithWebIdentity", "arn:web") if form["WebIdentityToken"] == "web-token" => {
                "WEB"
            }
            _ => return response(403, "<Error>hidden</Error>"),
        };
        let body = format!(
            "<R><C><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>s+/=</SecretAccessKey>\
             <SessionToken>tok</SessionToken><Expiration>9000-01-01T00:00:00Z</Expiration></C></R>"
        );
        response(200, &body)
    })
    .await;
    let url = setup.url("/");
    let path = file("web-token", "web-token\n");
    let path = path.to_str().unwrap();
    let environment = [
        ("AWS_ENDPOINT_URL_STS", url.as_str()),
        ("AWS_ACCESS_KEY_ID", "ENV"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ROLE_ARN", "arn:web"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path),
    ];
    let role = |arn: &str| json!({"s3_signing": {"assume_role_credentials": {"iam_role_arn": arn, "aws_signing": {"environment_credentials": {}}}}});
    for (credentials, want) in [
        (role("arn:role"), "ROLE"),
        (
            json!({"s3_signing": {"web_identity_credentials": {}}}),
            "WEB",
        ),
    ] {
        let client = setup
            .client_in(&credentials, &json!({}), &environment)
            .unwrap();
        client.send_ok(get("/")).await.unwrap();
        client.send_ok(get("/")).await.unwrap();
        assert_eq!(scope(&setup.service.last()), owned(want, "eu-west-1", "s3"));
        assert_eq!(
            setup.service.last().header("x-amz-security-token"),
            Some("tok")
        );
    }
    assert_eq!(setup.endpoint.count(), 2);
    let client = setup
        .client_in(&role("arn:other"), &json!({}), &environment)
        .unwrap();
    let error = fetch(&client, "/").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "AWS credentials: AWS STS: server replied with 403 Forbidden"
    );
    std::fs::remove_file(path).unwrap();
}
