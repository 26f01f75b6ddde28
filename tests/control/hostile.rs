//! Requests with excessive size, depth or numbers of references.

use serde_json::json;

use crate::databases::On;
use crate::plane::Plane;

#[tokio::test(flavor = "multi_thread")]
async fn large_and_deep_bodies() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/sources/s", "{}").await;
        let told = async |ask: &str, body: String| plane.send_json("admin", ask, &body).await;
        let refused = async |ask: &str, body: String, status: u16, words: &str| {
            let (got, answer) = told(ask, body).await;
            assert_eq!(got, status, "{on:?} {ask}: {answer}");
            let message = answer["message"].as_str().unwrap();
            assert!(message.contains(words), "{on:?} {ask}: {message}");
        };
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);

        // bodies that describe items.
        refused(
            "PUT /v1/bundles/b",
            " ".repeat(64 << 20) + "{}",
            413,
            "16777216 bytes",
        )
        .await;
        refused(
            "PUT /v1/bundles/b",
            nested(100_000),
            400,
            "the body is not valid JSON",
        )
        .await;
        refused(
            "PUT /v1/bundles/b",
            format!(r#"{{"labels":{}}}"#, nested(100)),
            400,
            "labels must be an object",
        )
        .await;
        let labels = |count: usize| {
            let labels: serde_json::Map<_, _> =
                (0..count).map(|n| (format!("l{n}"), json!("v"))).collect();
            json!({ "labels": labels }).to_string()
        };
        refused(
            "PUT /v1/bundles/b",
            labels(100_001),
            400,
            "labels has 100001 members, at most 100000",
        )
        .await;
        let (status, answer) = told("PUT /v1/bundles/b", labels(100_000)).await;
        assert_eq!(status, 200, "{on:?}: {answer}");
        let text = json!({ "labels": { "a": "x".repeat((1 << 20) + 1) } }).to_string();
        refused(
            "PUT /v1/bundles/b",
            text,
            400,
            "labels.a is longer than 1048576 bytes",
        )
        .await;
        let many = vec![json!({ "x": 1 }); 50];
        refused(
            "PUT /v1/bundles/b",
            json!({ "requirements": many }).to_string(),
            400,
            "; and 90 more",
        )
        .await;

        // 10,000 requirements of one source, and of a hundred.
        let same = vec![json!({ "source": "s" }); 10_000];
        let (status, answer) = told(
            "PUT /v1/bundles/b",
            json!({ "requirements": same }).to_string(),
        )
        .await;
        assert_eq!(status, 200, "{on:?}: {answer}");
        for number in 0..100 {
            plane
                .done("admin", &format!("PUT /v1/sources/s{number}"), "{}")
                .await;
        }
        let several: Vec<_> = (0..10_000)
            .map(|n| json!({ "source": format!("s{}", n % 100) }))
            .collect();
        let (status, answer) = told(
            "PUT /v1/bundles/b",
            json!({ "requirements": several }).to_string(),
        )
        .await;
        assert_eq!(status, 200, "{on:?}: {answer}");

        // documents.
        refused(
            "PUT /v1/sources/s/data/x",
            " ".repeat((64 << 20) + 1),
            413,
            "67108864 bytes",
        )
        .await;
        refused(
            "PUT /v1/sources/s/data/x",
            nested(10_001),
            400,
            "the body is not valid JSON",
        )
        .await;
        let broken = plane.send("admin", "PUT /v1/sources/s/data/x", b"\"\xff\"".as_slice());
        assert_eq!(broken.await.status().as_u16(), 400, "{on:?}");
        let (status, answer) = told("PUT /v1/sources/s/data/x", nested(9_000)).await;
        assert_eq!(status, 200, "{on:?}: {answer}");
        // A database may accept less than the service does, and reports it.
        let large = format!("\"{}\"", "x".repeat((64 << 20) - 2));
        let (status, answer) = told("PUT /v1/sources/s/data/large", large).await;
        assert!(status == 200 || status == 413, "{on:?}: {status} {answer}");
        let (status, _) = told("GET /v1/sources", String::new()).await;
        assert_eq!(status, 200, "{on:?}");
    }
}

/// A body that contains a path.
type Body = fn(&str) -> serde_json::Value;

