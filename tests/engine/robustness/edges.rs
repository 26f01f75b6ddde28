//! Limits at their edges: the largest allowed size works, and the next one is rejected with a message that names the
//! limit.

use std::cell::Cell;
use std::fmt::Write;
use std::sync::Arc;

use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, Wait};
use solon::internal::limits::{
    BUFFERED_PRINTS, CALL_DEPTH, ERRORS, GRAPHQL_NESTING, LARGE_OPERAND, LOOKUP_COMBINATIONS,
    NUMBER_BITS, POLL_BYTES, RESPONSE_BYTES, SCHEMA_DEPTH, SEARCH_DEPTH, TEMPLATE_DEPTH,
    TRACEBACK_STEPS,
};
use solon::trace::Detail;
use solon::{Cancel, Engine, Error, Host, HostFunction, Limits, Request, Value};

use crate::on_small_stack;

/// A limit of a policy.
struct Edge {
    name: &'static str,
    largest: usize,
    /// Returns a module whose `p` uses a value of a size, and the input.
    policy: fn(usize) -> (String, Value),
    /// Value of `p` at the largest size.
    answer: &'static str,
    /// Error message at the next size.
    error: &'static str,
}

#[expect(clippy::cast_possible_truncation, reason = "the bound is small")]
const EDGES: &[Edge] = &[
    Edge {
        name: "NUMBER_BITS",
        largest: NUMBER_BITS as usize,
        policy: |size| {
            let shift = (size - 1).to_string();
            let text = format!("p := bits.rsh(bits.lsh(input, {shift}), {shift})");
            (text, 1.into())
        },
        answer: "1",
        error: "bits.lsh: number too big",
    },
    Edge {
        name: "NUMBER_EXPONENT",
        // 2^100000 is between this power of ten and the next
        largest: 30_102,
        policy: |size| (format!("p := 1e{size} > input"), 1.into()),
        answer: "true",
        error: "number too big",
    },
    Edge {
        name: "TEMPLATE_DEPTH",
        largest: TEMPLATE_DEPTH,
        policy: |size| {
            let template = "{{define \"t\"}}{{if .}}{{template \"t\" (slice . 1)}}{{end}}{{end}}{{template \"t\" .a}}";
            let text = format!("p := strings.render_template(`{template}`, {{\"a\": input}})");
            (text, Value::array(vec![1.into(); size - 1]))
        },
        answer: "\"\"",
        error: "exceeded maximum template depth (10000)",
    },
    Edge {
        name: "SCHEMA_DEPTH",
        largest: SCHEMA_DEPTH,
        // each level of the document takes a hundred levels, and its innermost property the rest
        policy: |size| {
            let within = |levels: usize, inner: &str| {
                format!(
                    "{}{inner}{}",
                    "{\"allOf\": [".repeat(levels),
                    "]}".repeat(levels)
                )
            };
            let (levels, rest) = ((size + 1) / 100 - 1, (size + 1) % 100);
            let last = within(rest - 1, "{}");
            let part = format!(
                "{{\"properties\": {{\"x\": {{\"$ref\": \"#/definitions/a\"}}, \"y\": {last}}}}}"
            );
            let part = within(98, &part);
            let text = format!(
                "p := json.match_schema(input, {{\"$ref\": \"#/definitions/a\", \"definitions\": {{\"a\": {part}}}}})[0]"
            );
            let object = |name: &str, inner| Value::object(vec![(name.into(), inner)]);
            let document = (0..levels).fold(object("y", 1.into()), |inner, _| object("x", inner));
            (text, document)
        },
        answer: "true",
        error: "schema is nested too deeply",
    },
    Edge {
        name: "LOOKUP_COMBINATIONS",
        largest: LOOKUP_COMBINATIONS,
        policy: |size| {
            let keys: Vec<String> = (0..size).map(|at| format!("\"k{at}\"")).collect();
            let keys = keys.join(", ");
            let text = format!(
                "r.z := 1 if {{ some k in [{keys}]; data.t.r[k] }}\np := count(data.t.r) + input"
            );
            (text, 1.into())
        },
        answer: "1",
        error: "rule data.t.r.z may be recursive",
    },
];

fn evaluate(edge: &Edge, size: usize) -> Result<Option<Value>, Error> {
    let (policy, input) = (edge.policy)(size);
    on_small_stack(edge.name, || {
        // the largest one may need more memory than the default limit
        let limits = solon::Limits::default().memory(None);
        let engine = Engine::builder().limits(limits).build();
        engine.set_module("t.rego", &format!("package t\n{policy}\n"))?;
        let request = Request::new().input(&input).strict_builtin_errors(true);
        engine.prepare_document("data.t.p")?.evaluate(&request)
    })
}

