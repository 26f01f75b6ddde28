//! Explanations of evaluations that take long, nest deeply, or have too many events.

use std::sync::mpsc;
use std::time::Duration;

use solon::trace::{Detail, Spelling};
use solon::{
    Cancel, Engine, Error, ExplainOptions, Explanation, Limits, Request, TraceLines, Value,
};

use crate::{SOON, nested_value, on_small_stack, on_small_stack_within};

const MODULE: &str = "package t
n := numbers.range(1, 300)
wide if {
	some a in n
	some b in n
	a + b < 0
}
endless if {
	print(\"it runs\")
	some a in n
	some b in n
	some c in n
	some d in n
	a + b + c + d < 0
}
noted if {
	some a in n
	some b in n
	a + b == 600
	trace(\"found\")
}
large if {
	some a in input.list
	y := array.concat(input.list, [a])
	count(y) == 1
}
same if input.list == input.other
";

const NONE: Limits = Limits::UNBOUNDED;

/// An explained query with its limits.
#[derive(Clone, Copy)]
struct ExplainedQuery<'a> {
    query: &'a str,
    detail: Detail,
    limits: &'a Limits,
    input: Option<&'a Value>,
    cancel: Option<&'a Cancel>,
    /// Receives a message when the policy prints.
    prints: Option<&'a mpsc::SyncSender<()>>,
    /// Maximum processor time of the evaluation.
    most: Duration,
}

impl<'a> ExplainedQuery<'a> {
    fn new(query: &'a str, detail: Detail, limits: &'a Limits) -> Self {
        Self {
            query,
            detail,
            limits,
            input: None,
            cancel: None,
            prints: None,
            most: SOON,
        }
    }

    fn about(self, input: &'a Value) -> Self {
        Self {
            input: Some(input),
            ..self
        }
    }

    fn explain(self) -> Explanation {
        on_small_stack_within(self.most, self.query, || {
            let engine = Engine::new();
            engine.set_module("t.rego", MODULE).unwrap();
            let print = |_: &str| {
                let _ = self.prints.map(|prints| prints.try_send(()));
            };
            let mut request = Request::new().limits(self.limits).print(&print);
            if let Some(cancel) = self.cancel {
                request = request.cancel(cancel);
            }
            if let Some(input) = self.input {
                request = request.input(input);
            }
            let watched = ExplainOptions::new(self.detail).documents(true);
            engine
                .prepare_query(self.query)
                .unwrap()
                .explain(&request, watched)
        })
    }

    /// Returns the error that ends the evaluation.
    fn end(self) -> String {
        self.explain()
            .result
            .map_or_else(message, |_| String::new())
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is passed on from results"
)]
fn message(error: Error) -> String {
    error.entries()[0].message.clone()
}

const EXCEEDED: &str = "explanation exceeds its memory limit";

/// Events are recorded up to the memory limit, and the error reports that there were more.
#[test]
fn memory_of_events_is_bounded() {
    let limits = NONE.explanation(Some(4 << 20));
    for detail in [Detail::Debug, Detail::Full, Detail::Fails] {
        let explained = ExplainedQuery::new("data.t.wide", detail, &limits).explain();
        assert_eq!(message(explained.result.err().unwrap()), EXCEEDED);
        let kept = explained.events.len();
        assert!((100..40_000).contains(&kept), "{kept} events");
    }
    // events that are not selected take no memory
    let explained = ExplainedQuery::new("data.t.noted", Detail::Notes, &limits).explain();
    assert!(explained.result.is_ok());
    let lines = explained
        .lines(TraceLines::default().locations(true).variables(true))
        .unwrap();
    assert!(lines.iter().any(|line| line.contains("Note \"found\"")));
}

/// With the smallest sufficient limit an explanation succeeds, and with one byte less it fails.
#[test]
fn memory_is_counted_exactly() {
    let ends = |bytes: usize| {
        let limits = NONE.explanation(Some(bytes));
        ExplainedQuery::new("x = 1", Detail::Full, &limits).end()
    };
    let (mut low, mut high) = (0, 1 << 20);
    assert_eq!(ends(high), "");
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if ends(middle).is_empty() {
            high = middle;
        } else {
            low = middle;
        }
    }
    assert_eq!((ends(low).as_str(), ends(high).as_str()), (EXCEEDED, ""));
    assert!(low > 5 * size_of::<solon::trace::Event>(), "{low}");
}

/// A value counts once for all events that show it. A value that is built in each iteration counts each time.
#[test]
fn values_of_variables_are_shared() {
    let list = Value::array((0..2_000_i64).map(Value::from).collect());
    let input = Value::object(vec![("list".into(), list)]);
    let evaluate = |bytes: usize| {
        let limits = NONE.explanation(Some(bytes));
        let asked = ExplainedQuery::new("x = input.list; x[_] < 0", Detail::Full, &limits);
        asked.about(&input).end()
    };
    assert_eq!(evaluate(8 << 20), "");
    let limits = NONE.explanation(Some(8 << 20));
    let asked = ExplainedQuery::new("data.t.large", Detail::Full, &limits);
    assert_eq!(asked.about(&input).end(), EXCEEDED);
}

