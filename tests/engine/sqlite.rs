//! Policies and documents in a SQLite file: after any changes, a file that is opened again has the same contents.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use solon::store::{Commit, Contents, Operation, Path, SqliteStore, Store, StoreError, Write};
use solon::{Change, Engine, Error, Request, Value};
use solon_syntax::ast::Version;

#[path = "recompile/random.rs"]
mod random;

use random::Random;

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solon-sqlite-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("solon.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &FilePath) -> Engine {
    let store = SqliteStore::open(path).unwrap();
    Engine::builder().open(Arc::new(store)).unwrap()
}

fn open_error(path: &FilePath) -> String {
    let error = SqliteStore::open(path).and_then(|store| store.load());
    let message = error.unwrap_err().to_string();
    let name = path.display().to_string();
    assert!(message.contains(&name), "{message}");
    message.replace(&name, "FILE")
}

fn key(random: &mut Random) -> String {
    ["a", "b", "a/b", "~", "", "0", "ä", "longer name"][random.less_than(8)].to_owned()
}

fn document(random: &mut Random, depth: usize) -> Value {
    match random.less_than(if depth == 0 { 4 } else { 8 }) {
        0 => Value::NULL,
        1 => solon::json::read(b"1.50").unwrap(),
        2 => Value::from("x".repeat(random.less_than(40))),
        3 => Value::array(vec![Value::from(1), Value::from(true)]),
        // too long for one row
        4 => Value::from("y".repeat(5000)),
        5 => {
            let wide = (0..300).map(|at| (Value::from(format!("member {at}")), Value::from(at)));
            Value::object(wide.collect())
        }
        _ => {
            let members = (0..random.less_than(5)).map(|_| {
                let name = key(random);
                (Value::from(name), document(random, depth - 1))
            });
            Value::object(members.collect())
        }
    }
}

fn change(random: &mut Random) -> Change {
    let mut change = Change::default();
    for _ in 0..=random.less_than(3) {
        let path = Path::new(
            (0..random.less_than(5))
                .map(|_| key(random))
                .collect::<Vec<_>>(),
        );
        let value = document(random, 3);
        match random.less_than(8) {
            0 => change.write(Operation::Add, path, value),
            1 => change.write(Operation::Replace, path, value),
            2 => change.write(Operation::Remove, path, Value::NULL),
            3 => change.set_module(&format!("{}.rego", random.less_than(3)), "package p"),
            4 => change.set_module_as("old.rego", "package q\np { true }", Version::V0),
            5 => change.remove_module(&format!("{}.rego", random.less_than(3))),
            _ => change.put(path, value),
        };
    }
    change
}

