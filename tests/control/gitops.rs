//! `solon control diff` and `export`.

use serde_json::{Value, json};
use solon_control::{ControlPlane, commands};

use crate::config::{described, write};
use crate::databases::Folder;

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_is_printed_without_being_applied() {
    let folder = Folder::new();
    let text = r"
sources: {lib: {}, old: {}}
bundles: {b: {requirements: [{source: lib}]}}
secrets: {k: {type: token_auth, token: hidden-value}}
";
    let options = described(&folder, &[("a.yaml", text)]);
    let all = [
        "create secret \"k\"",
        "create source \"lib\"",
        "create source \"old\"",
        "create bundle \"b\"",
    ];
    assert_eq!(commands::diff(&options).await.unwrap(), all);
    assert_eq!(commands::diff(&options).await.unwrap(), all);
    drop(ControlPlane::open(&options).await.unwrap());
    assert!(commands::diff(&options).await.unwrap().is_empty());
    let text = r"
sources: {lib: {}}
bundles: {b: {requirements: [{source: lib}], labels: {x: y}}}
stacks: {s: {selector: {x: []}}}
secrets: {k: {type: token_auth, token: another-value}}
";
    write(&folder.0, &[("a.yaml", text)]);
    let changes = [
        "update secret \"k\"",
        "update bundle \"b\"",
        "create stack \"s\"",
        "delete source \"old\"",
    ];
    assert_eq!(commands::diff(&options).await.unwrap(), changes);
    write(
        &folder.0,
        &[("a.yaml", "bundles: {b: {requirements: [{source: gone}]}}")],
    );
    let error = commands::diff(&options).await.unwrap_err().to_string();
    assert!(error.contains("\"gone\""), "{error}");

    // a configuration is required: without one, everything that files describe would seem to be deleted
    let mut without = options.clone();
    without.config.paths.clear();
    assert!(commands::diff(&without).await.is_err());

    let exported = commands::export(&without).await.unwrap();
    assert!(!exported.contains("hidden-value"), "{exported}");
    let exported: Value = serde_yaml::from_str(&exported).unwrap();
    let wanted = json!({
        "sources": {"lib": {}, "old": {}},
        "bundles": {"b": {"requirements": [{"source": "lib"}]}},
        "secrets": {"k": {"type": "token_auth"}},
    });
    assert_eq!(exported, wanted);
}
