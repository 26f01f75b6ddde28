//! Limits of partial evaluation: it fails before residuals grow without bound.

use std::fmt::Write as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use solon::internal::limits::{
    COMPLEMENTS, NESTING, RESIDUAL_EXPRESSIONS, RESIDUAL_TERMS, SIMPLIFIED, SIMPLIFIED_TERMS,
    UNROLLED,
};
use solon::{Cancel, Engine, Error, Limits, PartialOptions, Request, Residuals};

use crate::{message, on_small_stack, on_small_stack_within};

/// Returns the residuals of a query without input.
fn left(what: &str, module: &str, data: &str, query: &str) -> Result<Residuals, Error> {
    on_small_stack(what, || {
        let engine = engine(module, data);
        let left = engine.partial(query, &PartialOptions::default(), &Request::new())?;
        // residuals can be written, too
        let shown = (left.query_sources(), left.support_sources());
        assert_eq!(shown.0.len(), left.queries.len());
        Ok(left)
    })
}

fn engine(module: &str, data: &str) -> Engine {
    let engine = Engine::new();
    if !module.is_empty() {
        engine.set_module("t.rego", module).unwrap();
    }
    if !data.is_empty() {
        let data = solon::internal::value::json::read(data.as_bytes()).unwrap();
        engine.put("data.base", data).unwrap();
    }
    engine
}

/// `[0, 0, …]`
fn zeros(count: usize) -> String {
    format!("[{}]", vec!["0"; count].join(","))
}

/// Returns the conjunction of the expressions that `part` writes.
fn conjunction(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join("; ")
}

#[test]
fn expressions_are_bounded() {
    // each solution has 255 expressions, and counts as one more
    let body = conjunction(255, |at| format!("input.a{at} = 1"));
    let module = format!("package t\n\nq if {{ {body} }}\n");
    let most = RESIDUAL_EXPRESSIONS / 256;
    let query = "x = data.base[_]; data.t.q";
    let fits = left("most expressions", &module, &zeros(most), query).unwrap();
    assert_eq!(fits.queries.len(), most);
    let more = left("too many expressions", &module, &zeros(most + 1), query);
    let limit =
        format!("partial evaluation exceeds the limit of {RESIDUAL_EXPRESSIONS} expressions");
    assert_eq!(message(more), limit);
    // a body that does not end
    let nested = "package t\n\nn := numbers.range(1, 32)\n\np if {\n\tevery a in n {\n\t\tevery b in n {\n\t\t\tevery c in n {\n\t\t\t\tevery d in n { input.x != (a + b) + (c + d) }\n\t\t\t}\n\t\t}\n\t}\n}\n";
    // each expression is nested in the previous one, so the limit of nesting is reached first
    let ended = message(left("an endless body", nested, "", "data.t.p"));
    assert_eq!(ended, "evaluation is nested too deeply");
}

#[test]
fn terms_are_bounded() {
    // a copy of the document, and the terms around it
    let around = 100;
    let query = "x = data.base; input.y = 1";
    left("most terms", "", &zeros(RESIDUAL_TERMS - around), query).unwrap();
    let more = left("too many terms", "", &zeros(RESIDUAL_TERMS), query);
    let limit = format!("partial evaluation exceeds the limit of {RESIDUAL_TERMS} terms");
    assert_eq!(message(more), limit);
    // each variable contains the previous one twice
    let doubled = |times: usize| {
        let steps = conjunction(times, |at| format!("x{} = [x{at}, x{at}]", at + 1));
        format!("x0 = input.a; {steps}")
    };
    left("a doubled term", "", "", &doubled(8)).unwrap();
    assert_eq!(
        message(left("a term doubled too often", "", "", &doubled(60))),
        limit
    );
}

#[test]
fn nesting_is_bounded() {
    let nested = |times: usize| {
        let steps = conjunction(times, |at| format!("x{} = [x{at}]", at + 1));
        format!("x0 = input.a; {steps}; input.b = x{times}")
    };
    left("the deepest term", "", "", &nested(NESTING - 2)).unwrap();
    let more = left("a term too deep", "", "", &nested(NESTING + 2));
    assert_eq!(message(more), "evaluation is nested too deeply");
}

#[test]
fn long_bodies_are_not_simplified() {
    let module = |count: usize| {
        let body = conjunction(count, |at| format!("x{at} = input.a{at}; x{at} != 1"));
        format!("package t\n\np if {{ {body} }}\n")
    };
    let text = |count: usize| {
        let left = left("a long body", &module(count), "", "data.t.p = true").unwrap();
        left.query_sources().remove(0)
    };
    assert!(text(SIMPLIFIED / 2).starts_with("input.a0 != 1\ninput.a1 != 1"));
    assert!(text(SIMPLIFIED / 2 + 1).starts_with("x01 = input.a0\nx01 != 1"));
}

