//! Evaluations that a limit or the caller stops: each reason has its own error kind, in every way to evaluate.

use std::time::{Duration, Instant};

use solon::trace::Detail;
use solon::{
    Cancel, Engine, Error, ErrorKind, ExplainOptions, Limits, PartialOptions, PreparedDocument,
    Request, value,
};

const POLICY: &str = r#"package t

n := numbers.range(1, 1000)

p if {
	some a in n
	some b in n
	some c in n
	some d in n
	a + b + c + d < 0
}

kept := [[a, b, c, d] | some a in n; some b in n; some c in n; some d in n]

short if input.user == "alice"

fact := true

conflict := x if some x in [1, 2]

division := 1 / 0
"#;

const NONE: Limits = Limits::UNBOUNDED;

/// Returns the error of each way to evaluate a document.
fn errors(engine: &Engine, name: &str, request: &Request<'_>) -> Vec<(&'static str, Error)> {
    let document = engine.prepare_document(&format!("data.t.{name}")).unwrap();
    let text = format!("x := data.t.{name}");
    let query = engine.prepare_query(&text).unwrap();
    let options = PartialOptions::default();
    let partial = engine.prepare_partial(&text, &options).unwrap();
    let watched = || ExplainOptions::new(Detail::Notes);
    let results = [
        ("evaluate", document.evaluate(request).map(drop)),
        ("evaluate_json", document.evaluate_json(request).map(drop)),
        (
            "evaluate_with",
            document.evaluate_with(request, |_| ()).map(drop),
        ),
        (
            "explain",
            document.explain(request, watched()).result.map(drop),
        ),
        ("solutions", query.solutions(request).map(drop)),
        (
            "explained query",
            query.explain(request, watched()).result.map(drop),
        ),
        ("partial", partial.evaluate(request).map(drop)),
        (
            "explained partial",
            partial.explain(request, watched()).result.map(drop),
        ),
    ];
    let errors = results.into_iter().map(|(way, result)| match result {
        Err(error) => (way, error),
        Ok(()) => panic!("{way} of {name} has a result"),
    });
    errors.collect()
}

#[test]
fn each_stop_reason_has_an_error_kind() {
    let engine = Engine::new();
    engine.set_module("t.rego", POLICY).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let (late, few, small) = (
        NONE.time(Some(Duration::from_millis(20))),
        NONE.steps(Some(5_000)),
        NONE.memory(Some(4 << 20)),
    );
    let request = Request::new();
    let cases = [
        ("p", request.limits(&late), ErrorKind::Timeout),
        ("p", request.limits(&few), ErrorKind::StepLimit),
        ("kept", request.limits(&small), ErrorKind::MemoryLimit),
        ("p", request.cancel(&cancel), ErrorKind::Cancelled),
        ("conflict", request, ErrorKind::Eval),
        (
            "division",
            request.strict_builtin_errors(true),
            ErrorKind::Eval,
        ),
    ];
    for (name, request, kind) in cases {
        for (way, error) in errors(&engine, name, &request) {
            assert_eq!(error.kind(), kind, "{way}: {error}");
            let code = &error.entries()[0].code;
            let is_cancel = code == "eval_cancel_error";
            assert_eq!(is_cancel, kind != ErrorKind::Eval, "{way}: {error}");
        }
    }
}

/// Evaluations of few steps poll nothing, so each checks at its start.
#[test]
fn an_evaluation_that_has_ended_before_its_start_fails() {
    let engine = Engine::new();
    engine.set_module("t.rego", POLICY).unwrap();
    engine.put("data.t.base", true.into()).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let times = [
        NONE.time(Some(Duration::ZERO)),
        NONE.time(Some(Duration::from_nanos(1))),
        NONE.until(Some(Instant::now())),
        NONE.time(Some(Duration::MAX)).until(Some(Instant::now())),
    ];
    let input = value!({"user": "alice"});
    let text = br#"{"user": "alice"}"#;
    let inputs = [
        Request::new(),
        Request::new().input(&input),
        Request::new().input_json(text),
    ];
    for request in inputs {
        let timed = times
            .iter()
            .map(|limits| (request.limits(limits), ErrorKind::Timeout));
        let ended = timed.chain([(request.cancel(&cancel), ErrorKind::Cancelled)]);
        for (request, kind) in ended {
            for name in ["short", "fact", "base", "nothing"] {
                for (way, error) in errors(&engine, name, &request) {
                    assert_eq!(error.kind(), kind, "{way} of {name}: {error}");
                }
                let document = engine.prepare_document(&format!("t/{name}")).unwrap();
                assert_eq!(document.allow(&request).unwrap_err().kind(), kind, "{name}");
                let pinned = document.pin().allow(&request);
                assert_eq!(pinned.unwrap_err().kind(), kind, "{name}");
            }
        }
    }
    // limits that are not reached change nothing
    let document = engine.prepare_document("data.t.short").unwrap();
    let long = NONE.time(Some(Duration::from_mins(10)));
    let request = Request::new().input(&input).limits(&long);
    assert!(document.allow(&request.cancel(&Cancel::default())).unwrap());
}

#[test]
fn an_explanation_that_is_too_large_exceeds_a_memory_limit() {
    let engine = Engine::new();
    engine.set_module("t.rego", POLICY).unwrap();
    let limits = NONE.explanation(Some(1 << 10)).steps(Some(100_000));
    let request = Request::new().limits(&limits);
    let document = engine.prepare_document("data.t.p").unwrap();
    let explained = document.explain(&request, ExplainOptions::new(Detail::Full));
    let error = explained.result.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::MemoryLimit, "{error}");
    assert_eq!(
        error.entries()[0].message,
        "explanation exceeds its memory limit"
    );
}

#[test]
fn other_errors_have_the_kind_of_their_variant() {
    let engine = Engine::new();
    let cases = [
        (
            engine.set_module("t.rego", "package t\n\np := x").err(),
            ErrorKind::Compile,
        ),
        (engine.prepare_query("").err(), ErrorKind::Options),
        (engine.read("data.nothing.here").err(), ErrorKind::Store),
        (
            engine.remove_module("nothing").err(),
            ErrorKind::UnknownModule,
        ),
        (
            engine
                .prepare_document("data.nothing")
                .and_then(PreparedDocument::must_exist)
                .err(),
            ErrorKind::UnknownPath,
        ),
        (
            engine
                .prepare_document("data.t")
                .and_then(|document| document.evaluate(&Request::new().input_json(b"{")))
                .err(),
            ErrorKind::Input,
        ),
    ];
    for (error, kind) in cases {
        let error = error.unwrap();
        assert_eq!(error.kind(), kind, "{error}");
    }
}