#[test]
fn the_largest_size_works_and_the_next_is_rejected() {
    for edge in EDGES {
        let largest = evaluate(edge, edge.largest);
        let largest = largest.map(|found| found.map(|found| found.rego_text().to_string()));
        assert_eq!(
            largest.unwrap().as_deref(),
            Some(edge.answer),
            "{}",
            edge.name
        );
        let error = evaluate(edge, edge.largest + 1).unwrap_err();
        let message = error.entries().remove(0).message;
        assert!(
            message.contains(edge.error),
            "{} is told: {message}",
            edge.name
        );
    }
}

#[test]
fn as_many_errors_as_allowed_are_reported() {
    let told = |unsafe_rules: usize| {
        let rules = (0..unsafe_rules).map(|at| format!("p{at} := x{at}\n"));
        let module = format!("package t\n{}", rules.collect::<String>());
        let error = Engine::new().set_module("t.rego", &module).unwrap_err();
        let mut entries = error.entries();
        (entries.len(), entries.pop().unwrap().message)
    };
    let last = |at: usize| format!("var x{at} is unsafe");
    assert_eq!(told(ERRORS - 1), (ERRORS - 1, last(ERRORS - 2)));
    // reaching the limit is reported, too, as in OPA
    let reached = || (ERRORS + 1, "error limit reached".to_owned());
    assert_eq!(told(ERRORS), reached());
    assert_eq!(told(ERRORS + 1), reached());
}

#[test]
fn graphql_nests_as_deep_as_allowed() {
    // a field and the fragment spread in it are two levels
    let is_valid = |levels: usize| {
        let mut text = "{ ...F0 } ".to_owned();
        for at in 0..levels {
            write!(
                text,
                "fragment F{at} on Query {{ a {{ ...F{} }} }} ",
                at + 1
            )
            .unwrap();
        }
        write!(text, "fragment F{levels} on Query {{ b }}").unwrap();
        on_small_stack("graphql", || {
            let query = "graphql.is_valid(input, \"type Query { a: Query b: Int }\")";
            let query = Engine::new().prepare_query(query).unwrap();
            let found = query.solutions(&Request::new().input(&Value::string(&text)));
            found.unwrap()[0].values[0].rego_text().to_string()
        })
    };
    assert_eq!(is_valid(GRAPHQL_NESTING / 2 - 1), "true");
    assert_eq!(is_valid(GRAPHQL_NESTING / 2), "false");
}

/// Returns `true` if an evaluation that is cancelled after it has begun ends at a poll of the query.
fn is_cancelled(query: &str, input: &Value) -> bool {
    let cancel = Cancel::default();
    let handle = cancel.clone();
    let stop = HostFunction::new("stop", "x: number => stopped: boolean", move |_, _| {
        handle.cancel();
        Ok(true.into())
    });
    let engine = Engine::builder().function(stop.unwrap()).unwrap().build();
    let query = engine.prepare_query(&format!("stop(1); {query}")).unwrap();
    match query.solutions(&Request::new().input(input).cancel(&cancel)) {
        Ok(_) => false,
        Err(error) => {
            let message = error.entries().remove(0).message;
            assert_eq!(message, "caller cancelled query execution");
            true
        }
    }
}

fn numbers(len: usize) -> Value {
    Value::array((0..).take(len).map(Value::from).collect())
}

#[test]
fn large_operands_poll() {
    let query = "count(input) > 0";
    assert!(!is_cancelled(query, &numbers(LARGE_OPERAND)));
    assert!(is_cancelled(query, &numbers(LARGE_OPERAND + 1)));
}

#[test]
fn writing_long_texts_polls() {
    let of_bytes = |bytes: usize| {
        let part = Value::string(&"x".repeat(1_000));
        let parts = Value::array(vec![part; bytes / 1_000]);
        Value::object(vec![("parts".into(), parts)])
    };
    let query = "x := json.marshal(input)";
    assert!(!is_cancelled(query, &of_bytes(POLL_BYTES * 9 / 10)));
    assert!(is_cancelled(query, &of_bytes(POLL_BYTES * 11 / 10)));
}

/// Returns rules that call one another, with ten loops in each.
fn deep(rules: usize) -> Engine {
    let loops = "some _ in input; ".repeat(10);
    let mut module = format!("package t\nr{rules} if input\n");
    for at in 0..rules {
        writeln!(module, "r{at} if {{ {loops}r{} }}", at + 1).unwrap();
    }
    let engine = Engine::new();
    engine.set_module("t.rego", &module).unwrap();
    engine
}