#[test]
fn simplified_bodies_do_not_grow_without_end() {
    let module = |times: usize| {
        let body = conjunction(times, |at| format!("plus(x{at}, x{at}, x{})", at + 1));
        format!("package t\n\np = x{times} if {{ x0 = input.a; {body} }}\n")
    };
    let text = |times: usize| {
        let left = left("sums of sums", &module(times), "", "data.t.p > 1").unwrap();
        left.query_texts().remove(0)
    };
    let small = text(4);
    assert_eq!(small.matches("input.a").count(), 16, "{small}");
    let times = SIMPLIFIED_TERMS.ilog2() as usize;
    let large = text(times + 1);
    assert_eq!(large.matches("input.a").count(), 1, "{} bytes", large.len());
    // a long chain of calls is not nested
    let deep = text_of_chain(2 * NESTING);
    assert_eq!(deep.matches("plus").count(), 2 * NESTING);
    assert!(deep.contains("; "));
}

fn text_of_chain(length: usize) -> String {
    let body = conjunction(length, |at| format!("plus(x{at}, 1, x{})", at + 1));
    let module = format!("package t\n\np = x{length} if {{ x0 = input.a; {body} }}\n");
    let left = left("a chain of sums", &module, "", "data.t.p > 1").unwrap();
    left.query_texts().remove(0)
}

#[test]
fn negations_are_expanded_up_to_a_limit() {
    let module = |bodies: usize| {
        let mut text = "package t\n\np if not q\n".to_owned();
        for at in 0..bodies {
            let _ = writeln!(text, "\nq if {{ input.a{at} = 1; input.b{at} = 1 }}");
        }
        text
    };
    let bodies = COMPLEMENTS.ilog2() as usize;
    let most = left("most complements", &module(bodies), "", "data.t.p = true").unwrap();
    assert_eq!((most.queries.len(), most.support.len()), (COMPLEMENTS, 0));
    let more = left("too many", &module(bodies + 1), "", "data.t.p = true").unwrap();
    assert_eq!((more.queries.len(), more.support.len()), (1, 1));
}

#[test]
fn elements_are_unrolled_up_to_a_limit() {
    let module = |count: usize| {
        format!("package t\n\np if every i in numbers.range(1, {count}) {{ input.x != i }}\n")
    };
    let most = left("most elements", &module(UNROLLED), "", "data.t.p").unwrap();
    assert_eq!(most.queries[0].len(), UNROLLED);
    let more = left("too many elements", &module(UNROLLED + 1), "", "data.t.p").unwrap();
    assert_eq!(more.queries[0].len(), 1);
}

#[test]
fn chains_of_rules_need_no_stack() {
    let mut text = "package t\n\ndefault r0 := 0\n\nr0 := 1 if input.x\n".to_owned();
    for at in 1..2000 {
        let _ = writeln!(
            text,
            "\ndefault r{at} := 0\n\nr{at} := 1 if r{} = input.x",
            at - 1
        );
    }
    let support = left("a chain of support rules", &text, "", "data.t.r1999 = x").unwrap();
    assert_eq!(support.support[0].rules.len(), 4000);
    let mut text = "package t\n\nr0 if input.x\n".to_owned();
    for at in 1..2000 {
        let _ = writeln!(text, "\nr{at} if not r{}", at - 1);
    }
    let negated = left("a chain of negations", &text, "", "data.t.r1999 = true").unwrap();
    assert_eq!(negated.query_texts().len(), 1);
}

/// 10^15 iterations.
const ENDLESS: &str = "package t

n := numbers.range(1, 1000)

p if {
	print(\"it runs\")
	some a in n
	some b in n
	some c in n
	some d in n
	some e in n
	((a + b) + c) + (d + e) < 0
	input.x
}
";

/// Returns the code and message of a failed evaluation. It sends a message when it prints.
fn end(limits: &Limits, cancel: &Cancel, runs: &mpsc::SyncSender<()>) -> (String, String) {
    on_small_stack_within(Duration::from_secs(2), "an endless search", || {
        let engine = engine(ENDLESS, "");
        let print = |_: &str| {
            let _ = runs.try_send(());
        };
        let asked = Request::new().limits(limits).cancel(cancel).print(&print);
        let left = engine.partial("data.t.p", &PartialOptions::default(), &asked);
        let entry = left.expect_err("an end").entries().remove(0);
        (entry.code, entry.message)
    })
}

#[test]
fn time_steps_and_hosts_end_it() {
    let limits = |steps, time| Limits::UNBOUNDED.steps(steps).time(time);
    let cancel = Cancel::default();
    let (runs, running) = mpsc::sync_channel(1);
    let late = end(
        &limits(None, Some(Duration::from_millis(50))),
        &cancel,
        &runs,
    );
    assert_eq!(late.1, "evaluation exceeds its time limit");
    let long = end(&limits(Some(10_000), None), &cancel, &runs);
    assert!(long.1.contains("step"), "{long:?}");
    let _ = running.try_recv();
    let canceller = cancel.clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            running.recv().expect("it prints");
            canceller.cancel();
        });
        let cancelled = end(&limits(None, None), &cancel, &runs);
        assert_eq!(cancelled.0, "eval_cancel_error");
    });
}
