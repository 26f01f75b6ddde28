//! Limits of evaluations that would not end by themselves.

use std::cell::Cell;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use solon::host::HostError;
use solon::{Cancel, Engine, Error, ErrorKind, Host, Limits, Path, Request, Value};

use crate::on_small_stack;
use crate::processor::timed;

/// 10^15 iterations without effects.
const ENDLESS: &str = "package t
n := numbers.range(1, 1000)
p if {
	time.now_ns() >= 0
	some a in n
	some b in n
	some c in n
	some d in n
	some e in n
	a + b + c + d + e < 0
}
kept := [[a, b, c, d] | some a in n; some b in n; some c in n; some d in n]
few := [x | some x in input]
";

const NONE: Limits = Limits::UNBOUNDED;

fn engine() -> Engine {
    let engine = Engine::new();
    engine.set_module("t.rego", ENDLESS).unwrap();
    engine
}

/// Returns the code and message of an evaluation's error, and the processor time that it took.
fn end(path: &str, limits: &Limits) -> (String, String, Duration) {
    on_small_stack(path, || {
        let document = engine().document(&Path::from_slashes(path));
        let request = Request::new().limits(limits);
        let (answer, taken) = timed(|| document.evaluate(&request));
        let entry = answer.unwrap_err().entries().remove(0);
        (entry.code, entry.message, taken)
    })
}

#[test]
fn time_ends_it() {
    let limits = NONE.time(Some(Duration::from_millis(50)));
    let start = Instant::now();
    let (code, message, taken) = end("t/p", &limits);
    assert!(start.elapsed() >= Duration::from_millis(50));
    assert_eq!(
        (&*code, &*message),
        ("eval_cancel_error", "evaluation exceeds its time limit")
    );
    assert!(taken < END_WITHIN, "{taken:?}");
    let none_left = NONE.time(Some(Duration::ZERO));
    assert_eq!(
        end("t/p", &none_left).1,
        "evaluation exceeds its time limit"
    );
    // the earlier one of a time limit and a deadline applies
    let start = Instant::now();
    let soon = start.checked_add(Duration::from_millis(50));
    let late = start.checked_add(Duration::from_mins(1));
    for limits in [
        NONE.until(soon),
        NONE.until(soon).time(Some(Duration::from_mins(1))),
        NONE.until(late).time(Some(Duration::from_millis(50))),
        NONE.until(Some(start)),
    ] {
        let (_, message, taken) = end("t/p", &limits);
        assert_eq!(message, "evaluation exceeds its time limit");
        assert!(taken < END_WITHIN, "{taken:?}");
    }
}

#[test]
fn steps_end_it() {
    let limits = NONE.steps(Some(100_000));
    let (code, message, _) = end("t/p", &limits);
    assert_eq!(
        (&*code, &*message),
        ("eval_cancel_error", "evaluation exceeds its step limit")
    );
}

#[test]
fn memory_ends_it() {
    let limits = NONE.memory(Some(16 << 20));
    let (code, message, _) = end("t/kept", &limits);
    assert_eq!(
        (&*code, &*message),
        ("eval_cancel_error", "evaluation exceeds its memory limit")
    );
}

/// Exactly the allowed number of iterations are made.
#[test]
fn steps_are_counted_exactly() {
    let document = engine().prepare_document("data.t.few").unwrap();
    for turns in [1, 2, 10, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 5_000] {
        let input = Value::array(vec![1.into(); turns]);
        let within = |steps: usize| {
            let limits = NONE.steps(Some(steps as u64));
            document.evaluate(&Request::new().input(&input).limits(&limits))
        };
        assert!(within(turns).is_ok(), "{turns} turns of {turns}");
        let error = within(turns - 1).unwrap_err();
        assert_eq!(
            error.entries()[0].message,
            "evaluation exceeds its step limit",
            "{turns} turns of one less"
        );
    }
}

#[test]
fn another_thread_cancels_it() {
    let (engine, running) = engine_with_clock();
    engine.set_module("t.rego", ENDLESS).unwrap();
    let document = engine.prepare_document("data.t.p").unwrap();
    let cancel = Cancel::default();
    let evaluate = || document.evaluate(&Request::new().cancel(&cancel));
    let (answer, taken) = cancelled(&running, &cancel, evaluate);
    let entry = answer.unwrap_err().entries().remove(0);
    assert_eq!(
        (&*entry.code, &*entry.message),
        ("eval_cancel_error", "caller cancelled query execution")
    );
    assert!(taken < END_WITHIN, "{taken:?}");
    // a cancelled handle stays cancelled
    assert!(matches!(
        document.evaluate(&Request::new().cancel(&cancel)),
        Err(Error::Eval(_))
    ));
}

