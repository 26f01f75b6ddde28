//! Metrics, with the names that dashboards use.

use solon_control::ControlPlane;
use solon_control::config::ConfigFiles;

use crate::databases::On;
use crate::plane::{Plane, options};

async fn text(plane: &Plane) -> String {
    let response = plane.send("admin", "GET /metrics", "").await;
    assert_eq!(response.status(), 200);
    String::from_utf8(response.body().to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_statements_are_measured() {
    let plane = Plane::new(On::Memory).await.unwrap();
    plane.done("admin", "PUT /v1/bundles/a", "{}").await;
    plane.send_json("owner1", "GET /v1/bundles/a", "").await;
    plane.send_json("nobody", "GET /v1/bundles/a", "").await;
    plane.send_json("admin", "GET /v1/nothing", "").await;
    let text = text(&plane).await;
    for line in [
        r#"ocp_http_request_duration_seconds_count{code="200",handler="/v1/bundles/{bundle}",method="put"} 1"#,
        r#"ocp_http_request_duration_seconds_count{code="403",handler="/v1/bundles/{bundle}",method="get"} 1"#,
        r#"ocp_http_request_duration_seconds_bucket{le="0.000001",code="200",handler="/v1/bundles/{bundle}",method="put"} 0"#,
        r#"ocp_database_query_count_total{operation="insert",state="SUCCESS"}"#,
        r#"ocp_database_query_duration_seconds_count{operation="select"}"#,
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    let described = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let described = std::fs::read_to_string(described).unwrap();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let suffix = if kind == "counter" { "_total" } else { "" };
        let row = format!("| `{name}{suffix}` | {kind} |");
        assert!(described.contains(&row), "docs/metrics.md has no row {row}");
    }
    // requests of unknown clients, and names that clients can invent, are not counted separately
    assert!(
        !text.contains("code=\"401\"") && !text.contains("nothing"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_that_are_disabled_are_not_measured() {
    for (metrics, wanted) in [
        ("{enabled: false}", [false, false, false]),
        ("{http: {enabled: false}}", [false, true, true]),
        (
            "{http: {request_duration: {enabled: false}}, database: {database_query_count: {enabled: false}}}",
            [false, false, true],
        ),
        ("{database: {enabled: false}}", [true, false, false]),
        (
            "{gitsync: {enabled: false}, worker: {bundle_build_count: {enabled: false}}}",
            [true, true, true],
        ),
        ("{}", [true, true, true]),
    ] {
        let mut plane = Plane::new(On::Sqlite).await.unwrap();
        let file = plane.folder.0.join("config.yaml");
        std::fs::write(&file, format!("metrics: {metrics}")).unwrap();
        let mut options = options(&plane.folder.0);
        options.config = ConfigFiles {
            paths: vec![file],
            refuse_conflicts: false,
        };
        plane.plane = ControlPlane::open(&options).await.unwrap();
        plane.send_json("admin", "GET /v1/bundles", "").await;
        let text = text(&plane).await;
        let names = [
            "ocp_http_request_duration_seconds_count",
            "ocp_database_query_count_total",
            "ocp_database_query_duration_seconds_count",
        ];
        for (name, wanted) in names.into_iter().zip(wanted) {
            assert_eq!(text.contains(name), wanted, "{metrics}: {name}\n{text}");
        }
    }
}
