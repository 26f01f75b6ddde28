//! Documents that may depend on a key of `input`.

use solon::{Engine, Path};

/// Returns `true` if the document at `path` may read `input.body`.
fn may_read(modules: &[&str], path: &str) -> bool {
    let engine = Engine::new();
    for (number, module) in modules.iter().enumerate() {
        let name = format!("{number}.rego");
        let set = engine.set_module(&name, module);
        set.unwrap_or_else(|error| panic!("{module}: {error}"));
    }
    let document = engine.document(&Path::from_slashes(path));
    document.pin().may_read_input("body")
}

#[test]
fn rules_that_name_the_key_read_it() {
    for body in [
        "allow if input.body",
        "allow if input[\"body\"].user == \"a\"",
        "allow if input == {}",
        "allow if { x := input; x.method == \"GET\" }",
        "allow if input[_] == 1",
        "allow if { some key in [\"method\"]; input[key] == 1 }",
        "allow if { some key; input[key] }",
        "allow if input[input.method]",
        "allow if input.method[input.body]",
        "allow if input[lower(input.method)]",
        "allow if { walk(input, [path, _]); path == [\"a\"] }",
        "allow if { some x in input; x == 1 }",
        "allow if { every x in input { x == 1 } }",
        "allow if count([1 | input.body]) == 1",
        "allow if not input.body",
        "allow := input.body",
        "allow if f(input)\n\nf(x) if x.body",
        "allow if f(input.method)\n\nf(x) if x == input.body",
        "allow := 1 if input.method else := input.body",
        "default allow := false\n\nallow if helper\n\nhelper if other.deep\n\nother[\"deep\"] if input.body",
        "allow if print(input)",
        "allow if data.base == 1 with data.base as input.body",
        "allow if helper with input as {\"body\": 1}\n\nhelper if input.body",
        "allow if lib[input.method]\n\nlib[\"a\"] := 1\n\nlib[\"b\"] := input.body",
        "allow if $\"{input.body}\" == \"a\"",
        "allow if helper(1)\n\nhelper(x) := input.body if x == 2",
        "allow if count([]) with count as mocked\n\nmocked(x) := input.body",
        "allow.deep if input.body",
        "allow[x] := 1 if some x in input.body",
    ] {
        let module = format!("package system.authz\n\n{body}\n");
        assert!(may_read(&[&module], "system/authz/allow"), "{body}");
    }
    let imported = "package system.authz\n\nimport input.body as sent\n\nallow if sent.x";
    assert!(may_read(&[imported], "system/authz/allow"));
    let whole = "package system.authz\n\nimport input as request\n\nallow if request.method";
    let key = "package system.authz\n\nimport input as request\n\nallow if request.body";
    assert!(!may_read(&[whole], "system/authz/allow"));
    assert!(may_read(&[key], "system/authz/allow"));
}

#[test]
fn rules_that_cannot_name_the_key_do_not_read_it() {
    for body in [
        "allow if input.method == \"GET\"",
        "allow if input.headers.Authorization[_] == \"a\"",
        "allow if input.path[0] == \"body\"",
        "allow if input.params.body",
        "allow if input[1]",
        "allow if data.users[input.identity].admin",
        "allow if { x := input.method; x == \"GET\" }",
        "allow if { some x in input.path; x == \"a\" }",
        "allow if { some i; input.path[i] == input.params[i] }",
        "allow if f(input.method)\n\nf(x) if x == \"GET\"",
        "default allow := false\n\nother if input.body",
        "allow if true",
    ] {
        let module = format!("package system.authz\n\n{body}\n");
        assert!(!may_read(&[&module], "system/authz/allow"), "{body}");
    }
    assert!(!may_read(&[], "system/authz/allow"));
    let other = "package app\n\nallow if input.body";
    let module = "package system.authz\n\nallow if data.lib.allow";
    let library = "package lib\n\nallow if input.method";
    assert!(!may_read(&[module, library, other], "system/authz/allow"));
    assert!(may_read(&[module, library, other], "app"));
}

#[test]
fn changes_of_the_policy_take_effect_at_once() {
    let engine = Engine::new();
    let document = engine.prepare_document("data.p.allow").unwrap();
    let reads = || document.pin().may_read_input("body");
    assert!(!reads());
    for (text, want) in [
        ("package p\n\nallow if input.method", false),
        ("package p\n\nallow if input.body", true),
        ("package p\n\nallow if input.method", false),
    ] {
        engine.set_module("p.rego", text).unwrap();
        assert_eq!(reads(), want, "{text}");
        assert_eq!(reads(), want, "{text}");
        assert_eq!(document.pin().may_read_input("method"), !want, "{text}");
    }
}
