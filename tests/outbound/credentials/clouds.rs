//! Tokens of the metadata services of Google Cloud and Azure.

use serde_json::json;

use super::{Setup, options};
use crate::server::{Server, client_with, fetch, response};

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
