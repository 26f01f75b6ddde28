//! GraphQL documents that are deep, large, cyclic or invalid.

use std::fmt::Write;

use solon::internal::limits::GRAPHQL_STEPS;
use solon::internal::value::json;
use solon::{Engine, Request};

use crate::on_small_stack;

const LEVELS: usize = 100_000;

/// Returns the error of `graphql.parse`, if it fails.
fn problem(what: &str, query: &str, schema: &str) -> Option<String> {
    let input = serde_json::json!({"query": query, "schema": schema}).to_string();
    on_small_stack(what, || {
        let input = json::read(input.as_bytes()).unwrap();
        let request = Request::new().input(&input).strict_builtin_errors(true);
        let engine = Engine::new();
        let evaluate = |call: &str| {
            let query = engine.prepare_query(&format!("x := graphql.{call}"));
            query.unwrap().solutions(&request)
        };
        let parsed = evaluate("parse(input.query, input.schema)");
        let valid = evaluate("is_valid(input.query, input.schema)").unwrap();
        assert_eq!(valid[0].bindings[0].1, parsed.is_ok(), "{what}");
        let error = parsed.err()?;
        Some(error.entries()[0].message.clone())
    })
}

fn expect(what: &str, query: &str, schema: &str, wanted: &str) {
    let found = problem(what, query, schema).unwrap_or_default();
    let start: String = found.chars().take(300).collect();
    assert!(found.contains(wanted), "{what}: {start}");
}

const SCHEMA: &str = "type Query { a(x: Int, l: L, i: I): Query b: Query n: Int s: String } \
    scalar L input I { i: I l: [[Int]] n: Int }";

#[test]
fn nesting() {
    let deep = "nested too deep";
    for (open, close) in [("{a", "}"), ("{...", "}"), ("{... on Query", "}")] {
        let closed = open.repeat(LEVELS) + &close.repeat(LEVELS);
        expect(open, &closed, SCHEMA, deep);
        expect(open, &open.repeat(LEVELS), SCHEMA, deep);
    }
    for (open, close) in [("[", "]"), ("{i:", "}")] {
        let value = open.repeat(LEVELS) + "1" + &close.repeat(LEVELS);
        expect(open, &format!("{{a(i: {value})}}"), SCHEMA, deep);
        let schema = format!("type Query {{ a(x: Int = {value}): Int }}");
        expect(open, "{a}", &schema, deep);
    }
    let of = "[".repeat(LEVELS) + "Int" + &"]".repeat(LEVELS);
    expect("type", &format!("query($x: {of}) {{ n }}"), SCHEMA, deep);
    expect("type", "{a}", &format!("type Query {{ a: {of} }}"), deep);
    let below = format!("{}n{}", "{a".repeat(150) + "{", "}".repeat(151));
    assert_eq!(problem("deep, but not too deep", &below, SCHEMA), None);
    let value = "{i:".repeat(120) + "{n:1}" + &"}".repeat(120);
    let query = format!("{{a(i: {value}) {{n}}}}");
    assert_eq!(problem("deep, but not too deep", &query, SCHEMA), None);
}

/// Returns fragments whose bodies are computed from their numbers.
fn fragments(count: usize, body: impl Fn(usize) -> String) -> String {
    let mut text = String::from("{ ...F0 }\n");
    for index in 0..count {
        let body = body(index);
        writeln!(text, "fragment F{index} on Query {{ {body} }}").unwrap();
    }
    text + &format!("fragment F{count} on Query {{ n }}")
}