/// A host that sends a message when an evaluation reads the clock.
struct Clock(mpsc::SyncSender<()>);

impl Host for Clock {
    fn now_ns(&self) -> i64 {
        let _ = self.0.try_send(());
        0
    }

    fn fill_random(&self, _: &mut [u8]) -> Result<(), HostError> {
        Err(HostError::new(
            std::io::ErrorKind::Unsupported,
            "nothing is random here",
        ))
    }
}

/// Returns an engine and the receiver of a message for each evaluation that reads the clock.
fn engine_with_clock() -> (Engine, mpsc::Receiver<()>) {
    let (runs, running) = mpsc::sync_channel(1);
    (
        Engine::builder().host(Arc::new(Clock(runs))).build(),
        running,
    )
}

/// Runs an evaluation on another thread and cancels it after it has read the clock. Returns its result and a lower
/// bound of the processor time that it used afterwards.
fn cancelled<T: Send>(
    running: &mpsc::Receiver<()>,
    cancel: &Cancel,
    evaluate: impl FnOnce() -> T + Send,
) -> (T, Duration) {
    // an earlier evaluation may have left a message
    let _ = running.try_recv();
    let start = Instant::now();
    thread::scope(|scope| {
        let evaluated = scope.spawn(|| timed(evaluate));
        running.recv().expect("it reads the clock");
        // the evaluation passes the clock meanwhile; otherwise it is cancelled there
        thread::sleep(Duration::from_millis(50));
        cancel.cancel();
        // an upper bound of the processor time before the cancellation
        let before = start.elapsed();
        let (result, taken) = evaluated.join().unwrap();
        (result, taken.saturating_sub(before))
    })
}

