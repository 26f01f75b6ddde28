//! What `/openapi.json` says of paths and methods is so.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::databases::On;
use crate::plane::Plane;

#[tokio::test(flavor = "multi_thread")]
async fn described_paths_are_the_ones_there_are() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let (status, described) = plane.told("admin", "GET /openapi.json", "").await;
    assert_eq!(status, 200);
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() > 20);
    for (path, operations) in paths {
        let target = path.replace("{path}", "x").replace(['{', '}'], "");
        let response = plane.ask("admin", &format!("OPTIONS {target}"), "").await;
        assert_eq!(response.status(), 405, "{path}");
        let allowed = response.headers()["allow"].to_str().unwrap();
        let allowed: BTreeSet<String> = allowed
            .split(", ")
            .filter(|method| *method != "HEAD")
            .map(str::to_lowercase)
            .collect();
        let operations = operations.as_object().unwrap().keys();
        let told: BTreeSet<String> = operations
            .filter(|name| *name != "parameters")
            .cloned()
            .collect();
        assert_eq!(told, allowed, "{path}");
    }
    // every reference leads somewhere
    let mut open = vec![&described];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(to)) = members.get("$ref") {
                    let found = described.pointer(to.strip_prefix('#').unwrap());
                    assert!(found.is_some(), "{to}");
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}
