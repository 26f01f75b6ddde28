//! Activation is atomic: all of a bundle becomes visible at once, or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use solon::bundle::{Bundle, BundleFile, BundleModule, BundleReader, MemoryFiles};
use solon::{Engine, Error, Path, Request, ScopeError, Value, Version, value};
use solon_syntax::ParseOptions;

fn bundle(files: &[(&str, &str)]) -> Bundle {
    let file = |(path, text): &(&str, &str)| BundleFile {
        path: (*path).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let reader = BundleReader::new("b");
    reader.read_files(files.iter().map(file).collect()).unwrap()
}

fn ids(engine: &Engine) -> Vec<String> {
    engine.module_names()
}

#[test]
fn policies_documents_and_facts_change_atomically() {
    let engine = Engine::new();
    let first = bundle(&[
        ("/p.rego", "package a\nq := data.a.x"),
        ("/a/data.json", r#"{"x": 1, "y": 2}"#),
        (
            "/.manifest",
            r#"{"revision": "1", "roots": ["a"], "metadata": {"k": 1}}"#,
        ),
    ]);
    engine.activate_bundle("one", &first).unwrap();
    assert_eq!(ids(&engine), ["one/p.rego"]);
    assert_eq!(engine.read("data.a").unwrap(), value!({"x": 1, "y": 2}));
    assert_eq!(
        engine.read("data.system.bundles.one").unwrap(),
        value!({"etag": "", "manifest": {"revision": "1", "roots": ["a"], "metadata": {"k": 1}}})
    );
    let second = bundle(&[
        ("/r.rego", "package a.b\nq := data.a.x"),
        ("/a/data.json", r#"{"x": 3}"#),
        ("/.manifest", r#"{"revision": "2", "roots": ["a"]}"#),
    ]);
    engine.activate_bundle("one", &second).unwrap();
    assert_eq!(ids(&engine), ["one/r.rego"]);
    assert_eq!(engine.read("data.a").unwrap(), value!({"x": 3}));
    let active = engine.snapshot().bundles();
    assert_eq!(
        (active[0].name.as_str(), active[0].revision.as_str()),
        ("one", "2")
    );
    assert_eq!(active[0].roots, ["a"]);
    engine.deactivate_bundle("one").unwrap();
    assert!(ids(&engine).is_empty() && engine.read("data.a").is_err());
    assert!(engine.snapshot().bundles().is_empty());
    let generation = engine.generation();
    engine.deactivate_bundle("one").unwrap();
    assert_eq!(engine.generation(), generation);
}

#[test]
fn on_any_error_the_old_state_stays() {
    let engine = Engine::new();
    let first = bundle(&[
        ("/p.rego", "package a\nq := 1"),
        ("/.manifest", r#"{"revision": "1", "roots": ["a"]}"#),
    ]);
    engine.activate_bundle("one", &first).unwrap();
    engine
        .set_module("own.rego", "package own\nq := data.a.q\nr := 1")
        .unwrap();
    engine.put("data.own2", 1.into()).unwrap();
    let generation = engine.generation();
    let refused = |name: &str, files: &[(&str, &str)]| -> String {
        let error = engine.activate_bundle(name, &bundle(files)).unwrap_err();
        error.to_string()
    };
    let unsafe_variable = [
        ("/p.rego", "package a\nq := x"),
        ("/a/data.json", r#"{"z": 1}"#),
        ("/.manifest", r#"{"roots": ["a"]}"#),
    ];
    assert!(refused("one", &unsafe_variable).contains("rego_unsafe_var_error"));
    let conflict = [
        ("/p.rego", "package a\nq := 1"),
        ("/a/data.json", r#"{"q": 1}"#),
        ("/.manifest", r#"{"roots": ["a"]}"#),
    ];
    assert!(refused("one", &conflict).contains("a/q"));
    let own = [
        ("/own/data.json", r#"{"r": 1}"#),
        ("/.manifest", r#"{"roots": ["own/r"]}"#),
    ];
    assert!(refused("two", &own).contains("own/r"));
    assert_eq!(
        refused("two", &[("/.manifest", r#"{"roots": ["a/b"]}"#)]),
        "detected overlapping roots in manifests for these bundles: [one, two] (a overlaps a/b)"
    );
    assert_eq!(
        refused("two", &[]),
        "bundles [one, two] have overlapping roots and cannot be activated simultaneously because bundle(s) [two] specify empty root paths ('') which overlap with any other bundle root"
    );
    let delta = [
        (
            "/patch.json",
            r#"{"data": [{"op": "upsert", "path": "/a/z", "value": 1}, {"op": "remove", "path": "/a/none"}]}"#,
        ),
        ("/.manifest", r#"{"roots": ["a"]}"#),
    ];
    assert!(refused("one", &delta).contains("document does not exist"));
    let unknown = [
        (
            "/patch.json",
            r#"{"data": [{"op": "add", "path": "/a/z", "value": 1}]}"#,
        ),
        ("/.manifest", r#"{"roots": ["a"]}"#),
    ];
    assert_eq!(refused("one", &unknown), "bad patch operation: add");
    assert_eq!(engine.generation(), generation);
    assert_eq!(ids(&engine), ["one/p.rego", "own.rego"]);
    assert!(matches!(
        engine.load_bundle("x", &MemoryFiles::default(), "x"),
        Err(Error::Load(_))
    ));
}

#[test]
fn several_bundles_change_as_one() {
    let engine = Engine::new();
    let part = |root: &str, other: &str, revision: &str| {
        let policy = format!("package {root}\nq := data.{other}.v");
        let manifest = format!(r#"{{"revision": "{revision}", "roots": ["{root}"]}}"#);
        let data = format!(r#"{{"{root}": {{"v": "{revision}"}}}}"#);
        bundle(&[
            ("/p.rego", &policy),
            ("/data.json", &data),
            ("/.manifest", &manifest),
        ])
    };
    let (a, b) = (part("a", "b", "1"), part("b", "a", "1"));
    engine.activate_bundles(&[("x", &a), ("y", &b)]).unwrap();
    assert_eq!(ids(&engine), ["x/p.rego", "y/p.rego"]);
    let names: Vec<String> = engine
        .snapshot()
        .bundles()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["x", "y"]);
    // Roots may move between bundles within one change.
    let (a, b) = (part("a", "b", "2"), part("b", "a", "2"));
    engine.activate_bundles(&[("x", &b), ("y", &a)]).unwrap();
    assert_eq!(engine.snapshot().bundles()[0].roots, ["b"]);
    assert_eq!(engine.read("data.a.v").unwrap(), "2");
    // Documents of clients below the roots are removed, others stay.
    engine.put("data.a.w", 1.into()).unwrap();
    engine.put("data.c", 1.into()).unwrap();
    engine.set_module("own.rego", "package a.own").unwrap();
    engine.activate_bundle("y", &a).unwrap();
    assert!(engine.read("data.a.w").is_err() && engine.read("data.c").is_ok());
    assert_eq!(ids(&engine), ["x/p.rego", "y/p.rego"]);
}

#[test]
fn deltas_change_documents() {
    let engine = Engine::new();
    let snapshot = bundle(&[
        ("/p.rego", "package a\nq := data.a.list"),
        ("/a/data.json", r#"{"list": [1], "big": {"k": 1}}"#),
        ("/.manifest", r#"{"revision": "1", "roots": ["a"]}"#),
    ]);
    engine.activate_bundle("one", &snapshot).unwrap();
    let delta = bundle(&[
        (
            "/patch.json",
            r#"{"data": [{"op": "upsert", "path": "/a/list/-", "value": 2}, {"op": "upsert", "path": "a/new/deep", "value": 3}, {"op": "remove", "path": "/a/big"}]}"#,
        ),
        ("/.manifest", r#"{"revision": "2", "roots": ["a"]}"#),
    ]);
    engine.activate_bundle("one", &delta).unwrap();
    assert_eq!(
        engine.read("data.a").unwrap(),
        value!({"list": [1, 2], "new": {"deep": 3}})
    );
    assert_eq!(engine.snapshot().bundles()[0].revision, "2");
    assert_eq!(ids(&engine), ["one/p.rego"]);
}

#[test]
fn a_delta_has_the_roots_of_its_snapshot() {
    let engine = Engine::new();
    let mut snapshot = bundle(&[
        ("/a/data.json", r#"{"x": 1}"#),
        ("/b/data.json", r#"{"x": 1}"#),
        ("/.manifest", r#"{"revision": "1", "roots": ["a", "b"]}"#),
    ]);
    snapshot.etag = "\"7\"".to_owned();
    engine.activate_bundle("one", &snapshot).unwrap();
    assert_eq!(
        engine.read("data.system.bundles.one.etag").unwrap(),
        "\"7\""
    );
    let delta = |roots: &str| {
        bundle(&[
            (
                "/patch.json",
                r#"{"data": [{"op": "upsert", "path": "/a/x", "value": 2}]}"#,
            ),
            (
                "/.manifest",
                &format!(r#"{{"revision": "2", "roots": {roots}}}"#),
            ),
        ])
    };
    for roots in [r#"["a"]"#, r#"["a", "b", "c"]"#, r#"["a", "c"]"#, r#"[""]"#] {
        let error = engine.activate_bundle("one", &delta(roots)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "delta bundle 'one' has wasm resolvers or manifest roots that are different from those in the store",
            "{roots}"
        );
        assert_eq!(engine.read("data.a.x").unwrap(), 1);
        assert_eq!(engine.snapshot().bundles()[0].roots, ["a", "b"]);
    }
    engine
        .activate_bundle("one", &delta(r#"["/b", "a/"]"#))
        .unwrap();
    assert_eq!(engine.read("data.a.x").unwrap(), 2);
    // The tag of a delta replaces the one of its snapshot.
    assert_eq!(engine.read("data.system.bundles.one.etag").unwrap(), "");
}

#[test]
fn a_bundle_of_everything_keeps_facts_and_system_documents() {
    let engine = Engine::new();
    engine.put("data.system.version", "1".into()).unwrap();
    engine.put("data.old", 1.into()).unwrap();
    let all = bundle(&[("/data.json", r#"{"new": 1}"#), ("/p.rego", "package p")]);
    engine.activate_bundle("all", &all).unwrap();
    assert!(engine.read("data.old").is_err());
    assert_eq!(engine.read("data.system.version").unwrap(), "1");
    assert_eq!(engine.snapshot().bundles()[0].roots, [""]);
    let scope = |path: &str| {
        engine
            .snapshot()
            .check_bundle_scope(&Path::from_slashes(path))
    };
    let error = scope("x").unwrap_err();
    assert_eq!(error.to_string(), "all paths owned by bundle \"all\"");
    engine.deactivate_bundle("all").unwrap();
    assert!(engine.read("data.new").is_err() && scope("x").is_ok());
}

#[test]
fn owners_of_paths() {
    let engine = Engine::new();
    let one = bundle(&[("/.manifest", r#"{"roots": ["a/b"]}"#)]);
    assert!(
        engine
            .snapshot()
            .check_bundle_scope(&Path::default())
            .is_ok()
    );
    engine.activate_bundle("one", &one).unwrap();
    let scope = |path: &str| {
        engine
            .snapshot()
            .check_bundle_scope(&Path::from_slashes(path))
    };
    for owned in ["a", "a/b", "a/b/c"] {
        let want = format!("path {owned} is owned by bundle \"one\"");
        assert_eq!(scope(owned).unwrap_err().to_string(), want);
    }
    for free in ["b", "a/c", "ab", "a/bc"] {
        assert_eq!(scope(free), Ok(()));
    }
    let root = "can't write to document root with bundle roots configured";
    assert_eq!(scope(""), Err(ScopeError::Root));
    assert_eq!(ScopeError::Root.to_string(), root);
}

#[test]
fn unchanged_modules_are_not_compiled_and_keep_their_memory() {
    let engine = Engine::new();
    let files = |changed: u32| {
        let mut files = vec![(
            "/.manifest".to_owned(),
            format!(r#"{{"revision": "{changed}", "roots": ["m", "d"]}}"#),
        )];
        for number in 0..100 {
            let value = if number == 50 { changed } else { number };
            files.push((
                format!("/m{number}.rego"),
                format!("package m.p{number}\nq := {value}"),
            ));
        }
        files.push((
            "/d/data.json".to_owned(),
            format!(
                r#"{{"same": {{"text": "{}"}}, "changed": {changed}}}"#,
                "x".repeat(100)
            ),
        ));
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        bundle(&files)
    };
    engine.activate_bundle("b", &files(1)).unwrap();
    let before = engine.data_snapshot();
    let place = |root: &Value| {
        root.pointer("/d/same/text")
            .unwrap()
            .utf8()
            .unwrap()
            .as_ptr()
    };
    engine.activate_bundle("b", &files(2)).unwrap();
    let work = engine.work();
    assert!(work.lowered < 10, "{work:?}");
    assert_eq!(place(before.root()), place(engine.data_snapshot().root()));
    assert_eq!(engine.read("data.d.changed").unwrap(), 2);
    // Activating the same bundle again changes nothing.
    let generation = engine.generation();
    engine.activate_bundle("b", &files(2)).unwrap();
    assert_eq!(engine.generation(), generation);
}

#[test]
fn policies_that_the_engine_has_are_not_parsed_again() {
    const POLICIES: usize = 100;
    let files = |changed: &str, manifest: &str| {
        let mut files = vec![("/.manifest".to_owned(), manifest.to_owned())];
        for number in 0..POLICIES {
            let extra = if number == 50 { changed } else { "" };
            files.push((
                format!("/m{number}.rego"),
                format!("package m.p{number}\nq := {number}\n{extra}"),
            ));
        }
        let file = |(path, text): (String, String)| BundleFile {
            path,
            bytes: text.into_bytes(),
        };
        files.into_iter().map(file).collect::<Vec<_>>()
    };
    let engine = Engine::new();
    let parsed = |bundle: &Bundle| {
        let snapshot = engine.snapshot();
        let is_new = |module: &&BundleModule| {
            let id = Bundle::module_id("b", &module.path);
            let before = snapshot.module(&id);
            before.is_none_or(|before| !Arc::ptr_eq(before, &module.module))
        };
        bundle.modules.iter().filter(is_new).count()
    };
    let read = |name: &str, files: Vec<BundleFile>| {
        let reader = engine.bundle_reader(name).unwrap();
        reader.read_files(files).unwrap()
    };
    let first = read("b", files("", "{}"));
    assert_eq!(parsed(&first), POLICIES);
    engine.activate_bundle("b", &first).unwrap();
    assert_eq!(parsed(&read("b", files("", "{}"))), 0);
    // The revision does not matter, but the text, the version of Rego and the bundle do.
    let next = read("b", files("r := 1", r#"{"revision": "2"}"#));
    assert_eq!(parsed(&next), 1);
    let as_v0 = read("b", files("", r#"{"rego_version": 0}"#));
    assert_eq!(parsed(&as_v0), POLICIES);
    assert_eq!(parsed(&read("c", files("", "{}"))), POLICIES);
    let reader = engine.bundle_reader("b").unwrap();
    let reader = reader.parse_options(ParseOptions::from_version(Version::V1));
    assert_eq!(
        parsed(&reader.read_files(files("", "{}")).unwrap()),
        POLICIES
    );
    // errors of other files are reported
    let broken = engine.bundle_reader("b").unwrap();
    let error = broken.read_files(files("r :=", "{}")).unwrap_err();
    assert!(error.to_string().contains("m50.rego"), "{error}");
    engine.activate_bundle("b", &next).unwrap();
    assert_eq!(engine.work().modules, 1);
    assert_eq!(parsed(&next), 0);
    assert_eq!(engine.snapshot().modules().count(), POLICIES);
}

#[test]
fn every_decision_uses_one_revision() {
    let engine = Engine::new();
    let revision = |number: u64| {
        let policy = format!("package p\nown := {number}\nboth := [own, data.d.n]");
        let data = format!(r#"{{"d": {{"n": {number}}}}}"#);
        let manifest = format!(r#"{{"revision": "{number}", "roots": ["p", "d"]}}"#);
        bundle(&[
            ("/p.rego", &policy),
            ("/data.json", &data),
            ("/.manifest", &manifest),
        ])
    };
    engine.activate_bundle("b", &revision(0)).unwrap();
    let both = engine.prepare_document("data.p.both").unwrap();
    let (done, decided) = (
        AtomicBool::new(false),
        [AtomicU64::new(0), AtomicU64::new(0)],
    );
    thread::scope(|scope| {
        for count in &decided {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let snapshot = engine.snapshot();
                    let request = Request::new();
                    let pair = both
                        .evaluate(&request.snapshot(&snapshot))
                        .unwrap()
                        .unwrap();
                    let revision = snapshot.bundles()[0].revision.clone();
                    assert_eq!(
                        pair.rego_text().to_string(),
                        format!("[{revision}, {revision}]")
                    );
                    let current = both.evaluate(&Request::new()).unwrap().unwrap();
                    let text = current.rego_text().to_string();
                    let (first, second) = text.trim_matches(['[', ']']).split_once(", ").unwrap();
                    assert_eq!(first, second);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 1..=200 {
            engine.activate_bundle("b", &revision(number)).unwrap();
        }
        while decided
            .iter()
            .any(|count| count.load(Ordering::Relaxed) == 0)
        {
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(engine.snapshot().bundles()[0].revision, "200");
}