/// Long built-in functions end as quickly.
#[test]
fn another_thread_cancels_builtins() {
    let numbers: Vec<Value> = (0..500_000_i64)
        .map(|n| ((n * 7919) % 500_009).into())
        .collect();
    let words: Vec<Value> = numbers
        .iter()
        .map(|n| Value::string(&format!("word{n}", n = n.rego_text())))
        .collect();
    let edges = words.iter().zip(words.iter().skip(1));
    let edges =
        edges.map(|(from, to)| (from.clone(), Value::array(vec![to.clone(), "word0".into()])));
    let input = Value::object(vec![
        ("text".into(), Value::string(&"ab ".repeat(100_000))),
        ("graph".into(), Value::object(edges.collect())),
        ("numbers".into(), Value::array(numbers)),
        ("words".into(), Value::array(words)),
    ]);
    let (engine, running) = engine_with_clock();
    let mut late: Vec<String> = Vec::new();
    for call in [
        "count(numbers.range(1, 30000000))",
        "[1 | some a in input.numbers; some b in input.numbers; a + b < 0]",
        "count([1 | some _ in numbers.range(1, 100000); x := sort(input.numbers)])",
        "count([1 | some _ in numbers.range(1, 100000); x := {n | some n in input.numbers}])",
        "count([1 | some _ in numbers.range(1, 100000); x := sum(input.numbers)])",
        "count([1 | some _ in numbers.range(1, 100000); x := array.concat(input.numbers, input.words)])",
        "count([1 | some _ in numbers.range(1, 100000); x := concat(\",\", input.words)])",
        "count([1 | some _ in numbers.range(1, 100000); x := split(input.text, \" \")])",
        "count([1 | some _ in numbers.range(1, 100000); x := replace(input.text, \"a\", \"cc\")])",
        "count([1 | some _ in numbers.range(1, 100000); x := strings.replace_n({\"a\": \"c\"}, input.text)])",
        "count([1 | some _ in numbers.range(1, 100000); x := upper(input.text)])",
        "count([1 | some _ in numbers.range(1, 100000); x := regex.replace(input.text, \"[ab]+\", \"c\")])",
        "count([1 | some _ in numbers.range(1, 100000); x := regex.find_n(\"[ab]+\", input.text, -1)])",
        "count([1 | some _ in numbers.range(1, 100000); x := json.marshal(input.words)])",
        "count([1 | some _ in numbers.range(1, 100000); x := graph.reachable(input.graph, {\"word0\"})])",
        "graph.reachable_paths(input.graph, {\"word0\"})",
        "count([1 | walk(input, _); walk(input, _)])",
        "count([1 | some _ in numbers.range(1, 100000); x := object.union(input.graph, {\"a\": 1})])",
        "count([1 | some _ in numbers.range(1, 100000); x := {w | some w in input.words} | {1}])",
        "count([1 | some _ in numbers.range(1, 100000); x := json.unmarshal(json.marshal(input.words))])",
        "count([1 | some _ in numbers.range(1, 100000); x := base64.encode(input.text)])",
        "count([1 | some _ in numbers.range(1, 100000); x := crypto.sha256(input.text)])",
        "count([1 | some _ in numbers.range(1, 100000); x := indexof_n(input.text, \"b\")])",
    ] {
        let query = format!("time.now_ns() >= 0; {call}");
        let query = engine.prepare_query(&query).unwrap();
        let cancel = Cancel::default();
        let evaluate = || {
            let request = Request::new().input(&input).cancel(&cancel);
            query.solutions(&request).map(drop)
        };
        let (answer, taken) = cancelled(&running, &cancel, evaluate);
        if taken > END_WITHIN {
            late.push(format!("{call} went on for {taken:?}"));
        }
        if let Err(error) = answer {
            let message = &error.entries()[0].message;
            assert_eq!(message, "caller cancelled query execution", "{call}");
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

/// Maximum processor time between two polls of a built-in, on a slow machine.
const END_WITHIN: Duration = Duration::from_secs(2);

/// A single step on millions of values polls the clock.
#[test]
fn time_ends_long_steps() {
    // without order and repetition, so that sorting takes long
    let scattered = |at: i64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
    let words = |from: i64| {
        let texts = (from..from + MANY).map(|at| format!("word {:x}", scattered(at)));
        Value::array(texts.map(|text| Value::string(&text)).collect())
    };
    let sets = [0, MANY].map(|from| {
        Value::set(
            (from..from + MANY)
                .map(scattered)
                .map(Value::from)
                .collect(),
        )
    });
    let [one, other] = sets;
    let input = Value::object(vec![
        ("words".into(), words(0)),
        ("one".into(), one),
        ("other".into(), other),
    ]);
    let engine = Engine::new();
    let mut late: Vec<String> = Vec::new();
    for call in [
        "sort(input.words)",
        "input.one | input.other",
        "input.one - input.other",
        "union({input.one, input.other})",
        "{x | some x in input.words}",
        "object.keys({x: 1 | some x in input.words})",
    ] {
        let query = engine.prepare_query(&format!("x := {call}")).unwrap();
        let limits = NONE.time(Some(Duration::from_millis(50)));
        let request = Request::new().input(&input).limits(&limits);
        let (error, taken) = timed(|| query.solutions(&request));
        let error = error.unwrap_err();
        assert_eq!(
            error.entries()[0].message,
            "evaluation exceeds its time limit",
            "{call}"
        );
        assert_eq!(error.kind(), ErrorKind::Timeout, "{call}");
        if taken > END_WITHIN {
            late.push(format!("{call} went on for {taken:?}"));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

/// Processing so many values takes far longer than the interval between two polls.
const MANY: i64 = if cfg!(debug_assertions) {
    1_000_000
} else {
    4_000_000
};

/// Long loops inside a built-in function poll the limits, too.
#[test]
fn builtins_are_bounded() {
    let engine = Engine::new();
    for call in [
        "numbers.range(1, 1000000000000)",
        "sprintf(\"%1000000000d\", [1])",
        "count(numbers.range(1, 100000000))",
        "graph.reachable(input.graph, {0})",
        "{x | walk(input.deep, [x, _])}",
        "strings.replace_n({\"a\": input.text}, input.text)",
        "replace(input.text, \"a\", input.text)",
        "concat(input.text, split(input.text, \"\"))",
    ] {
        let text = Value::string(&"a".repeat(100_000));
        let input = Value::object(vec![("text".into(), text)]);
        let limits = NONE
            .time(Some(Duration::from_millis(100)))
            .memory(Some(64 << 20));
        on_small_stack(call, || {
            let query = engine.prepare_query(call).unwrap();
            drop(query.solutions(&Request::new().input(&input).limits(&limits)));
        });
    }
}

#[test]
fn prints_are_bounded_as_well() {
    let engine = Engine::new();
    let module = "package t\np := count([1 | some x in numbers.range(1, 100000); print(x, input)])\nflood if {\n\tsome x in numbers.range(1, 10000)\n\tsome y in numbers.range(1, 10000)\n\tprint(x, y)\n\tx < 0\n}\n";
    engine.set_module("t.rego", module).unwrap();
    let lines = Cell::new(0_u32);
    let print = |line: &str| {
        assert!(!line.is_empty());
        lines.set(lines.get() + 1);
    };
    let asked = Request::new().print(&print);
    let found = engine
        .prepare_document("data.t.p")
        .unwrap()
        .evaluate(&asked);
    assert_eq!(found.unwrap(), Some(100_000.into()));
    assert_eq!(lines.get(), 100_000);
    let limits = NONE.steps(Some(50_000));
    let error = engine
        .prepare_document("data.t.flood")
        .unwrap()
        .evaluate(&asked.limits(&limits));
    assert!(error.is_err());
}