/// Two large arrays are compared element by element, without recursion.
#[test]
fn long_lists_are_compared() {
    let list = Value::array(vec![1.into(); 200_000]);
    let pairs = ["list", "other"].map(|name| (name.into(), list.clone()));
    let input = Value::object(pairs.into_iter().collect());
    let evaluate = |detail| {
        let asked = ExplainedQuery::new("data.t.same", detail, &NONE);
        asked.about(&input).explain()
    };
    assert_eq!(evaluate(Detail::Notes).result.unwrap().len(), 1);
    let explained = evaluate(Detail::Debug);
    assert_eq!(explained.result.unwrap().len(), 1);
    assert!(explained.events.len() > 200_000);
    let pattern: Vec<String> = (0..10_000).map(|at| format!("x{at}")).collect();
    let query = format!("[{}] = input.list", pattern.join(","));
    let short = Value::array(vec![1.into(); 10_000]);
    let input = Value::object(vec![("list".into(), short)]);
    let limits = NONE.explanation(Some(16 << 20));
    let asked = ExplainedQuery::new(&query, Detail::Debug, &limits);
    assert_eq!(asked.about(&input).end(), EXCEEDED);
}

#[test]
fn time_and_cancellation_end_them() {
    let limits = NONE.time(Some(Duration::from_millis(100)));
    let most = Duration::from_secs(10);
    for detail in [Detail::Notes, Detail::Fails] {
        let asked = ExplainedQuery::new("data.t.endless", detail, &limits);
        let end = ExplainedQuery { most, ..asked }.end();
        assert_eq!(end, "evaluation exceeds its time limit");
    }
    let cancel = Cancel::default();
    let canceller = cancel.clone();
    let (prints, printed) = mpsc::sync_channel(1);
    let later = std::thread::spawn(move || {
        printed.recv().unwrap();
        canceller.cancel();
    });
    let asked = ExplainedQuery::new("data.t.endless", Detail::Notes, &NONE);
    let end = ExplainedQuery {
        cancel: Some(&cancel),
        prints: Some(&prints),
        ..asked
    }
    .end();
    later.join().unwrap();
    assert_eq!(end, "caller cancelled query execution");
}

/// Texts are limited like results, even if events share values.
#[test]
fn texts_are_bounded() {
    let list = Value::array((0..5_000_i64).map(Value::from).collect());
    let input = Value::object(vec![("list".into(), list)]);
    let limits = NONE.memory(Some(16 << 20));
    let asked = ExplainedQuery::new("x = input.list; x[_] < 0", Detail::Full, &limits);
    let explained = asked.about(&input).explain();
    assert!(explained.result.as_ref().unwrap().is_empty());
    let texts = [
        explained.json(Spelling::Title),
        explained.json(Spelling::Lower),
        explained.detailed_json(),
    ];
    for text in texts {
        assert_eq!(message(text.err().unwrap()), EXCEEDED);
    }
    assert!(
        explained
            .lines(TraceLines::default().locations(true).variables(true))
            .is_ok()
    );
}

/// Deep evaluations grow their stack, and their events nest as deep.
#[test]
fn deep_searches_are_explained() {
    let deep: String = (0..300).map(|_| "[").collect();
    let nested = format!("{deep}1{}", "]".repeat(300));
    let query = format!("x = {nested}; x = {nested}");
    let explained = ExplainedQuery::new(&query, Detail::Debug, &NONE).explain();
    assert!(explained.result.is_ok());
    for text in [explained.json(Spelling::Title), explained.detailed_json()] {
        assert!(text.unwrap().len() > 300 * r#"{"type":"array"}"#.len());
    }
    assert!(
        explained
            .lines(TraceLines::default().locations(true).variables(true))
            .unwrap()
            .len()
            > 300
    );
    let rules: String = (0..3_000)
        .map(|at| format!("r{at} if r{}\n", at + 1))
        .collect();
    let module = format!("package t\n{rules}r3000 if input.x\n");
    let lines = on_small_stack("a chain of rules", || {
        let engine = Engine::new();
        engine.set_module("t.rego", &module).unwrap();
        let query = engine.prepare_query("data.t.r0").unwrap();
        let explained = query.explain(&Request::new(), Detail::Fails);
        assert!(explained.result.as_ref().unwrap().is_empty());
        explained
            .lines(TraceLines::default().locations(true))
            .unwrap()
    });
    assert!(lines.len() > 3_000, "{}", lines.len());
}

#[test]
fn the_deepest_values_are_explained() {
    use solon::internal::limits::VALUE_NESTING;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let input = nested_value(open, close, VALUE_NESTING);
        for query in [
            "x := input",
            "x := [input]",
            "input != {1}",
            "every x in input { x == input[0] }",
        ] {
            let limits = Limits::default();
            let explained = ExplainedQuery::new(query, Detail::Full, &limits)
                .about(&input)
                .explain();
            assert!(explained.result.is_ok(), "{query}");
            assert!(!explained.events.is_empty(), "{query}");
            on_small_stack("drop", move || drop(explained));
        }
    }
}