#[test]
fn fragments_that_use_fragments() {
    let next = |index: usize| index + 1;
    let chain = fragments(10_000, |index| format!("...F{}", next(index)));
    expect("chain", &chain, SCHEMA, "nested too deep");
    let chain = fragments(300, |index| format!("a {{ ...F{} }}", next(index)));
    assert_eq!(problem("short chain", &chain, SCHEMA), None);
    let wide = fragments(300, |index| {
        let index = next(index);
        format!("...F{index} a {{ ...F{index} b {{ ...F{index} }} }} b {{ ...F{index} }}")
    });
    problem("many ways", &wide, SCHEMA);
    // two selection sets are compared once, even if many paths lead to them
    let pairs = fragments(40, |index| {
        let index = next(index);
        format!("a {{ ...F{index} }} a {{ ...F{index} }}")
    });
    let deep = "a {".repeat(40) + "n" + &"}".repeat(40);
    let pairs = pairs.replacen("...F0", &format!("...F0 {deep}"), 1);
    assert_eq!(problem("pairs", &pairs, SCHEMA), None);
    let introspection = fragments(60, |index| {
        let index = next(index);
        format!("ofType {{ ...F{index} }} ofType {{ ...F{index} }}")
    });
    let introspection = introspection.replace("on Query", "on __Type");
    let introspection = introspection.replacen("...F0", "__type(name: \"x\") { ...F0 }", 1);
    problem(
        "introspection",
        &introspection.replace("{ n }", "{ name }"),
        SCHEMA,
    );
}

#[test]
fn fragment_cycles() {
    let cycle = "Cannot spread fragment \"F";
    for body in [
        "...F",
        "a { ...F }",
        "a { ...F } a { ...F }",
        "a { ...F } a { a { ...F } }",
        "a { ...F n } a { a { ...F n } n }",
        "... { ... on Query { ...F } }",
        "a { ...F b { ...F } } b { ...F a { ...F a { ...F } } }",
    ] {
        let query = format!("{{ a {{ ...F }} ...F }} fragment F on Query {{ {body} }}");
        expect(body, &query, SCHEMA, cycle);
    }
    let ring = fragments(300, |index| {
        format!("a {{ ...F{} }} b {{ ...F0 }}", index + 1)
    });
    expect("ring", &ring, SCHEMA, cycle);
    let all: String = (0..60).map(|index| format!("...F{index} ")).collect();
    let knot = fragments(60, |_| format!("a {{ {all} }} {all}"));
    assert!(problem("knot", &knot, SCHEMA).is_some());
    let schema = "type Query { a(i: A0): Int }";
    let schema = (0..2000).fold(schema.to_owned(), |mut schema, index| {
        let next = (index + 1) % 2000;
        write!(schema, " input A{index} {{ a: A{next}! b: [A0!]! }}").unwrap();
        schema
    });
    expect("inputs", "{ a }", &schema, "within itself");
}

#[test]
fn sizes() {
    let many = |what: &str, count: usize| what.repeat(count);
    for (what, query) in [
        ("fields", format!("{{ {} }}", many("n ", 1000))),
        ("aliases", {
            let fields: String = (0..20_000).map(|index| format!("n{index}: n ")).collect();
            format!("{{ {fields} }}")
        }),
        (
            "list",
            format!("{{ a(l: [{}]) {{ n }} }}", many("1 ", 100_000)),
        ),
        (
            "objects",
            format!("{{ a(l: [{}]) {{ n }} }}", many("{a: {b: 1}} ", 20_000)),
        ),
        (
            "block",
            format!("{{ a(l: \"\"\"{}\"\"\") {{ n }} }}", many("  x\n", 100_000)),
        ),
        (
            "escapes",
            format!("{{ a(l: \"{}\") {{ n }} }}", many("\\u00e9", 100_000)),
        ),
        ("comments", format!("{} {{ n }}", many("# x\n", 100_000))),
        ("operations", {
            let operations: String = (0..10_000)
                .map(|index| format!("query Q{index} {{ n }} "))
                .collect();
            operations
        }),
    ] {
        assert_eq!(problem(what, &query, SCHEMA), None, "{what}");
    }
    for (what, query) in [
        ("same field", format!("{{ {} }}", many("a { n } ", 10_000))),
        ("unknown fields", format!("{{ {} }}", many("zz ", 100_000))),
        (
            "unknown arguments",
            format!("{{ a({}) {{ n }} }}", many("zz: 1 ", 50_000)),
        ),
        ("long name", format!("{{ {} }}", many("z", 1_000_000))),
        (
            "directives",
            format!("{{ n {} }}", many("@skip(if: true) ", 50_000)),
        ),
        (
            "variables",
            format!("query({}) {{ n }}", many("$x: Int ", 50_000)),
        ),
        ("nested lists", {
            let lists = many("[", 300) + &many("\"s\" ", 20_000) + &many("]", 300);
            format!("{{ a(i: {{ l: {lists} }}) {{ n }} }}")
        }),
        ("spreads by operations", {
            let operations: String = (0..3000)
                .map(|index| format!("query Q{index} {{ ...F }} "))
                .collect();
            format!(
                "{operations} fragment F on Query {{ {} }}",
                many("n s ", 3000)
            )
        }),
        ("unused fragments", {
            let fragments: String = (0..20_000)
                .map(|index| format!("fragment F{index} on Query {{ n }} "))
                .collect();
            format!("{{ n }} {fragments}")
        }),
    ] {
        assert!(problem(what, &query, SCHEMA).is_some(), "{what}");
    }
}

