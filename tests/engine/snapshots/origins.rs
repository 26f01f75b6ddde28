//! Loads that replace files, origins of policies, and the writes that a store receives.

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use solon::bundle::{FileError, FileKind, Files, Links, Loaded, Loader, MemoryFiles};
use solon::store::{
    ClaimChanges, Commit, Contents, Operation, Origin, Path, Store, StoreError, StoredModule,
    StoredOrigins,
};
use solon::trace::Timer;
use solon::{Change, Engine, Error, FileLoad, LoadReport, Request, Snapshot, Value};
use solon_syntax::ast::Version;

use crate::waiting::HANG;

/// A store that counts the writes that it receives.
struct Counting {
    contents: Mutex<Contents>,
    commits: AtomicU32,
    documents: AtomicU32,
    modules: AtomicU32,
    claims: AtomicU32,
    hidden: AtomicU32,
}

impl Counting {
    fn new(contents: Contents) -> Arc<Self> {
        Arc::new(Self {
            contents: Mutex::new(contents),
            commits: AtomicU32::default(),
            documents: AtomicU32::default(),
            modules: AtomicU32::default(),
            claims: AtomicU32::default(),
            hidden: AtomicU32::default(),
        })
    }

    /// Creates a store with modules of recorded origins. Some of them may not compile.
    fn with_modules(modules: &[(&str, &str, Origin)]) -> Arc<Self> {
        let modules = modules.iter().map(|(name, text, origin)| {
            StoredModule::new(*name, *text, Version::V1).with_origin(*origin)
        });
        let contents = Contents::new(value("{}"), modules.collect());
        Self::new(contents.with_origins(StoredOrigins::default()))
    }

    /// Returns the numbers of written documents, modules, claims and lists of hidden modules since the last call.
    fn written(&self) -> [u32; 4] {
        [&self.documents, &self.modules, &self.claims, &self.hidden]
            .map(|count| count.swap(0, Ordering::SeqCst))
    }
}

impl Store for Counting {
    fn load(&self) -> Result<Contents, StoreError> {
        Ok(self.contents.lock().unwrap().clone())
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        let add = |count: &AtomicU32, number: usize| {
            count.fetch_add(u32::try_from(number).unwrap(), Ordering::SeqCst);
        };
        add(&self.commits, 1);
        add(&self.documents, change.writes.len());
        add(&self.modules, change.modules.len());
        let claims = match &change.origins.claims {
            ClaimChanges::Some(changes) => changes.len(),
            ClaimChanges::All(claims) => claims.iter().count(),
            _ => 0,
        };
        add(&self.claims, claims);
        add(&self.hidden, usize::from(change.origins.hidden.is_some()));
        let mut kept = self.contents.lock().unwrap();
        kept.documents = change.documents.clone();
        kept.origins.change(change.origins);
        for (name, module) in change.modules {
            kept.modules.retain(|kept| kept.name != *name);
            kept.modules.extend(module.clone());
        }
        Ok(())
    }
}

fn value(text: &str) -> Value {
    solon::json::read(text.as_bytes()).unwrap()
}

