//! Costs of changes of base documents, and sharing of unchanged parts.

use std::time::Duration;

use solon::internal::engine::Change;
use solon::internal::value::unshared_runs;
use solon::store::{Operation, StoreError, Transaction};
use solon::{Engine, Error, Object, Path, Request, Value};

use crate::processor::timed;

const KEYS: usize = 1_000_000;

/// `{"k0000000": {"n": 0}, …}`
fn large() -> Value {
    let pair = |at: usize| {
        let inner = Value::object(vec![("n".into(), i64::try_from(at).unwrap().into())]);
        (Value::string(&format!("k{at:07}")), inner)
    };
    Value::object((0..KEYS).map(pair).collect())
}

fn object<'a>(root: &'a Value, name: &str) -> &'a Object {
    root.get(name).unwrap().as_object().unwrap()
}

#[test]
fn a_change_copies_one_run_and_no_document() {
    let engine = Engine::new();
    engine.put("data.large", large()).unwrap();
    engine
        .put(
            "data.other",
            Value::object(vec![("list".into(), vec![1, 2].into())]),
        )
        .unwrap();
    let steps: [(Operation, &str, usize); 5] = [
        (Operation::Replace, "/large/k0500000/n", KEYS),
        (Operation::Add, "/large/k0500000/new", KEYS),
        (Operation::Replace, "/large/k0999999", KEYS),
        (Operation::Remove, "/large/k0000000", KEYS - 1),
        (Operation::Add, "/large/k0500000a", KEYS),
    ];
    for (operation, path, keys) in steps {
        let before = engine.data_snapshot();
        let path = Path::from_slashes(path);
        let old = before.read(&path).ok().cloned();
        let change = |transaction: &mut Transaction| {
            transaction
                .write(operation, &path, (-1).into())
                .map_err(Error::from)
        };
        let (changed, taken) = timed(|| engine.edit(change));
        changed.unwrap();
        let after = engine.data_snapshot();
        assert!(
            taken < Duration::from_secs(1),
            "{operation:?} of {path} took {taken:?}"
        );
        let (one, other) = (
            object(before.root(), "large"),
            object(after.root(), "large"),
        );
        assert_eq!(other.len(), keys);
        assert!(
            unshared_runs(other, one).unwrap() <= 1,
            "{operation:?} of {path}"
        );
        // siblings are not copied, nor are their members
        assert!(object(before.root(), "other").ptr_eq(object(after.root(), "other")));
        let neighbours = |object: &Object| {
            object
                .get_str("k0500001")
                .unwrap()
                .as_object()
                .unwrap()
                .clone()
        };
        assert!(neighbours(one).ptr_eq(&neighbours(other)));
        // readers of the previous documents still see those
        assert_eq!(before.read(&path).ok(), old.as_ref());
        let new = (operation != Operation::Remove).then(|| Value::from(-1));
        assert_eq!(after.read(&path).ok(), new.as_ref());
    }
}

/// Returns the result of a transaction on `{"l": [0, 1, 2], "o": {"a/b": 1, "m~n": 2, "": 3}}`.
fn changed(operation: Operation, path: &[&str]) -> Result<String, StoreError> {
    let engine = Engine::new();
    let list = Value::array(vec![0.into(), 1.into(), 2.into()]);
    let odd = [("a/b", 1), ("m~n", 2), ("", 3)];
    let odd = odd.map(|(key, value)| (Value::string(key), Value::from(value)));
    engine.put("data.l", list).unwrap();
    engine.put("data.o", Value::object(odd.to_vec())).unwrap();
    let mut transaction = Transaction::new(&engine.data_snapshot());
    let before = transaction.root().clone();
    let path = Path::new(path.iter().copied());
    match transaction.write(operation, &path, 9.into()) {
        Ok(()) => Ok(transaction.root().rego_text().to_string()),
        Err(error) => {
            assert_eq!(
                *transaction.root(),
                before,
                "a refused change changed something"
            );
            Err(error)
        }
    }
}