#[test]
fn large_schemas() {
    let listed =
        |count: usize, item: &dyn Fn(usize) -> String| -> String { (0..count).map(item).collect() };
    let fields = listed(10_000, &|index| format!("f{index}: Int "));
    let arguments = listed(10_000, &|index| format!("a{index}: Int "));
    let members = listed(5000, &|index| format!("| M{index} "));
    let types = listed(5000, &|index| format!("type M{index} {{ n: Int }} "));
    let of_members = listed(5000, &|index| format!("f{index}: M{index} "));
    let of_union = listed(5000, &|index| format!("f{index}: U "));
    let interfaces = listed(3000, &|index| format!("& I{index} "));
    let of_interfaces = listed(3000, &|index| format!("interface I{index} {{ n: Int }} "));
    let given = listed(10_000, &|index| format!("a{index}: 1 "));
    let inputs = listed(3000, &|index| {
        format!("input A{index} {{ a: A{}! }} ", index + 1)
    });
    for (what, schema) in [
        (
            "fields",
            format!("interface I {{ {fields} }} type Query implements I {{ {fields} }}"),
        ),
        (
            "arguments",
            format!(
                "interface I {{ f({arguments}): Int }} type Query implements I {{ f({arguments}): Int }}"
            ),
        ),
        (
            "members",
            format!(
                "union U = {members} {types} interface I {{ {of_union} }} type Query implements I {{ {of_members} }}"
            ),
        ),
        (
            "interfaces",
            format!(
                "{of_interfaces} interface A implements {interfaces} {{ n: Int }} type Query implements A {interfaces} {{ n: Int }}"
            ),
        ),
        (
            "directives",
            format!(
                "directive @d({arguments}) on OBJECT type Query @d({given}) @d({given}) {{ n: Int }}"
            ),
        ),
        (
            "inputs",
            format!("{inputs} input A3000 {{ a: Int }} type Query {{ n(a: A0): Int }}"),
        ),
    ] {
        assert_eq!(problem(what, "{ __typename }", &schema), None, "{what}");
        assert!(problem(what, "{ zz }", &schema).is_some(), "{what}");
    }
}

#[test]
fn fields_of_the_same_name_are_compared_up_to_a_limit() {
    // each pair of fields is a step
    let pairs = |fields: usize| fields * (fields - 1) / 2;
    let most = (2..).take_while(|fields| pairs(*fields) <= GRAPHQL_STEPS);
    let most = most.last().unwrap();
    let query = |fields: usize| format!("{{ {} }}", "s ".repeat(fields));
    assert_eq!(problem("most pairs", &query(most), SCHEMA), None);
    let words = "takes too long to validate";
    expect("too many pairs", &query(most + 1), SCHEMA, words);
    // subfields are compared with those of all other fields of the same name
    let nested = |fields: usize| format!("{{ {} }}", "b { b { s s } } ".repeat(fields));
    assert_eq!(problem("nested pairs", &nested(32), SCHEMA), None);
    expect("too many nested pairs", &nested(most), SCHEMA, words);
}
