//! Types stay small, and type checking takes linear time, for any program. Every test runs on a stack of 256 KB; with
//! more than linear time it would not finish.

use super::{compile_small, large};

fn messages(text: String) -> Vec<String> {
    match compile_small(text) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.0.into_iter().map(|error| error.message).collect(),
    }
}

#[test]
fn types_that_double_with_each_rule() {
    let doubling = |number| {
        let next = number + 1;
        format!(
            "p{next} := [p{number}, p{number}]\nq{next} := [q{number}, q{number}]\nr{number} if p{next} == q{next}\n"
        )
    };
    let rules: String = (0..1_000).map(doubling).collect();
    let rules = format!("package large\n\n{rules}");
    assert_eq!(messages(rules + "p0 := 1\nq0 := 2\n"), [""; 0]);
}

#[test]
fn types_that_nest_deeper_with_each_rule() {
    let rules = large(|number| {
        let next = number + 1;
        format!("p{next} := {{\"a\": p{number}}}\nq{number} if p{next}.a == p{number}")
    });
    assert_eq!(messages(rules + "p0 := 1\n"), [""; 0]);
}

#[test]
fn documents_of_many_types() {
    let rules = large(|number| {
        format!(
            "p := {{\"k{number}\": 1}} if input.x == {number}\nf(x) := {{\"k{number}\": x}} if x == {number}"
        )
    });
    let uses = "q if p.k9999 == \"x\"\nr if f(1).k0 == \"x\"\ns if p.k10000\n";
    assert_eq!(
        messages(rules + uses),
        [
            "match error",
            "match error",
            "undefined ref: data.large.p.k10000"
        ]
    );
}

#[test]
fn documents_of_many_keys() {
    let rules = large(|number| {
        format!(
            "p.k{number} := {number}\nq{number} if {{ some x, y; p[x][y]; input.z == {number} }}"
        )
    });
    assert_eq!(messages(rules + "r if p.k1 == \"x\"\n"), ["match error"]);
}

#[test]
fn calls_of_many_replaced_rules() {
    let rules = large(|number| {
        format!(
            "p{number} := p{} if q\ntest_{number} if p0 with q as 1",
            number + 1
        )
    });
    assert_eq!(messages(rules + "p10000 := 1\nq := 2\n"), [""; 0]);
}

#[test]
fn literals_of_many_elements() {
    let rows: Vec<_> = (0..20_000)
        .map(|number| format!("{{\"id\": {number}}}"))
        .collect();
    let rules = format!("package large\n\nrows := [{}]\n\n", rows.join(", "));
    let uses = "p if some row in rows\n\nq if rows[_].id == \"x\"\n\nr if rows[7].nope\n";
    assert_eq!(
        messages(rules + uses),
        ["match error", "undefined ref: data.large.rows[7].nope"]
    );
}

#[test]
fn comprehensions_in_comprehensions() {
    let depth = 60;
    let open: String = (0..depth)
        .map(|number| format!("[x{number} | x{number} := "))
        .collect();
    let text = format!(
        "package large\n\np := {open}lower(1){}\n",
        "]".repeat(depth)
    );
    assert_eq!(messages(text), ["lower: invalid argument(s)"]);
}
