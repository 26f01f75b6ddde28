//! Items of the API that configuration files describe later.

use serde_json::json;
use solon_control::ControlPlane;

use crate::config::{send, write};
use crate::databases::On;
use crate::plane::{Plane, options};

/// An item of the API that a file describes later belongs to the file: its owner loses it.
#[tokio::test(flavor = "multi_thread")]
async fn files_take_over() {
    let plane = Plane::new(On::Sqlite).await.unwrap();
    plane.done("owner1", "PUT /v1/bundles/b", "{}").await;
    for ask in ["PUT /v1/sources/s", "PUT /v1/sources/s/data/x"] {
        plane.done("owner1", ask, "{}").await;
    }
    let mut options = options(&plane.folder.0);
    let text = "bundles: {b: {labels: {a: b}, requirements: [{source: s}]}}\nsources: {s: {}}";
    options.config.paths = write(&plane.folder.0, &[("c.yaml", text)]);
    let reopened = ControlPlane::open(&options).await.unwrap();
    for (request, of_owner, of_admin) in [
        ("PUT /v1/bundles/b", 403, 409),
        ("GET /v1/bundles/b", 403, 200),
        ("PUT /v1/sources/s/data/x", 403, 200),
        ("GET /v1/sources/s/data/x", 403, 200),
        ("DELETE /v1/sources/s/data/x", 403, 200),
        ("DELETE /v1/sources/s", 403, 409),
    ] {
        let (status, answer) = send(&reopened, &plane.keys["owner1"], request, "{}").await;
        assert_eq!(status, of_owner, "{request}: {answer}");
        let (status, answer) = send(&reopened, &plane.keys["admin"], request, "{}").await;
        assert_eq!(status, of_admin, "{request}: {answer}");
    }
    let (_, answer) = send(&reopened, &plane.keys["owner1"], "GET /v1/sources", "").await;
    assert_eq!(answer["result"], json!([]));
    // items that files leave to the API do not have an owner either
    let used = r#"{"requirements": [{"source": "s"}]}"#;
    let (status, _) = send(&reopened, &plane.keys["admin"], "PUT /v1/stacks/t", used).await;
    assert_eq!(status, 200);
    write(&plane.folder.0, &[("c.yaml", "bundles: {}")]);
    assert_eq!(reopened.reload().await.unwrap().left, ["source \"s\""]);
    let (status, _) = send(&reopened, &plane.keys["owner1"], "PUT /v1/sources/s", "{}").await;
    assert_eq!(status, 403);
}
