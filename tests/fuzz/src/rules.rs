//! Modules of a few rules.

use std::fmt::Write as _;
use std::sync::LazyLock;

use solon::internal::builtins;
use solon::internal::types::Type;

use crate::terms::any;
use crate::{Choices, term};

const OPERATORS: &[&str] = &[
    "==", "=", "!=", "<", ">=", "+", "-", "*", "/", "%", "&", "|",
];

/// Built-ins ordered by name, since the table has no order. `SOLON_FAMILY` selects those whose names start with one of
/// some prefixes, such as `regex.,glob.`.
static BUILTINS: LazyLock<Vec<(&'static str, &'static Type)>> = LazyLock::new(|| {
    let mut all: Vec<_> = builtins::all()
        .map(|entry| (entry.builtin.name, &*entry.declaration))
        .collect();
    all.retain(|(name, _)| name.starts_with(|c: char| c.is_ascii_lowercase()));
    if let Ok(families) = std::env::var("SOLON_FAMILY") {
        all.retain(|(name, _)| families.split(',').any(|family| name.starts_with(family)));
        assert!(!all.is_empty(), "no built-in is of {families}");
    }
    all.sort_by_key(|(name, _)| *name);
    all
});

/// Returns a module of package `t`, whose rules are `r0`, `r1`, ….
pub fn module(choices: &mut Choices<'_>) -> String {
    let mut text = "package t\n\nimport data.base\n".to_owned();
    for number in 0..1 + choices.less_than(6) {
        let _ = writeln!(text, "\n{}", rule(choices, number));
    }
    text
}

fn rule(choices: &mut Choices<'_>, number: usize) -> String {
    // rules of one name share a document
    let name = if choices.rarely() { 0 } else { number };
    let head = match choices.less_than(7) {
        0 => format!("r{name} := {}", any(choices)),
        1 => format!("r{name} contains {}", any(choices)),
        2 => format!("r{name}[{}] := {}", any(choices), any(choices)),
        3 => format!("r{name}(x0) := {}", any(choices)),
        4 => format!("r{name}.b[x1].c := {}", any(choices)),
        5 => format!("r{name}"),
        _ => format!("r{name}.b contains {}", any(choices)),
    };
    let default = if choices.rarely() {
        format!("default r{name} := 1\n")
    } else {
        String::new()
    };
    let mut rule = format!("{default}{head} if {{\n{}}}", body(choices));
    if choices.rarely() {
        let _ = write!(rule, " else := {} if {{\n{}}}", any(choices), body(choices));
    }
    rule
}

fn body(choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    for _ in 0..1 + choices.less_than(4) {
        let _ = writeln!(text, "\t{}", literal(choices));
    }
    text
}

fn literal(choices: &mut Choices<'_>) -> String {
    let plain = match choices.less_than(8) {
        0 | 1 => format!("x{} := {}", choices.less_than(3), composed(choices, 2)),
        2 => format!("some x{} in {}", choices.less_than(3), any(choices)),
        3 => format!(
            "some x{}, x{} in {}",
            choices.less_than(2),
            choices.less_than(3),
            any(choices)
        ),
        4 => format!(
            "every x{} in {} {{ {} }}",
            choices.less_than(3),
            any(choices),
            composed(choices, 1)
        ),
        5 => format!("not {}", composed(choices, 1)),
        6 => format!("walk({}, [x0, x1])", any(choices)),
        _ => composed(choices, 2),
    };
    if choices.rarely() {
        let target = choices.pick(&["input", "input.a", "data.base.list", "data.t.r0", "count"]);
        return format!("{plain} with {target} as {}", any(choices));
    }
    plain
}

/// Returns a computed term.
pub fn composed(choices: &mut Choices<'_>, levels: usize) -> String {
    if levels == 0 || choices.is_empty() {
        return any(choices);
    }
    match choices.less_than(8) {
        0..=2 => {
            let (name, operands) = call(choices);
            format!("{name}({})", operands.join(", "))
        }
        3 => {
            let (left, right) = (any(choices), any(choices));
            format!("{left} {} {right}", choices.pick(OPERATORS))
        }
        4 => format!(
            "{}[{}]",
            choices.pick(&["input", "base", "data.t", "r0", "x0"]),
            any(choices)
        ),
        5 => format!("[{} | {}]", any(choices), literal(choices)),
        6 => format!(
            "{{{} | {}; {}}}",
            any(choices),
            literal(choices),
            literal(choices)
        ),
        _ => format!(
            "{{{}: {} | {}}}",
            any(choices),
            any(choices),
            literal(choices)
        ),
    }
}

/// Returns the name of a built-in, and operands of the declared types.
pub fn call(choices: &mut Choices<'_>) -> (&'static str, Vec<String>) {
    let (name, declaration) = BUILTINS[choices.less_than(BUILTINS.len())];
    let operands = declaration
        .as_function()
        .map_or(&[][..], |function| &function.args);
    let operands = operands.iter().map(|operand| term(choices, &operand.of));
    (name, operands.collect())
}
