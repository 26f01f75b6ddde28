//! Loads of files are atomic: an unreadable file changes nothing, and documents are merged into existing ones.

use solon::bundle::{LoadError, Loader, MemoryFiles};
use solon::{Engine, Error, Value, value};

const POLICY: &str = "package authz\n\nallow if input.user in data.users.admins\n";

#[test]
fn loading_merges_documents_and_replaces_modules() {
    let engine = Engine::new();
    engine
        .put(
            "data",
            value!({"users": {"guests": ["eve"], "admins": ["bob"]}, "kept": 1}),
        )
        .unwrap();
    let mut files = MemoryFiles::from([
        ("p/authz.rego", POLICY),
        ("p/users/data.json", r#"{"admins": ["alice"]}"#),
        ("p/users/readme.txt", "no document"),
        ("p/users/more.yaml", "limits: {a: 1}"),
    ]);
    engine.load(&files, &["p"]).unwrap();
    let want = value!({
        "users": {"guests": ["eve"], "admins": ["alice"], "limits": {"a": 1}},
        "kept": 1
    });
    assert_eq!(engine.read("data").unwrap(), want);
    assert_eq!(engine.module_names(), ["p/authz.rego"]);

    files.insert("p/authz.rego", "package authz\n\nallow := false\n");
    files.insert("p/users/more.yaml", "limits: {b: 2}");
    engine.load(&files, &["p"]).unwrap();
    let limits = engine.read("data.users.limits").unwrap();
    assert_eq!(limits, value!({"a": 1, "b": 2}));
    let allow = engine.prepare_document("data.authz.allow").unwrap();
    let answer = allow.evaluate(&solon::Request::new()).unwrap();
    assert_eq!(answer, Some(Value::from(false)));
}

#[test]
fn all_load_errors_are_reported_and_nothing_changes() {
    let engine = Engine::new();
    let before = engine.generation();
    let files = MemoryFiles::from([
        ("a/bad.json", "{"),
        ("a/bad.rego", "package a\n\np if {"),
        ("a/good.rego", "package a\n\nq := 1\n"),
        ("b/scalar.json", "1"),
    ]);
    let error = engine
        .load(&files, &["a", "missing", "b/scalar.json"])
        .unwrap_err();
    let Error::Load(errors) = &error else {
        panic!("{error}");
    };
    let messages: Vec<String> = errors.0.iter().map(LoadError::to_string).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert!(messages[0].starts_with("a/bad.json: "), "{messages:?}");
    assert!(messages[1].starts_with("a/bad.rego:3: rego_parse_error: "));
    assert_eq!(messages[2], "stat missing: no such file or directory");
    assert_eq!(
        messages[3],
        "b/scalar.json: document must be of type object"
    );
    let codes: Vec<String> = error.entries().into_iter().map(|one| one.code).collect();
    let file = "load_error";
    assert_eq!(codes, [file, "rego_parse_error", file, file]);
    assert_eq!(engine.generation(), before);
    assert!(engine.module_names().is_empty());
}

#[test]
fn bundles_own_their_roots() {
    let files = MemoryFiles::from([
        ("one/.manifest", r#"{"roots": ["authz", "users"]}"#),
        ("one/authz.rego", POLICY),
        ("one/users/data.json", r#"{"admins": ["alice"]}"#),
        ("two/.manifest", r#"{"roots": ["users/admins"]}"#),
        ("three/.manifest", r#"{"roots": ["other"]}"#),
        ("three/authz.rego", POLICY),
    ]);
    let loader = Loader::new(&files);
    let loaded = loader.load_bundles(&["one"]).unwrap();
    assert_eq!(loaded.documents, value!({"users": {"admins": ["alice"]}}));
    let refused = |paths: &[&str]| loader.load_bundles(paths).unwrap_err().to_string();
    assert_eq!(
        refused(&["one", "one", "two"]),
        "detected overlapping roots in manifests for these bundles: [one, two] (users overlaps users/admins)"
    );
    assert!(refused(&["three"]).contains("do not permit"));
}