/// Paths in each field that contains one, in each spelling that leaves the folder. An item with many users is not deleted,
/// and the error message stays short.
#[tokio::test(flavor = "multi_thread")]
async fn many_users() {
    let plane = Plane::new(On::Memory).await.unwrap();
    plane.done("admin", "PUT /v1/sources/s", "{}").await;
    for number in 0..150 {
        let body = r#"{"requirements":[{"source":"s"}]}"#;
        plane
            .done("admin", &format!("PUT /v1/bundles/b{number}"), body)
            .await;
    }
    let (status, answer) = plane.send_json("admin", "DELETE /v1/sources/s", "").await;
    assert_eq!(status, 409, "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.ends_with("bundle \"b99\", 50 more"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leaves() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let leaving = [
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "/etc/passwd",
        "//x",
        "\\x",
        "a\\..\\..\\x",
        "C:\\x",
        "c:/x",
        "C:x",
        "%2e%2e/x",
        "%2E%2E%2Fx",
        "%252e%252e/x",
        "..%2fx",
        "..%5cx",
        "x/%2e%2e%2f%2e%2e/y",
        "x\0y",
        "... ",
        ".. /x",
        "a/.../..\\x",
    ];
    let bodies: [(&str, Body); 12] = [
        (
            "bundles",
            |path| json!({ "object_storage": { "filesystem": { "path": path } } }),
        ),
        (
            "bundles",
            |path| json!({ "object_storage": { "azure": { "account_url": "https://a", "container": "c", "path": format!("x/{path}") } } }),
        ),
        (
            "bundles",
            |path| json!({ "requirements": [{ "source": "s", "path": path }] }),
        ),
        (
            "bundles",
            |path| json!({ "requirements": [{ "source": "s", "prefix": path }] }),
        ),
        (
            "stacks",
            |path| json!({ "requirements": [{ "source": "s", "path": path }] }),
        ),
        (
            "sources",
            |path| json!({ "git": { "repo": "https://h/x", "path": path } }),
        ),
        ("sources", |path| json!({ "directory": path })),
        (
            "sources",
            |path| json!({ "directory": "x", "paths": [path] }),
        ),
        ("sources", |path| json!({ "files": { path: "" } })),
        ("sources", |path| json!({ "builtin": path })),
        (
            "sources",
            |path| json!({ "datasources": [{ "name": "d", "path": path, "type": "http", "config": { "url": "https://h" } }] }),
        ),
        (
            "sources",
            |path| json!({ "requirements": [{ "source": "s", "prefix": path }] }),
        ),
    ];
    plane.done("admin", "PUT /v1/sources/s", "{}").await;
    for (kind, body) in bodies {
        for path in leaving {
            let body = body(path);
            // A path that begins at the root does not do so after a prefix.
            if body["object_storage"]["azure"].is_object()
                && !path.contains("..")
                && !path.contains("%2")
                && !path.contains('\0')
            {
                continue;
            }
            let (status, answer) = plane
                .send_json("admin", &format!("PUT /v1/{kind}/x"), &body.to_string())
                .await;
            assert_eq!(
                (status, answer["code"].as_str()),
                (400, Some("invalid_parameter")),
                "{kind} {body}: {answer}"
            );
        }
        let fine = body("a/b");
        let (status, answer) = plane
            .send_json("admin", &format!("PUT /v1/{kind}/fine"), &fine.to_string())
            .await;
        assert_eq!(status, 200, "{kind} {fine}: {answer}");
        plane
            .done("admin", &format!("DELETE /v1/{kind}/fine"), "")
            .await;
    }
}

/// Arbitrary bytes as a body result in one of the defined responses.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_bodies() {
    let plane = Plane::new(On::Memory).await.unwrap();
    plane.done("admin", "PUT /v1/sources/s", "{}").await;
    let good = r#"{"name":"x","labels":{"a":"b"},"object_storage":{"aws":{"bucket":"b","key":"k","region":"r"}},"requirements":[{"source":"s","git":{"commit":"abcd"}}],"rebuild_interval":"1h","options":{"target":"rego"}}"#;
    let mut state = 88_172_645_463_325_252_u64;
    for round in 0..3000 {
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..=round % 4 {
            if bytes.is_empty() {
                break;
            }
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state % bytes.len() as u64) as usize;
            match state >> 60 {
                0..=5 => bytes[at] = (state >> 32) as u8,
                6..=9 => drop(bytes.remove(at)),
                10..=12 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"{}[]\",:\\0n"[(state >> 40) as usize % 10]),
            }
        }
        for ask in [
            "PUT /v1/bundles/x",
            "PUT /v1/sources/x",
            "PUT /v1/stacks/x",
            "PUT /v1/secrets/x",
            "POST /v1/tokens",
            "PATCH /v1/sources/s/data/x",
        ] {
            let response = plane.send("admin", ask, bytes.clone()).await;
            let status = response.status().as_u16();
            let text = String::from_utf8_lossy(&bytes);
            assert!(
                matches!(status, 200 | 400 | 409 | 422),
                "{ask} {text}: {status}"
            );
        }
    }
}