fn loaded(files: &[(&str, &str)]) -> Loaded {
    let mut all = MemoryFiles::default();
    for (name, text) in files {
        all.insert(name, *text);
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    Loader::new(&all).load(&names).unwrap()
}

fn load(engine: &Engine, files: &[(&str, &str)]) -> LoadReport {
    engine.load_files(FileLoad::new(&loaded(files))).unwrap()
}

fn evaluate(engine: &Engine, path: &str) -> Option<Value> {
    let document = engine.document(&Path::from_slashes(path));
    document.evaluate(&Request::new()).unwrap()
}

#[test]
fn a_load_that_changes_nothing_writes_nothing() {
    // Everything is of unknown origin, which the first load records path by path.
    let documents = value(r#"{"old": {"a": 1, "b": 2}, "own": 3, "f": {"x": 0}}"#);
    let store = Counting::new(Contents::new(documents, Vec::new()));
    let engine = Engine::builder().open(store.clone()).unwrap();
    let files = [
        ("d.json", r#"{"f": {"x": 1}}"#),
        ("p.rego", "package p\nq := 1"),
    ];
    load(&engine, &files);
    assert_eq!(store.written(), [1, 1, 2, 0]);
    for _ in 0..3 {
        let report = load(&engine, &files);
        assert_eq!(report.unknown_documents.len(), 2);
        assert_eq!(store.written(), [0; 4]);
    }
    assert_eq!(store.commits.load(Ordering::SeqCst), 1);
    drop(engine);
    let files = loaded(&files);
    let builder = Engine::builder();
    let (engine, _) = builder
        .open_with_files(store.clone(), FileLoad::new(&files))
        .unwrap();
    assert_eq!(evaluate(&engine, "p/q"), Some(Value::from(1)));
    assert_eq!(store.commits.load(Ordering::SeqCst), 1);
}

#[test]
fn a_claim_is_written_when_it_changes() {
    let store = Counting::with_modules(&[]);
    let engine = Engine::builder().open(store.clone()).unwrap();
    load(&engine, &[("d.json", r#"{"f": {"x": 1, "y": 2}}"#)]);
    store.written();
    let remove = |path: &str| {
        let mut change = Change::default();
        change.write(Operation::Remove, Path::from_slashes(path), Value::NULL);
        engine.apply(change).unwrap();
    };
    let put = |path: &str, number: i64| {
        engine
            .put(&Path::from_slashes(path).reference(), Value::from(number))
            .unwrap();
    };
    let claims = || store.written()[2];
    put("f/x", 5);
    assert_eq!(claims(), 1);
    for number in 6..20 {
        put("f/x", number);
    }
    assert_eq!(claims(), 0, "the same claim");
    put("own/a", 1);
    assert_eq!(claims(), 1);
    put("own/a", 2);
    assert_eq!(claims(), 0);
    put("own/b", 1);
    assert_eq!(claims(), 1, "a member that files may give");
    remove("own/b");
    assert_eq!(
        claims(),
        2,
        "the claim goes, and the object is the client's"
    );
    put("own/b", 1);
    remove("own/b");
    assert_eq!(claims(), 2, "the object is the client's already");
    remove("f/x");
    assert_eq!(claims(), 0, "the claim covers the removal");
    put("f/x", 1);
    assert_eq!(claims(), 0);
    engine.put("data.f", value("{}")).unwrap();
    assert_eq!(claims(), 1, "a claim around another one replaces it");
    put("f/z", 1);
    assert_eq!(claims(), 0, "the claim around it covers it");
    assert_eq!(load(&engine, &[]).overridden_documents, []);
    assert_eq!(engine.read("data.f").unwrap(), value(r#"{"z": 1}"#));
}

#[test]
fn hidden_policies_are_written_when_they_change() {
    let store = Counting::with_modules(&[]);
    let engine = Engine::builder().open(store.clone()).unwrap();
    let files = [
        ("a.rego", "package a"),
        ("b.rego", "package b"),
        ("c.rego", "package c"),
    ];
    load(&engine, &files);
    store.written();
    // Not sorted by name.
    for name in ["c.rego", "a.rego", "b.rego"] {
        engine.remove_module(name).unwrap();
    }
    assert_eq!(store.written(), [0, 3, 0, 3]);
    for _ in 0..2 {
        let report = load(&engine, &files);
        assert_eq!(report.overridden_modules, ["a.rego", "b.rego", "c.rego"]);
        assert_eq!(store.written(), [0; 4]);
    }
}

#[test]
fn a_report_names_documents_of_files() {
    let version = || (Path::from_slashes("system/version"), value(r#"{"v": 1}"#));
    let report = |client: &[(&str, &str)], files: &[(&str, &str)]| {
        let engine = Engine::new();
        let empty = loaded(&[]);
        let (path, document) = version();
        let first = FileLoad::new(&empty).document(path, document);
        engine.load_files(first).unwrap();
        for (path, text) in client {
            let path = Path::from_slashes(path).reference();
            engine.put(&path, value(text)).unwrap();
        }
        let files = loaded(files);
        let (path, document) = version();
        let report = engine.load_files(FileLoad::new(&files).document(path, document));
        let report = report.unwrap();
        let texts = |paths: &[Path]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let fixed: &[&str] = if client == [("system", "7")] {
            &["/system/version"]
        } else {
            &[]
        };
        assert_eq!(texts(&report.overridden_fixed), fixed);
        texts(&report.overridden_documents)
    };
    let none: [&str; 0] = [];
    let file = [("d.json", r#"{"a": {"b": 1}}"#)];
    // All documents are the client's.
    assert_eq!(report(&[("", "{}")], &[]), none);
    assert_eq!(report(&[("", r#"{"a": {"b": 1}}"#)], &file), none);
    assert_eq!(report(&[("", "{}")], &file), ["/"]);
    // `system` is not.
    assert_eq!(report(&[("system", "{}")], &file), none);
    assert_eq!(report(&[("system", "7")], &file), none);
    assert_eq!(report(&[("system/version", "7")], &file), none);
    let system = [("d.json", r#"{"system": {"x": 1}}"#)];
    assert_eq!(report(&[("system", "7")], &system), ["/system"]);
    assert_eq!(report(&[("system", r#"{"x": 1}"#)], &system), none);
    // Documents of files.
    assert_eq!(report(&[("a/b", "2")], &file), ["/a/b"]);
    assert_eq!(report(&[("a/b", "1")], &file), none);
    assert_eq!(report(&[("a", "{}")], &file), ["/a"]);
    assert_eq!(report(&[("a/c", "2")], &file), none);
    assert_eq!(
        report(&[("a/c", "2")], &[("d.json", r#"{"a": 7}"#)]),
        ["/a"]
    );
}

#[test]
fn a_load_that_fails_changes_nothing() {
    let engine = Engine::new();
    engine
        .set_module("own.rego", "package own\nq := 1")
        .unwrap();
    engine.put("data.a", Value::from(1)).unwrap();
    let generation = engine.generation();
    let fail = |files: &[(&str, &str)]| {
        let files = loaded(files);
        assert!(engine.load_files(FileLoad::new(&files)).is_err());
        assert_eq!(engine.generation(), generation);
        assert_eq!(engine.module_origin("own.rego"), Origin::Client);
        assert_eq!(engine.read("data.a").unwrap(), Value::from(1));
    };
    fail(&[("f.rego", "package f\nq := x")]);
    fail(&[
        ("f.rego", "package f\nq := 1"),
        ("d.json", r#"{"f": {"q": 2}}"#),
    ]);
    // At the first successful load the origins are unknown.
    let report = load(&engine, &[("f.rego", "package f\nq := 1")]);
    assert_eq!(report.unknown_modules, ["own.rego"]);
    assert_eq!(engine.module_origin("own.rego"), Origin::Unknown);
    assert_eq!(engine.module_origin("f.rego"), Origin::Files);
    let before = engine.snapshot();
    engine.set_module("f.rego", "package f\nq := 2").unwrap();
    assert_eq!(engine.module_origin("f.rego"), Origin::Client);
    assert_eq!(before.module_origin("f.rego"), Origin::Files);
}

#[test]
fn origins_of_policies_are_read_during_a_change() {
    let engine = Engine::new();
    load(&engine, &[("f.rego", "package f")]);
    let (sender, origin) = channel();
    std::thread::spawn(move || {
        let read = |now: &Snapshot| {
            let pair = (engine.module_origin("f.rego"), now.module_origin("f.rego"));
            sender.send(pair).unwrap();
            Ok::<_, Error>(Change::default())
        };
        engine.apply_with(read, Timer::default()).unwrap();
    });
    let found = origin
        .recv_timeout(HANG)
        .expect("readers do not wait for changes");
    assert_eq!(found, (Origin::Files, Origin::Files));
}

/// A store whose commits block, and report that they do.
struct Waiting {
    begun: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
}

impl Store for Waiting {
    fn load(&self) -> Result<Contents, StoreError> {
        Ok(Contents::new(value("{}"), Vec::new()))
    }

    fn commit(&self, _: &Commit<'_>) -> Result<(), StoreError> {
        self.begun.lock().unwrap().send(()).unwrap();
        self.go_on.lock().unwrap().recv().unwrap();
        Ok(())
    }
}

#[test]
fn a_change_reads_the_result_of_the_previous_one() {
    let (begun, has_begun) = channel();
    let (release, go_on) = channel();
    let store = Waiting {
        begun: Mutex::new(begun),
        go_on: Mutex::new(go_on),
    };
    let engine = Engine::builder().open(Arc::new(store)).unwrap();
    let names = |now: &Snapshot| now.modules().map(|(name, _)| name.to_owned()).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| load(&engine, &[("f.rego", "package f")]));
        has_begun.recv_timeout(HANG).unwrap();
        let second = scope.spawn(|| {
            let mut seen: Vec<String> = Vec::new();
            let change = |now: &Snapshot| {
                seen = names(now);
                Ok::<_, Error>(Change::default())
            };
            engine.apply_with(change, Timer::default()).unwrap();
            seen
        });
        release.send(()).unwrap();
        assert_eq!(second.join().unwrap(), ["f.rego"]);
    });
    let failed = engine.apply_with(
        |_| {
            Err::<Change, _>(Error::UnknownModule {
                name: "m".to_owned(),
            })
        },
        Timer::default(),
    );
    assert!(matches!(failed, Err(Error::UnknownModule { .. })));
}

/// Files that count how often they are read.
struct Reads(MemoryFiles, Mutex<Vec<PathBuf>>);

impl Files for Reads {
    fn look(&self, path: &FilePath, links: Links) -> Result<FileKind, FileError> {
        self.0.look(path, links)
    }

    fn names(&self, folder: &FilePath) -> Result<Vec<std::ffi::OsString>, FileError> {
        self.0.names(folder)
    }

    fn read(&self, path: &FilePath) -> Result<Vec<u8>, FileError> {
        self.1.lock().unwrap().push(path.to_owned());
        self.0.read(path)
    }
}

#[test]
fn each_file_is_read_once() {
    let files = [
        ("module", "package m\nq := 1"),
        ("json", r#"{"a": 1}"#),
        ("yaml", "b: 2"),
        ("neither", "["),
        ("known.rego", "package k"),
        ("known.json", "{}"),
        ("known.yaml", "c: 3"),
    ];
    let files = Reads(MemoryFiles::from(files), Mutex::default());
    let load = |names: &[&str]| {
        let loaded = Loader::new(&files).load(names);
        let read = std::mem::take(&mut *files.1.lock().unwrap());
        let read: Vec<_> = read.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(read, names);
        loaded
    };
    let found = load(&[
        "module",
        "json",
        "yaml",
        "known.rego",
        "known.json",
        "known.yaml",
    ])
    .unwrap();
    assert_eq!(found.documents, value(r#"{"a": 1, "b": 2, "c": 3}"#));
    assert_eq!(found.modules.len(), 2);
    let error = load(&["neither"]).unwrap_err();
    assert_eq!(error.to_string(), "neither: can't recognize file type");
}

#[test]
fn the_load_of_a_start_replaces_policies_that_do_not_compile() {
    let broken = "package f\nq := x";
    let files = [("f.rego", "package f\nq := 1")];
    let start = |modules: &[(&str, &str, Origin)], files: &[(&str, &str)]| {
        let files = loaded(files);
        let store = Counting::with_modules(modules);
        let opened = Engine::builder().open_with_files(store.clone(), FileLoad::new(&files));
        let opened = opened.map(|(engine, _)| engine);
        (opened, store)
    };
    // Replaced, renamed, removed.
    for (name, files) in [("f.rego", &files[..]), ("g.rego", &files), ("f.rego", &[])] {
        let (engine, store) = start(&[(name, broken, Origin::Files)], files);
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        let engine = engine.unwrap();
        assert_eq!(engine.module_names(), names);
        let kept = store.load().unwrap().modules;
        assert!(kept.iter().map(|module| &*module.name).eq(names));
        drop(engine);
        Engine::builder().open(store).unwrap();
    }
    // A policy of an earlier version with the name of a file.
    start(&[("f.rego", broken, Origin::Unknown)], &files)
        .0
        .unwrap();
    // A client's policy of that name is in effect.
    let modules = [
        ("f.rego", "package f\nq := 2", Origin::Client),
        ("g.rego", broken, Origin::Files),
    ];
    let engine = start(&modules, &files).0.unwrap();
    assert_eq!(evaluate(&engine, "f/q"), Some(Value::from(2)));
    assert_eq!(engine.module_origin("f.rego"), Origin::Client);
    // Functions that a client's policy calls are now in another file.
    let modules = [
        (
            "own.rego",
            "package own\nq := data.lib.f(1)",
            Origin::Client,
        ),
        (
            "old.rego",
            "package lib\nf(x) := data.gone.g(x)",
            Origin::Files,
        ),
    ];
    let lib = [("lib.rego", "package lib\nf(x) := x + 1")];
    let engine = start(&modules, &lib).0.unwrap();
    assert_eq!(evaluate(&engine, "own/q"), Some(Value::from(2)));
    // The remaining modules do not compile: nothing is written.
    for (modules, files) in [
        (&[("own.rego", broken, Origin::Client)][..], &files[..]),
        (&[("own.rego", broken, Origin::Unknown)], &files),
        (&modules[..1], &files),
        (&modules[..1], &[]),
    ] {
        let (engine, store) = start(modules, files);
        assert!(matches!(engine, Err(Error::Compile(_))));
        assert_eq!(store.commits.load(Ordering::SeqCst), 0);
    }
}
