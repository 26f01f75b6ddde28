//! Downloads, revisions and rollbacks over the API.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use solon_control::storage::LongPoll;

use super::{Built, publish};
use crate::databases::On;
use crate::plane::{Plane, json as parsed};

const DOWNLOAD: &str = "GET /v1/bundles/b/download";

fn headers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    pairs.iter().map(owned).collect()
}

/// A control plane with a bundle of `owner1` and one published archive.
async fn published(on: On) -> Option<(Plane, Built)> {
    let plane = Plane::new(on).await?;
    plane.done("owner1", "PUT /v1/bundles/b", "{}").await;
    let built = Built::of_size("one", (2 << 20) + 7, 1);
    assert_eq!(publish(&plane, "b", &built, 1).await, "stored");
    Some((plane, built))
}

/// Headers of the request, status, range of the body, and headers of the response.
type Expected<'a> = (
    &'a [(&'a str, &'a str)],
    u16,
    std::ops::Range<usize>,
    &'a [(&'a str, &'a str)],
);

#[tokio::test(flavor = "multi_thread")]
async fn archives_are_downloaded_whole_and_in_ranges() {
    for on in On::ALL {
        let Some((plane, built)) = published(on).await else {
            continue;
        };
        let size = built.archive.len();
        let tag = format!("\"{}\"", built.digest);
        let (weak, long) = (
            format!("W/{tag}"),
            "application/vnd.openpolicyagent.bundles",
        );
        let across = format!("bytes 1048570-1048579/{size}");
        let tail = format!("bytes {}-{}/{size}", size - 3, size - 1);
        let outside = format!("bytes */{size}");
        let cases: [Expected<'_>; 14] = [
            (
                &[],
                200,
                0..size,
                &[
                    ("content-type", "application/gzip"),
                    ("etag", &tag),
                    ("accept-ranges", "bytes"),
                ],
            ),
            (
                &[("prefer", "modes=snapshot,delta")],
                200,
                0..size,
                &[("content-type", "application/gzip")],
            ),
            (
                &[("prefer", "modes=snapshot,delta;wait=10")],
                200,
                0..size,
                &[("content-type", long)],
            ),
            (
                &[("if-none-match", "\"other\"")],
                200,
                0..size,
                &[("etag", &tag)],
            ),
            (&[("if-none-match", &tag)], 304, 0..0, &[("etag", &tag)]),
            (&[("if-none-match", &weak)], 304, 0..0, &[("etag", &tag)]),
            (&[("if-none-match", "*")], 304, 0..0, &[]),
            (
                &[("if-none-match", &tag), ("range", "bytes=0-1")],
                304,
                0..0,
                &[],
            ),
            (&[("range", "bytes=0-0")], 206, 0..1, &[("etag", &tag)]),
            // across the border of two pieces
            (
                &[("range", "bytes=1048570-1048579")],
                206,
                1_048_570..1_048_580,
                &[("content-range", &across)],
            ),
            (
                &[("range", "bytes=-3")],
                206,
                size - 3..size,
                &[("content-range", &tail)],
            ),
            (
                &[("range", "bytes=99999999-")],
                416,
                0..0,
                &[("content-range", &outside)],
            ),
            (
                &[("range", "bytes=0-1"), ("if-range", &tag)],
                206,
                0..2,
                &[],
            ),
            (
                &[("range", "bytes=0-1"), ("if-range", "\"other\"")],
                200,
                0..size,
                &[],
            ),
        ];
        for (with, status, range, wanted) in &cases {
            let with = headers(with);
            let response = plane.send_with("owner1", DOWNLOAD, "", &with).await;
            assert_eq!(response.status(), *status, "{on:?} {with:?}");
            assert!(
                response.body()[..] == built.archive[range.clone()],
                "{on:?} {with:?}"
            );
            for (name, value) in *wanted {
                assert_eq!(response.headers()[*name], value, "{on:?} {with:?}");
            }
            let head = DOWNLOAD.replace("GET", "HEAD");
            let response = plane.send_with("owner1", &head, "", &with).await;
            assert_eq!(response.status(), *status, "{on:?} HEAD {with:?}");
            assert!(response.body().is_empty());
            let length = range.len().to_string();
            assert_eq!(
                response.headers()["content-length"],
                length,
                "HEAD {with:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_need_their_own_permission() {
    for on in On::ALL {
        let Some((plane, _)) = published(on).await else {
            continue;
        };
        let grant = "PUT /v1/bundles/b/grants/owner2";
        // existing permissions do not include the new one
        let others = r#"{"permissions":["bundles.view","bundles.manage","bundles.statuses.view"]}"#;
        plane.done("admin", grant, others).await;
        for (who, status) in [
            ("owner1", 200),
            ("admin", 200),
            ("viewer", 200),
            ("owner2", 403),
            ("stack1", 403),
            ("nobody", 401),
        ] {
            let response = plane.send(who, DOWNLOAD, "").await;
            assert_eq!(response.status(), status, "{on:?} {who}");
        }
        plane
            .done("admin", grant, r#"{"permissions":["bundles.download"]}"#)
            .await;
        assert_eq!(plane.send("owner2", DOWNLOAD, "").await.status(), 200);
        for ask in [
            "GET /v1/bundles/b",
            "GET /v1/bundles/b/revisions",
            "GET /v1/bundles/b/status",
        ] {
            assert_eq!(plane.send("owner2", ask, "").await.status(), 403, "{ask}");
        }
        for (ask, body, status) in [
            ("GET /v1/bundles/absent/download", "", 404),
            ("POST /v1/bundles/b/download", "{}", 405),
            ("GET /v1/bundles/b/rollback", "", 405),
            ("POST /v1/bundles/absent/rollback", r#"{"id":1}"#, 404),
            ("GET /v1/bundles/absent/revisions", "", 404),
        ] {
            assert_eq!(
                plane.send("admin", ask, body).await.status(),
                status,
                "{ask}"
            );
        }
        plane.done("admin", "PUT /v1/bundles/unbuilt", "{}").await;
        let (status, answer) = plane
            .send_json("admin", "GET /v1/bundles/unbuilt/download", "")
            .await;
        let message = "no revision of the bundle is stored here";
        assert_eq!((status, &answer["message"]), (404, &json!(message)));
        let (status, answer) = plane
            .send_json("admin", "GET /v1/bundles/unbuilt/revisions", "")
            .await;
        assert_eq!(
            (status, answer),
            (200, json!({"result": [], "next_cursor": null}))
        );
    }
}

/// A rollback stays in force until a build gives another archive, or until it is ended.
#[tokio::test(flavor = "multi_thread")]
async fn rollbacks_last_until_the_bundle_changes() {
    for on in On::ALL {
        let Some((plane, one)) = published(on).await else {
            continue;
        };
        let (two, three) = (Built::new("two", "2"), Built::new("three", "3"));
        assert_eq!(publish(&plane, "b", &two, 1).await, "stored");
        let (_, list) = plane
            .send_json("owner1", "GET /v1/bundles/b/revisions", "")
            .await;
        let shown: Vec<Value> = list["result"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| json!([one["revision"], one["size"], one["active"]]))
            .collect();
        assert_eq!(
            json!(shown),
            json!([["two", 1, true], ["one", one.archive.len(), false]])
        );
        let id = list["result"][1]["id"].as_i64().unwrap();
        let roll_back = "POST /v1/bundles/b/rollback";
        for (who, body, status, message) in [
            ("owner2", json!({"id": id}), 403, "not authorized"),
            ("viewer", json!({"id": id}), 403, "not authorized"),
            ("owner1", json!({}), 400, "exactly one of"),
            (
                "owner1",
                json!({"id": id, "revision": "one"}),
                400,
                "exactly one of",
            ),
            ("owner1", json!({"resume": false}), 400, "must be `true`"),
            ("owner1", json!({"id": "1"}), 400, "an integer"),
            ("owner1", json!({"ident": 1}), 400, "ident"),
            ("owner1", json!({"id": id + 99}), 404, "no such revision"),
            (
                "owner1",
                json!({"revision": "absent"}),
                404,
                "no such revision",
            ),
            ("owner1", json!({"revision": "a\0b"}), 400, "NUL character"),
        ] {
            let (found, answer) = plane.send_json(who, roll_back, &body.to_string()).await;
            assert_eq!(found, status, "{on:?} {who} {body}: {answer}");
            let text = answer["message"].as_str().unwrap();
            assert!(text.contains(message), "{body}: {text}");
        }
        let active = async || {
            let response = plane.send("owner1", DOWNLOAD, "").await;
            response.headers()["etag"]
                .to_str()
                .unwrap()
                .trim_matches('"')
                .to_owned()
        };
        assert_eq!(active().await, two.digest);
        let (status, answer) = plane
            .send_json("owner1", roll_back, &json!({"id": id}).to_string())
            .await;
        assert_eq!(
            (status, &answer["result"]["active"]),
            (200, &json!(true)),
            "{answer}"
        );
        assert_eq!(active().await, one.digest, "{on:?}");
        // the same build again does not undo the rollback
        assert_eq!(publish(&plane, "b", &two, 2).await, "unchanged");
        assert_eq!(active().await, one.digest, "{on:?}");
        plane.done("owner1", roll_back, r#"{"resume":true}"#).await;
        assert_eq!(active().await, two.digest, "{on:?}");
        plane
            .done("owner1", roll_back, r#"{"revision":"one"}"#)
            .await;
        assert_eq!(active().await, one.digest, "{on:?}");
        // another archive does
        assert_eq!(publish(&plane, "b", &three, 2).await, "stored");
        assert_eq!(active().await, three.digest, "{on:?}");
        // a rollback does not lower the fencing token
        plane
            .done("owner1", roll_back, r#"{"revision":"one"}"#)
            .await;
        assert!(publish(&plane, "b", &two, 1).await.contains("newer build"));
        let (_, audit) = plane.send_json("admin", "GET /v1/audit?limit=1", "").await;
        let entry = &audit["result"][0];
        let told = json!([
            entry["action"],
            entry["principal"],
            entry["kind"],
            entry["before"]["revision"],
            entry["after"]["revision"]
        ]);
        assert_eq!(
            told,
            json!(["rollback", "owner1", "bundles", "three", "one"]),
            "{on:?}"
        );
    }
}

/// Requests an archive that the client has, and returns the waiting for a change.
async fn waiting(plane: &Plane, tag: &str, seconds: u64) -> LongPoll {
    let with = headers(&[
        ("if-none-match", &format!("\"{tag}\"")),
        ("prefer", &format!("modes=snapshot,delta;wait={seconds}")),
    ]);
    let response = plane.send_with("owner1", DOWNLOAD, "", &with).await;
    assert_eq!(response.status(), 304);
    response.extensions().get::<LongPoll>().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_downloads_are_woken_by_changes() {
    for on in On::ALL {
        let Some((plane, one)) = published(on).await else {
            continue;
        };
        plane.done("admin", "PUT /v1/bundles/c", "{}").await;
        let poll = waiting(&plane, &one.digest, 30).await;
        assert_eq!(poll.within(), Duration::from_secs(30));
        // without a change the time passes, also when another bundle changes
        let begun = Instant::now();
        let (changed, other) = tokio::join!(
            poll.changed(Duration::from_millis(1500)),
            publish(&plane, "c", &one, 1)
        );
        assert_eq!((changed, other.as_str()), (false, "stored"), "{on:?}");
        assert!(begun.elapsed() >= Duration::from_millis(1500));
        // a thousand clients wait with one connection, and a change wakes all of them
        let poll = waiting(&plane, &one.digest, 30).await;
        let clients: Vec<_> = (0..1000)
            .map(|_| {
                let poll = poll.clone();
                tokio::spawn(async move { poll.changed(Duration::from_mins(1)).await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(
            publish(&plane, "b", &Built::new("two", "2"), 1).await,
            "stored"
        );
        for client in clients {
            assert!(client.await.unwrap(), "{on:?}");
        }
        // a change between the response and the waiting is not missed
        let two = Built::new("two", "2");
        let poll = waiting(&plane, &two.digest, 30).await;
        plane
            .done(
                "owner1",
                "POST /v1/bundles/b/rollback",
                r#"{"revision":"one"}"#,
            )
            .await;
        assert!(poll.changed(Duration::from_mins(1)).await, "{on:?}");
        // the end of the service ends the waiting
        let poll = waiting(&plane, &one.digest, 30).await;
        let ending = tokio::spawn(async move { poll.changed(Duration::from_mins(10)).await });
        tokio::task::yield_now().await;
        plane.plane.service().end_waiting();
        assert!(!ending.await.unwrap(), "{on:?}");
        let poll = waiting(&plane, &one.digest, 30).await;
        assert!(!poll.changed(Duration::from_mins(10)).await, "{on:?}");
    }
}

/// Requests without a waiting time, and errors, do not wait.
#[tokio::test(flavor = "multi_thread")]
async fn only_current_archives_wait() {
    let (plane, one) = published(On::Memory).await.unwrap();
    let tag = format!("\"{}\"", one.digest);
    for with in [
        headers(&[("if-none-match", &tag)]),
        headers(&[("if-none-match", &tag), ("prefer", "wait=0")]),
        headers(&[("prefer", "wait=10")]),
        headers(&[("if-none-match", "\"other\""), ("prefer", "wait=10")]),
    ] {
        let response = plane.send_with("owner1", DOWNLOAD, "", &with).await;
        assert!(
            response.extensions().get::<LongPoll>().is_none(),
            "{with:?}"
        );
    }
    let refused = plane
        .send_with("owner2", DOWNLOAD, "", &headers(&[("prefer", "wait=10")]))
        .await;
    assert_eq!(
        (refused.status().as_u16(), &parsed(&refused)["code"]),
        (403, &json!("not_authorized"))
    );
}