#[test]
fn a_file_has_the_same_contents_after_any_changes() {
    let (mut applied, mut failed) = (0, 0);
    for seed in 0..12 {
        let folder = Folder::new(&format!("random-{seed}"));
        let mut random = Random::new(&format!("sqlite {seed}"));
        let mut engine = open(&folder.file());
        for step in 0..60 {
            let before = engine.read("data").unwrap();
            match engine.apply(change(&mut random)) {
                Ok(()) => applied += 1,
                Err(_) => {
                    failed += 1;
                    assert_eq!(engine.read("data").unwrap(), before);
                }
            }
            if step % 10 == 9 {
                let (documents, modules) = (engine.read("data").unwrap(), engine.module_names());
                drop(engine);
                engine = open(&folder.file());
                assert_eq!(
                    engine.read("data").unwrap().rego_text().to_string(),
                    documents.rego_text().to_string()
                );
                assert_eq!(engine.module_names(), modules);
            }
        }
        drop(engine);
        let store = SqliteStore::open(folder.file()).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
    assert!(applied > 200 && failed > 100, "{applied} {failed}");
}

#[test]
fn the_text_of_a_number_is_its_key_in_documents_of_a_file() {
    let folder = Folder::new("numbers");
    let json = |text: &str| solon::json::read(text.as_bytes()).unwrap();
    let engine = open(&folder.file());
    let wide: Vec<String> = (0..300).map(|at| format!("\"{at}\":{at}")).collect();
    let documents = [
        ("blocked", r#"{"100": true, "1.5": "f"}"#.to_owned()),
        ("wide", format!("{{{}}}", wide.join(","))),
        ("list", r#"["a", {"7": "b"}]"#.to_owned()),
    ];
    for (name, text) in documents {
        engine.put(&format!("data.{name}"), json(&text)).unwrap();
    }
    let module = r"package p
denied if data.blocked[input.id]
allowed if not data.blocked[input.id]
half := data.blocked[input.half]
wide := [data.wide[k] | some k in [0, 299, 300]]
nested := data.list[_][input.seven]
second := data.list[input.text]
local := x if { y := data.blocked; x := y[input.id] }
";
    engine.set_module("p.rego", module).unwrap();
    drop(engine);
    let engine = open(&folder.file());
    let input = json(r#"{"id": 100, "half": 1.5, "seven": 7, "text": "1"}"#);
    let answer = |path: &str| {
        let document = engine.document(&Path::from_slashes(path));
        let value = document.evaluate(&Request::new().input(&input)).unwrap();
        value.map(|value| value.rego_text().to_string())
    };
    let expected = [
        ("p/denied", Some("true")),
        ("p/allowed", None),
        ("p/half", Some("\"f\"")),
        ("p/wide", Some("[0, 299]")),
        ("p/nested", Some("\"b\"")),
        ("p/second", Some(r#"{"7": "b"}"#)),
        ("p/local", None),
        ("blocked/100", Some("true")),
        ("list/1/7", Some("\"b\"")),
    ];
    for (path, value) in expected {
        let found = answer(path).map(|found| found.replace(' ', ""));
        assert_eq!(found, value.map(|value| value.replace(' ', "")), "{path}");
    }
}

#[test]
fn a_small_change_of_large_documents_writes_little() {
    let folder = Folder::new("small");
    let engine = open(&folder.file());
    let user = |at: i64| {
        let fields = (0..8).map(|field| (Value::from(format!("field {field}")), Value::from(at)));
        (
            Value::from(format!("user {at}")),
            Value::object(fields.collect()),
        )
    };
    engine
        .put("data.users", Value::object((0..20_000).map(user).collect()))
        .unwrap();
    drop(engine);
    let engine = open(&folder.file());
    let log = folder.0.join("solon.db-wal");
    let before = std::fs::metadata(&log).map_or(0, |data| data.len());
    engine
        .put("data.users[\"user 700\"][\"field 3\"]", Value::from("new"))
        .unwrap();
    engine.put("data.users.another", Value::from(1)).unwrap();
    let written = std::fs::metadata(&log).unwrap().len() - before;
    assert!(written < 64 << 10, "{written} bytes");
    drop(engine);
    let engine = open(&folder.file());
    assert_eq!(
        engine
            .read("data.users[\"user 700\"][\"field 3\"]")
            .unwrap(),
        Value::from("new")
    );
    assert_eq!(engine.read("data.users.another").unwrap(), Value::from(1));
}

/// A store that persists nothing, and records the paths of writes.
struct Noting(std::sync::Mutex<Vec<String>>, Value);

impl Store for Noting {
    fn load(&self) -> Result<Contents, StoreError> {
        Ok(Contents::new(self.1.clone(), Vec::new()))
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        let places = change.writes.iter().map(|write| match write {
            Write::Put(path, value) => format!("{path} {value}", value = value.rego_text()),
            other => format!("{other:?}"),
        });
        self.0.lock().unwrap().extend(places);
        Ok(())
    }
}

#[test]
fn unchanged_documents_are_not_written() {
    let read = |text: &str| solon::json::read(text.as_bytes()).unwrap();
    let kept = r#"{"a": {"x": 1, "y": [1, {"z": "t"}], "n": 1.0}, "b": {}, "c": 7}"#;
    let noting = Arc::new(Noting(std::sync::Mutex::default(), read(kept)));
    let engine = Engine::builder().open(noting.clone()).unwrap();
    for (merged, want) in [
        (kept, &[][..]),
        (r#"{"a": {"y": [1, {"z": "t"}]}}"#, &[]),
        // a number in another notation is another text
        (r#"{"a": {"x": 1, "n": 1}}"#, &["/a/n 1"]),
        (
            r#"{"a": {"y": [1]}, "b": {"new": {}}, "c": 7}"#,
            &["/a/y [1]", r#"/b {"new": {}}"#],
        ),
        (r#"{"a": {"x": null}, "b": {"new": {}}}"#, &["/a/x null"]),
    ] {
        let mut change = Change::default();
        change.merge(Path::default(), read(merged));
        engine.apply(change).unwrap();
        let written = std::mem::take(&mut *noting.0.lock().unwrap());
        assert_eq!(written, want, "{merged}");
    }
}

#[test]
fn values_without_json_are_rejected_and_change_nothing() {
    let folder = Folder::new("sets");
    let engine = open(&folder.file());
    engine.put("data.kept", Value::from(1)).unwrap();
    let set = Value::array(vec![Value::set(vec![Value::from(1)])]);
    let error = engine.put("data.kept", set).unwrap_err();
    assert!(
        matches!(error, Error::Store(_)) && error.to_string().contains("cannot be stored as JSON"),
        "{error}"
    );
    assert_eq!(engine.read("data.kept").unwrap(), Value::from(1));
    drop(engine);
    assert_eq!(
        open(&folder.file()).read("data.kept").unwrap(),
        Value::from(1)
    );
}

#[test]
fn other_and_damaged_files_are_rejected() {
    let folder = Folder::new("refused");
    let path = folder.file();
    let engine = open(&path);
    engine
        .put("data.a", Value::from("b".repeat(20_000)))
        .unwrap();
    assert_eq!(
        open_error(&path),
        "storage_internal_error: FILE: another process uses the file"
    );
    drop(engine);
    let sql = |path: &FilePath, text: &str| {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.execute_batch(text).unwrap();
    };
    let changed = |name: &str, text: &str| {
        let copy = folder.0.join(name);
        std::fs::copy(&path, &copy).unwrap();
        sql(&copy, text);
        open_error(&copy)
    };
    let newer = folder.0.join("newer.db");
    std::fs::copy(&path, &newer).unwrap();
    sql(&newer, "PRAGMA user_version = 7");
    let before = std::fs::read(&newer).unwrap();
    assert_eq!(
        open_error(&newer),
        "storage_internal_error: FILE: the file has form 7, and this version reads forms up to 1: use the version that \
         wrote it"
    );
    assert_eq!(std::fs::read(&newer).unwrap(), before);
    for (name, text, what) in [
        (
            "json.db",
            "UPDATE documents SET value = x'7b' WHERE path = x'2f61'",
            "no JSON at \"/a\"",
        ),
        (
            "lost.db",
            "DELETE FROM documents WHERE path = x''",
            "nothing around what is below \"\"",
        ),
        (
            "key.db",
            "UPDATE documents SET path = x'2f7e32' WHERE path = x'2f61'",
            "no path at \"/~2\"",
        ),
        (
            "twice.db",
            "INSERT INTO documents VALUES (x'2f612f62', x'31')",
            "a document twice at \"/a\"",
        ),
        (
            "rego.db",
            "INSERT INTO modules (name, rego, text) VALUES ('m', 9, '')",
            "module \"m\" is of an unknown Rego: 9",
        ),
    ] {
        let expected = format!(
            "storage_internal_error: FILE: the file is damaged ({what}); put a copy of it back"
        );
        assert_eq!(changed(name, text), expected);
    }
    let other = folder.0.join("other.db");
    sql(&other, "CREATE TABLE t (x)");
    assert_eq!(
        open_error(&other),
        "storage_internal_error: FILE: the file is a SQLite database of another kind"
    );
    let text = folder.0.join("text.db");
    std::fs::write(&text, "package p\n".repeat(100)).unwrap();
    assert_eq!(
        open_error(&text),
        "storage_internal_error: FILE: the file is not an SQLite database"
    );
    assert!(open_error(&folder.0.join("no/such/folder.db")).contains("unable to open"));
    // overwritten pages
    let torn = folder.0.join("torn.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle.max(8192)].fill(0xa5);
    std::fs::write(&torn, bytes).unwrap();
    assert!(open_error(&torn).contains("the file is damaged"));
}

/// Files are accessible for their owner only, since they contain policies and data.
#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new("owner");
    let engine = open(&folder.file());
    engine.put("data.a", Value::from(1)).unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(&folder.0).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}: {mode:o}", entry.path());
        files += 1;
    }
    // the database and its log
    assert!(files >= 2, "{files}");
}

#[test]
fn objects_in_different_rows_share_their_keys() {
    let folder = Folder::new("shared");
    let engine = open(&folder.file());
    let member = |at: i64| {
        let fields = [
            ("name", Value::from("x".repeat(3000))),
            ("number", Value::from(at)),
        ];
        let fields = fields.map(|(name, value)| (Value::from(name), value));
        (
            Value::from(format!("member {at}")),
            Value::object(fields.into()),
        )
    };
    engine
        .put("data.all", Value::object((0..4).map(member).collect()))
        .unwrap();
    drop(engine);
    let all = open(&folder.file()).read("data.all").unwrap();
    let keys = |at: usize| {
        let member = all.pointer(&format!("/member {at}"));
        solon::internal::value::shape_address(member.unwrap().as_object().unwrap()).unwrap()
    };
    assert!((1..4).all(|at| keys(at) == keys(0)));
}