#[test]
fn evaluations_and_searches_nest_as_deep_as_allowed() {
    let input = Value::array(vec![1.into()]);
    let evaluated = |rules: usize| {
        on_small_stack("a deep evaluation", || {
            let document = deep(rules).prepare_document("data.t.r0").unwrap();
            document.evaluate(&Request::new().input(&input))
        })
    };
    assert_eq!(evaluated(CALL_DEPTH / 12).unwrap(), Some(true.into()));
    let too_deep = "evaluation is nested too deeply";
    let message = |error: Error| error.entries().remove(0).message;
    assert_eq!(message(evaluated(CALL_DEPTH / 10).unwrap_err()), too_deep);
    let searched = |rules: usize| {
        on_small_stack("a deep search", || {
            let query = deep(rules).prepare_query("data.t.r0").unwrap();
            let request = Request::new().input(&input);
            query.explain(&request, Detail::Notes).result
        })
    };
    assert!(searched(SEARCH_DEPTH / 40).is_ok());
    assert_eq!(message(searched(SEARCH_DEPTH / 10).unwrap_err()), too_deep);
}

#[test]
fn errors_are_searched_for_a_while() {
    let stack = |turns: u64| {
        let engine = Engine::new();
        let module = "package t\np if {\n\tsome x in numbers.range(1, input)\n\tx == input\n\tto_number(\"x\")\n}\n";
        engine.set_module("t.rego", module).unwrap();
        let input = Value::from(i64::try_from(turns).unwrap());
        let request = Request::new().input(&input).strict_builtin_errors(true);
        let error = engine
            .prepare_document("data.t.p")
            .unwrap()
            .evaluate(&request);
        error.unwrap_err().entries().remove(0).stack.len()
    };
    assert_ne!(stack(TRACEBACK_STEPS / 4), 0);
    assert_eq!(stack(TRACEBACK_STEPS), 0);
}

#[test]
fn printed_lines_are_buffered_up_to_a_limit() {
    // lines that are printed before the end of the evaluation can cancel it
    let end = |bytes: usize| {
        let engine = Engine::new();
        let module = "package t\nn := numbers.range(1, 1000)\np if {\n\tprint(input)\n\tsome a in n\n\tsome b in n\n\ta + b < 0\n}\n";
        engine.set_module("t.rego", module).unwrap();
        let (input, cancel) = (Value::string(&"x".repeat(bytes)), Cancel::default());
        let lines = Cell::new(0);
        let print = |_: &str| {
            lines.set(lines.get() + 1);
            cancel.cancel();
        };
        let limits = Limits::default().steps(Some(100_000));
        let request = Request::new().input(&input).print(&print);
        let request = request.cancel(&cancel).limits(&limits);
        let ended = engine
            .prepare_document("data.t.p")
            .unwrap()
            .evaluate(&request);
        assert_eq!(lines.get(), 1);
        ended.unwrap_err().entries().remove(0).message
    };
    assert_eq!(end(BUFFERED_PRINTS), "evaluation exceeds its step limit");
    assert_eq!(end(BUFFERED_PRINTS + 1), "caller cancelled query execution");
}

/// A host whose response has the number of bytes in the request.
struct Measured;

impl Host for Measured {
    fn now_ns(&self) -> i64 {
        0
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        buffer.fill(0);
        Ok(())
    }

    fn send(&self, request: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        let limit = request.body_limit.to_string();
        Ok(HttpResponse::new(200).reason("OK").body(limit))
    }
}

#[test]
fn bodies_are_as_long_as_allowed() {
    let engine = Engine::builder().host(Arc::new(Measured)).build();
    let query = "http.send({\"method\": \"get\", \"url\": \"http://a/\"}).raw_body";
    let query = engine.prepare_query(query).unwrap();
    let told = |request: &Request<'_>| {
        let told = query.solutions(request).unwrap()[0].values[0]
            .rego_text()
            .to_string();
        told.trim_matches('"').parse::<usize>().unwrap()
    };
    assert_eq!(told(&Request::new()), RESPONSE_BYTES);
    // nor longer than the remaining memory
    let limits = Limits::default().memory(Some(RESPONSE_BYTES / 2));
    let left = told(&Request::new().limits(&limits));
    assert!(
        left <= RESPONSE_BYTES / 2 && left > RESPONSE_BYTES / 4,
        "{left}"
    );
}
