//! `/openapi.json` matches the implemented paths, methods and fields, and its reference page.

#[path = "../openapi/page.rs"]
mod page;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use solon_control::access::AccessRequest;
use solon_control::model::{Kind, SecretType};

use crate::databases::On;
use crate::plane::Plane;

#[tokio::test(flavor = "multi_thread")]
async fn described_paths_are_the_ones_there_are() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let (status, described) = plane.send_json("admin", "GET /openapi.json", "").await;
    assert_eq!(status, 200);
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() > 20);
    for (path, operations) in paths {
        let target = path.replace("{path}", "x").replace(['{', '}'], "");
        let response = plane.send("admin", &format!("OPTIONS {target}"), "").await;
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
    // every reference has a target
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

/// The described fields of secrets and the grantable permissions match the implemented ones.
#[tokio::test(flavor = "multi_thread")]
async fn described_fields_are_the_ones_there_are() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let (_, described) = plane.send_json("admin", "GET /openapi.json", "").await;
    let schemas = &described["components"]["schemas"];
    let names = |schema: &Value| -> BTreeSet<String> {
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    };
    for (schema, own) in [
        ("SecretValue", &["type"][..]),
        ("FlatSecret", &["name", "type", "allowed_hosts"]),
    ] {
        let variants = schemas[schema]["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), SecretType::all().count());
        for (kind, fields) in SecretType::all() {
            let variant = variants
                .iter()
                .find(|variant| variant["properties"]["type"]["const"] == kind);
            let told = names(variant.unwrap());
            let known: BTreeSet<String> = own
                .iter()
                .chain(&fields)
                .map(|&name| name.to_owned())
                .collect();
            assert_eq!(told, known, "{schema} {kind}");
        }
    }
    for kind in Kind::OWNED {
        let put = format!(
            "/v1/{}/{{{}}}/grants/{{token}}",
            kind.plural(),
            kind.singular()
        );
        let body = &described["paths"][put]["put"]["requestBody"];
        let schema = body["content"]["application/json"]["schema"]["$ref"].as_str();
        let schema = described.pointer(&schema.unwrap()[1..]).unwrap();
        let told = &schema["properties"]["permissions"]["items"]["enum"];
        assert_eq!(*told, json!(AccessRequest::grantable(kind)), "{kind:?}");
    }
}

const HEAD: &str = "# Control plane API reference

Every operation of the control plane, generated from its OpenAPI description, which `GET /openapi.json` of a running control plane
returns for generators of clients.

- [Control plane](control-plane.md) describes permissions, keys, preconditions and source data, and
  [Resources](control-plane-resources.md) each field with examples.
- Each request needs a key, `Authorization: Bearer KEY`, except for `GET /health` and webhooks. With `service.api_prefix`, the prefix precedes
  every path.
- Errors are JSON ([Error](#error)), except for 401, which is text.
- Lists are paginated: `next_cursor` of a response is the parameter `cursor` of the request for the next page, and `null` on the
  last page.
- Bodies are at most 64 MiB for source data, 4 MiB for webhooks and 16 MiB for other requests.
";

/// `docs/control-http-api.md` is the description, rendered. `BLESS=1` regenerates it.
#[tokio::test(flavor = "multi_thread")]
async fn the_reference_page_is_the_description() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let (_, described) = plane.send_json("admin", "GET /openapi.json", "").await;
    page::check("control-http-api.md", HEAD, &described);
}
