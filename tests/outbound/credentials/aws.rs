//! Keys of AWS from each source, and what requests have of them.

use bytes::Bytes;
use http::Response;
use serde_json::json;

use super::Setup;
use crate::client::file;
use crate::server::{Received, Server, fetch, get, response};

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
