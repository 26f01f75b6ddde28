//! Decisions that may wait for the host.

use solon::internal::builtins::{BuiltinContext, BuiltinError, HostFunction};
use solon::internal::value::ValueRef;
use solon::{Engine, FixedHost, Path};

use crate::engine;

#[test]
fn engines_know_which_decisions_may_block() {
    let engine = engine(
        FixedHost::default(),
        r#"package t
import data.other.deep
quick := input.x
slow := http.send({"method": "get", "url": "http://a/x"})
user if deep.y
partial[x] := 1 if some x in net.lookup_ip_addr("h")
f(x) := slow
g(x) := x
mocked if count(input) with count as net.lookup_ip_addr
dynamic := data.other[input.x]
"#,
    );
    engine
        .set_module(
            "o.rego",
            "package other.deep\n\ny if data.t.f(1)\n\nz := 1\n",
        )
        .unwrap();
    let document = |path: &str| engine.document(&Path::from_slashes(path)).may_block();
    for slow in [
        "t/slow",
        "t/user",
        "t/partial",
        "t/partial/x/y",
        "t",
        "",
        "other/deep/y",
        "t/mocked",
        "t/dynamic",
    ] {
        assert!(document(slow), "{slow}");
    }
    for quick in ["t/quick", "t/g", "other/deep/z", "none", "t/quick/x"] {
        assert!(!document(quick), "{quick}");
    }
    let query = |text: &str| engine.prepare_query(text).unwrap().may_block();
    for slow in [
        "data",
        "data.t.slow",
        "x := data[y]",
        "data.t.f(1) = x",
        "net.lookup_ip_addr(\"h\")",
        "[1 | data.t.user]",
    ] {
        assert!(query(slow), "{slow}");
    }
    for quick in [
        "1 + 1",
        "data.t.quick",
        "data.t.g(1) = x",
        "time.now_ns()",
        "data.none[x]",
    ] {
        assert!(!query(quick), "{quick}");
    }
}

#[test]
fn functions_of_the_host_say_whether_they_wait() {
    #[expect(clippy::unnecessary_wraps, reason = "functions may fail")]
    fn answer<'e>(
        _: &mut BuiltinContext<'e>,
        _: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        Ok(ValueRef::from(1))
    }
    let engine = Engine::builder()
        .function(
            HostFunction::new("org.ask", "name: string => x: number", answer)
                .unwrap()
                .waiting(),
        )
        .unwrap()
        .function(HostFunction::new("org.know", "name: string => x: number", answer).unwrap())
        .unwrap()
        .build();
    engine
        .set_module(
            "t.rego",
            "package t\nslow := org.ask(\"a\")\nquick := org.know(\"a\")\nuser if slow",
        )
        .unwrap();
    let document = |path: &str| engine.document(&Path::from_slashes(path)).may_block();
    assert!(document("t/slow") && document("t/user") && document("t"));
    assert!(!document("t/quick"));
    let query = |text: &str| engine.prepare_query(text).unwrap().may_block();
    assert!(query("org.ask(\"a\")") && query("data.t.user"));
    assert!(!query("org.know(\"a\")") && !query("data.t.quick"));
}
