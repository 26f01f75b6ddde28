//! Persistent changes, and checks of changes without applying them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use solon::store::{Commit, Contents, MemoryStore, Operation, Path, Store, StoreError};
use solon::{Change, CheckOptions, Engine, Error, Request, Value};
use solon_syntax::ast::Version;

/// A store that rejects commits on demand, and counts those that it receives.
#[derive(Default)]
struct Moody {
    store: MemoryStore,
    refuses: AtomicBool,
    commits: AtomicU32,
    writes: AtomicU32,
}

impl Store for Moody {
    fn load(&self) -> Result<Contents, StoreError> {
        self.store.load()
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(StoreError::Internal {
                message: "the disk is full".to_owned(),
            });
        }
        self.commits.fetch_add(1, Ordering::SeqCst);
        let writes = u32::try_from(change.writes.len()).unwrap();
        self.writes.fetch_add(writes, Ordering::SeqCst);
        self.store.commit(change)
    }
}

fn value(text: &str) -> Value {
    solon::internal::value::json::read(text.as_bytes()).unwrap()
}

fn evaluate(engine: &Engine, path: &str) -> Option<Value> {
    let document = engine.document(&Path::from_slashes(path));
    document.evaluate(&Request::new()).unwrap()
}

#[test]
fn a_store_returns_policies_and_documents() {
    let store = Arc::new(Moody::default());
    let engine = Engine::builder().open(store.clone()).unwrap();
    let mut change = Change::default();
    change
        .set_module_as("old.rego", "package old\np { data.a.b == 1 }", Version::V0)
        .set_module("new.rego", "package new\np if data.a.c == [1, 2]")
        .put(Path::from_slashes("a/b"), Value::from(1))
        .write(Operation::Add, Path::from_slashes("a/c"), value("[1]"))
        .write(Operation::Add, Path::from_slashes("a/c/-"), value("2"));
    engine.apply(change).unwrap();
    engine.set_module("gone.rego", "package gone").unwrap();
    engine.remove_module("gone.rego").unwrap();
    let edited: Result<(), Error> = engine.edit(|transaction| {
        transaction.make_parents(&Path::from_slashes("x/y"))?;
        Ok(transaction.put(&Path::from_slashes("x/y"), Value::NULL)?)
    });
    edited.unwrap();
    assert_eq!(store.commits.load(Ordering::SeqCst), 4);
    assert_eq!(store.writes.load(Ordering::SeqCst), 5);
    drop(engine);

    let engine = Engine::builder().open(store.clone()).unwrap();
    assert_eq!(engine.module_names(), ["new.rego", "old.rego"]);
    assert_eq!(evaluate(&engine, "old/p"), Some(Value::from(true)));
    assert_eq!(evaluate(&engine, "new/p"), Some(Value::from(true)));
    assert_eq!(engine.read("data.x").unwrap(), value(r#"{"y": null}"#));
    assert_eq!(
        store.commits.load(Ordering::SeqCst),
        4,
        "nothing is written again"
    );
}

#[test]
fn a_failed_commit_changes_nothing() {
    let store = Arc::new(Moody::default());
    let engine = Engine::builder().open(store.clone()).unwrap();
    engine.put("data.a", Value::from(1)).unwrap();
    store.refuses.store(true, Ordering::SeqCst);
    let generation = engine.generation();
    let mut change = Change::default();
    change
        .set_module("p.rego", "package p\nq := 1")
        .put(Path::from_slashes("a"), Value::from(2));
    let refused = engine.apply(change).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "storage_internal_error: the disk is full"
    );
    assert!(engine.put("data.a", Value::from(3)).is_err());
    assert_eq!(engine.generation(), generation);
    assert_eq!(engine.read("data.a").unwrap(), Value::from(1));
    assert!(engine.module_names().is_empty());
    store.refuses.store(false, Ordering::SeqCst);
    engine.put("data.a", Value::from(4)).unwrap();
    assert_eq!(engine.read("data.a").unwrap(), Value::from(4));
}

#[test]
fn a_store_without_an_object_or_with_invalid_modules_is_rejected() {
    let list = Arc::new(MemoryStore::new(value("[]")));
    assert!(matches!(Engine::builder().open(list), Err(Error::Store(_))));
    let store = Arc::new(MemoryStore::default());
    let engine = Engine::builder().open(store.clone()).unwrap();
    engine
        .set_module("p.rego", "package p\nq := time.now_ns()")
        .unwrap();
    let capabilities = solon::Capabilities::from_json(br#"{"builtins": []}"#).unwrap();
    let strict = Engine::builder().capabilities(capabilities).open(store);
    assert!(matches!(strict, Err(Error::Compile(_))));
}

#[test]
fn a_check_returns_a_snapshot_and_changes_nothing() {
    let engine = Engine::new();
    engine
        .set_module("p.rego", "package p\nq := data.a + 1")
        .unwrap();
    engine.put("data.a", Value::from(1)).unwrap();
    let document = engine.prepare_document("data.p.q").unwrap();
    let query = engine.prepare_query("x := data.p.q").unwrap();
    let generation = engine.generation();
    let mut change = Change::default();
    change
        .set_module("p.rego", "package p\nq := data.a * 10")
        .put(Path::from_slashes("a"), Value::from(7));
    let after = engine.check(change, CheckOptions::default()).unwrap();
    assert_eq!(after.generation(), generation + 1);
    let now = Request::new();
    for _ in 0..3 {
        let there = document.evaluate(&now.snapshot(&after)).unwrap();
        assert_eq!(there, Some(Value::from(70)));
        assert_eq!(document.evaluate(&now).unwrap(), Some(Value::from(2)));
        let there = query.pin_to(&after).unwrap().solutions(&now).unwrap();
        assert_eq!(there[0].bindings[0].1, Value::from(70));
        let here = query.solutions(&now).unwrap();
        assert_eq!(here[0].bindings[0].1, Value::from(2));
    }
    assert_eq!(engine.generation(), generation);
    let mut broken = Change::default();
    broken.set_module("p.rego", "package p\nq := x");
    assert!(matches!(
        engine.check(broken, CheckOptions::default()),
        Err(Error::Compile(_))
    ));
    let mut unknown = Change::default();
    unknown.remove_module("none.rego");
    assert!(matches!(
        engine.check(unknown, CheckOptions::default()),
        Err(Error::UnknownModule { .. })
    ));
    let mut conflict = Change::default();
    conflict.put(Path::from_slashes("p/q"), Value::from(1));
    assert!(matches!(
        engine.check(conflict, CheckOptions::default()),
        Err(Error::Store(_))
    ));
}
