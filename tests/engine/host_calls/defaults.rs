//! An engine without a host environment.

use solon::{Engine, Error, PartialOptions, Request, Value};

use crate::decide;

#[test]
fn tokens_are_checked_with_the_system_clock() {
    let engine = Engine::new();
    let policy = r#"package t
now := time.now_ns() / 1000000000
key := {"kty": "oct", "k": base64url.encode_no_pad("secret")}
token(from, to) := io.jwt.encode_sign({"alg": "HS256"}, {"nbf": from, "exp": to}, key)
accepted(from, to) := io.jwt.decode_verify(token(from, to), {"secret": "secret"})[0]
valid := accepted(now - 60, now + 60)
expired := accepted(now - 120, now - 60)
early := accepted(now + 60, now + 120)
"#;
    engine.set_module("t.rego", policy).unwrap();
    let told = |path| decide(&engine, path, &Request::new());
    assert_eq!(told("t/valid"), Ok("true".into()));
    assert_eq!(told("t/expired"), Ok("false".into()));
    assert_eq!(told("t/early"), Ok("false".into()));
}

#[test]
fn random_results_differ() {
    let query = Engine::new()
        .prepare_query("x := uuid.rfc4122(\"\")")
        .unwrap();
    let ask = || {
        query.solutions(&Request::new()).unwrap()[0].bindings[0]
            .1
            .clone()
    };
    assert_ne!(ask(), ask());
    let runtime = Engine::new().prepare_query("opa.runtime().env == {}");
    let rows = runtime.unwrap().solutions(&Request::new()).unwrap();
    assert_eq!(rows[0].values, [Value::from(true)]);
}

/// An undefined result could be mistaken for a decision, and is the wrong one under a negation.
#[test]
fn a_policy_that_requires_a_network_ends_with_an_error() {
    let engine = Engine::new();
    let policy = r#"package t
known := net.lookup_ip_addr("example.com")
quiet := http.send({"method": "get", "url": "http://a/", "raise_error": false})
blocked if http.send({"method": "get", "url": "http://a/", "raise_error": true}).status_code == 403
default allow := false
allow if not blocked
every_one := [x | x := http.send({"method": "get", "url": "http://a/"})]
"#;
    engine.set_module("t.rego", policy).unwrap();
    for strict in [false, true] {
        for path in [
            "t/known",
            "t/quiet",
            "t/blocked",
            "t/allow",
            "t/every_one",
            "t",
        ] {
            let request = Request::new().strict_builtin_errors(strict);
            let error = decide(&engine, path, &request).unwrap_err();
            assert!(error.contains("eval_builtin_error"), "{path}: {error}");
            assert!(
                error.contains("`solon_host::SystemHost`"),
                "{path}: {error}"
            );
        }
    }
    let explained = engine
        .prepare_query("data.t.allow")
        .unwrap()
        .explain(&Request::new(), solon::trace::Detail::Full)
        .result;
    assert!(matches!(explained, Err(Error::Eval(_))), "{explained:?}");
    let options = PartialOptions::default().nondeterministic_builtins(true);
    let residuals = engine.partial("data.t.allow", &options, &Request::new());
    assert!(matches!(residuals, Err(Error::Eval(_))));
}

#[test]
fn a_builders_options_have_no_order() {
    use solon::internal::compile::Options;
    let builders = [
        Engine::builder().strict(true).compiler(Options::default()),
        Engine::builder().compiler(Options::default()).strict(true),
    ];
    let double = || {
        solon::internal::builtins::HostFunction::new(
            "double",
            "x: number => y: number",
            |_, operands| Ok(operands[0]),
        )
        .unwrap()
    };
    for builder in builders {
        let engine = builder.build();
        let unused = "package t\np if { x := 1 }";
        assert!(engine.set_module("t.rego", unused).is_err());
    }
    let builders = [
        Engine::builder()
            .function(double())
            .unwrap()
            .compiler(Options::default()),
        Engine::builder()
            .compiler(Options::default())
            .function(double())
            .unwrap(),
    ];
    for builder in builders {
        let engine = builder.build();
        engine
            .set_module("t.rego", "package t\np := double(1)")
            .unwrap();
    }
}