#[test]
fn edges_of_paths() {
    use Operation::{Add, Remove, Replace};
    let odd = r#""o": {"": 3, "a/b": 1, "m~n": 2}"#;
    for (operation, path, list) in [
        (Add, ["l", "-"], "[0, 1, 2, 9]"),
        (Add, ["l", "3"], "[0, 1, 2, 9]"),
        (Add, ["l", "0"], "[9, 0, 1, 2]"),
        (Replace, ["l", "2"], "[0, 1, 9]"),
        (Remove, ["l", "0"], "[1, 2]"),
    ] {
        let want = format!("{{\"l\": {list}, {odd}}}");
        assert_eq!(
            changed(operation, &path),
            Ok(want),
            "{operation:?} {path:?}"
        );
    }
    for (operation, key, rest) in [
        (Replace, "a/b", r#"{"": 3, "a/b": 9, "m~n": 2}"#),
        (Replace, "m~n", r#"{"": 3, "a/b": 1, "m~n": 9}"#),
        (Remove, "", r#"{"a/b": 1, "m~n": 2}"#),
        (Add, "-", r#"{"": 3, "-": 9, "a/b": 1, "m~n": 2}"#),
    ] {
        let want = format!("{{\"l\": [0, 1, 2], \"o\": {rest}}}");
        assert_eq!(
            changed(operation, &["o", key]),
            Ok(want),
            "{operation:?} {key}"
        );
    }
    for (operation, path, message) in [
        (
            Add,
            &["l", "4"][..],
            "storage_not_found_error: /l/4: array index out of range",
        ),
        (
            Add,
            &["l", "-1"],
            "storage_not_found_error: /l/-1: array index out of range",
        ),
        (
            Add,
            &["l", "x"],
            "storage_not_found_error: /l/x: array index must be integer",
        ),
        (
            Add,
            &["l", "-", "y"],
            "storage_not_found_error: /l/-/y: array index must be integer",
        ),
        (
            Add,
            &["l", "7", "y"],
            "storage_not_found_error: /l/7/y: array index out of range",
        ),
        (
            Add,
            &["l", "0", "y"],
            "storage_not_found_error: /l/0/y: document does not exist",
        ),
        (
            Remove,
            &["l", "9"],
            "storage_not_found_error: /l/9: array index out of range",
        ),
        (
            Remove,
            &["l", "-"],
            "storage_not_found_error: /l/-: array index must be integer",
        ),
        (
            Replace,
            &["l", "3"],
            "storage_not_found_error: /l/3: array index out of range",
        ),
        (
            Replace,
            &["o", "none"],
            "storage_not_found_error: /o/none: document does not exist",
        ),
        (
            Add,
            &["none", "x"],
            "storage_not_found_error: /none/x: document does not exist",
        ),
        (
            Remove,
            &[],
            "storage_invalid_patch_error: root cannot be removed",
        ),
        (
            Replace,
            &[],
            "storage_invalid_patch_error: root must be object",
        ),
    ] {
        let refused = changed(operation, path).unwrap_err();
        assert_eq!(refused.to_string(), message, "{operation:?} {path:?}");
    }
}

#[test]
fn put_creates_objects_and_replaces_values() {
    let engine = Engine::new();
    engine.put("data.a.b.c", 1.into()).unwrap();
    engine.put("data.a.l", vec![0, 1].into()).unwrap();
    engine.put("data.a.l[0]", 7.into()).unwrap();
    assert_eq!(
        engine.read("data.a").unwrap().rego_text().to_string(),
        r#"{"b": {"c": 1}, "l": [7, 1]}"#
    );
    let refused = engine.put("data.a.b.c.d", 2.into()).unwrap_err();
    assert!(
        refused.to_string().contains("storage_write_conflict_error"),
        "{refused}"
    );
}

/// Documents must not conflict with rules, in any way of writing them.
#[test]
fn documents_must_not_conflict_with_rules() {
    let engine = Engine::new();
    engine
        .set_module("t.rego", "package a.b\n\nc := 1\n\nd.e := 2\n")
        .unwrap();
    let document = |text: &str| solon::internal::value::json::read(text.as_bytes()).unwrap();
    for (path, text) in [
        ("/a/b/c", "1"),
        ("/a/b/c/x", "1"),
        ("/a/b/d/e", "1"),
        ("/a/b", "{\"c\": 2}"),
        ("/a", "{\"b\": {\"d\": {\"e\": {}}}}"),
        ("/a/b", "3"),
    ] {
        let refused = engine.put(&Path::from_slashes(path).reference(), document(text));
        assert!(
            matches!(refused, Err(Error::Store(StoreError::Conflict { .. }))),
            "{path} {text}"
        );
    }
    engine.put("data.a.b.other", 1.into()).unwrap();
    engine.put("data.a.x", 1.into()).unwrap();
    // and rules must not conflict with documents, also when both are added at once
    let refused = engine.set_module("u.rego", "package a\n\nx := 2\n");
    assert!(refused.unwrap_err().to_string().contains("conflict"));
    let mut change = Change::default();
    change.set_module("v.rego", "package v\n\nw := 2\n");
    change.put(Path::from_slashes("/v/w"), 1.into());
    engine.apply(change).unwrap_err();
    assert!(engine.read("data.v").is_err());
    let found = engine
        .prepare_document("data.a.b")
        .unwrap()
        .evaluate(&Request::new());
    assert_eq!(
        found.unwrap().unwrap().rego_text().to_string(),
        r#"{"c": 1, "d": {"e": 2}, "other": 1}"#
    );
}

/// Each step copies everything into itself: sixty of them need more memory than any machine has.
#[test]
fn copies_of_copies_are_rejected() {
    let engine = Engine::new();
    engine.put("data.a", Value::object(Vec::new())).unwrap();
    let double = |transaction: &mut Transaction| {
        (0..60)
            .try_for_each(|step| {
                let all = transaction.read(&Path::from_slashes("/a"))?.clone();
                let place = Path::from_slashes(&format!("/a/{step}"));
                transaction.write(Operation::Add, &place, all)
            })
            .map_err(Error::from)
    };
    let (refused, taken) = timed(|| engine.edit(double).unwrap_err());
    assert!(
        refused
            .to_string()
            .ends_with("documents of more than 67108864 nodes"),
        "{refused}"
    );
    assert!(taken < crate::SOON, "{taken:?}");
    assert_eq!(engine.read("data.a").unwrap().rego_text().to_string(), "{}");
}
