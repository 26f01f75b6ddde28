//! Themes: the kinds of programs and their contents.

use super::merging;
use super::mistakes;
use super::rule::Dialect;
use super::rules::{self, Scheme};
use super::writer::Writer;
use super::{conflicts, functions, modifiers, refheads};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Values,
    Iteration,
    Comprehensions,
    Functions,
    Chains,
    Heads,
    Merging,
    With,
    Conflicts,
    Builtins,
    Queries,
    Packages,
    Dialects,
    Logic,
    Mistakes,
    Forms,
    Joins,
    Tables,
    Layouts,
    Keys,
    Scopes,
}

use Theme::{
    Builtins, Chains, Comprehensions, Conflicts, Dialects, Forms, Functions, Heads, Iteration,
    Joins, Keys, Layouts, Logic, Merging, Mistakes, Packages, Queries, Scopes, Tables, Values,
    With,
};

type Weights = &'static [(usize, Scheme)];

const ANY: Weights = &[
    (4, rules::complete_value),
    (3, rules::flag),
    (4, rules::partial_set),
    (3, rules::partial_object),
    (2, rules::collected),
    (1, rules::chain),
    (1, functions::computing),
];

const ITERATION: Weights = &[
    (4, rules::partial_set),
    (4, rules::partial_object),
    (3, rules::join),
    (2, rules::flag),
    (2, rules::all_of),
];
const COMPREHENSIONS: Weights = &[
    (4, rules::collected),
    (3, rules::grouping),
    (3, rules::aggregate),
    (1, rules::all_of),
];
const FUNCTIONS: Weights = &[
    (3, functions::computing),
    (3, functions::by_cases),
    (3, functions::by_pattern),
    (3, functions::predicate),
    (2, functions::chained),
];
const HEADS: Weights = &[
    (2, refheads::fixed_paths),
    (4, refheads::variable_paths),
    (3, refheads::grouped_sets),
    (2, refheads::mixed_keys),
    (1, refheads::nested_function),
];
const WITH: Weights = &[
    (4, modifiers::replaced_document),
    (2, modifiers::modified_condition),
    (2, modifiers::replaced_rule),
    (2, modifiers::replaced_builtin),
    (2, modifiers::replaced_function),
];
const CONFLICTS: Weights = &[
    (3, conflicts::complete),
    (3, conflicts::clauses),
    (3, conflicts::keys),
    (2, conflicts::paths),
    (1, conflicts::chains),
];
/// Bodies whose parts are joined by `and` and `or`.
const LOGIC: Weights = &[
    (5, rules::flag),
    (3, rules::partial_set),
    (3, rules::chain),
    (2, rules::collected),
    (2, functions::predicate),
    (1, rules::all_of),
];
/// Contents that are valid in version 0.
const OLD: Weights = &[
    (4, rules::complete_value),
    (3, rules::flag),
    (4, rules::partial_set),
    (4, rules::partial_object),
    (2, rules::chain),
    (2, rules::collected),
    (2, functions::computing),
    (1, functions::by_cases),
    (1, modifiers::replaced_document),
];

impl Theme {
    pub const ALL: [Self; 21] = [
        Values,
        Iteration,
        Comprehensions,
        Functions,
        Chains,
        Heads,
        Merging,
        With,
        Conflicts,
        Builtins,
        Queries,
        Packages,
        Dialects,
        Logic,
        Mistakes,
        Forms,
        Joins,
        Tables,
        Layouts,
        Keys,
        Scopes,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Values => "values",
            Iteration => "iteration",
            Comprehensions => "comprehensions",
            Functions => "functions",
            Chains => "chains",
            Heads => "heads",
            Merging => "merging",
            With => "with",
            Conflicts => "conflicts",
            Builtins => "builtins",
            Queries => "queries",
            Packages => "packages",
            Dialects => "dialects",
            Logic => "logic",
            Mistakes => "mistakes",
            Forms => "forms",
            Joins => "joins",
            Tables => "tables",
            Layouts => "layouts",
            Keys => "keys",
            Scopes => "scopes",
        }
    }

    pub fn dialect(self, draw: usize) -> Dialect {
        match (self, draw % 3) {
            (Dialects, 0) => Dialect::V0,
            (Dialects, 1) => Dialect::V0Keywords,
            (Dialects, _) => Dialect::V0Rego1,
            (Logic, _) => Dialect::V2,
            _ => Dialect::V1,
        }
    }

    /// Writes the modules of a program; the last one stays open for the query.
    pub fn write(self, writer: &mut Writer) {
        match self {
            Merging => return merging::packages(writer),
            Packages => return several_packages(writer),
            _ => {}
        }
        writer.begin_module("main");
        let own = |writer: &mut Writer, weights: Weights, low: usize, high: usize| {
            for _ in 0..writer.random.between(low, high) {
                let scheme = writer.random.weighted(weights);
                writer.forget();
                scheme(writer);
            }
        };
        match self {
            Values => own(
                writer,
                &[(4, rules::complete_value), (3, rules::computed_value)],
                2,
                4,
            ),
            Iteration => own(writer, ITERATION, 2, 3),
            Comprehensions => own(writer, COMPREHENSIONS, 2, 3),
            Functions => {
                own(writer, ANY, 0, 1);
                own(writer, FUNCTIONS, 1, 2);
            }
            Chains => own(
                writer,
                &[(4, rules::chain), (2, rules::flag), (1, functions::chained)],
                1,
                3,
            ),
            Heads => own(writer, HEADS, 1, 3),
            With => {
                own(writer, ANY, 1, 2);
                own(writer, WITH, 1, 2);
            }
            Conflicts => own(writer, CONFLICTS, 1, 2),
            Builtins => own(
                writer,
                &[(3, rules::risky_call), (2, rules::computed_value)],
                2,
                4,
            ),
            Queries => own(writer, ANY, 0, 2),
            Dialects => own(writer, OLD, 1, 3),
            Logic => own(writer, LOGIC, 1, 3),
            Mistakes => {
                own(writer, ANY, 1, 2);
                if writer.random.chance(75) {
                    mistakes::statement(writer);
                }
            }
            Merging | Packages | Forms | Joins | Keys | Layouts | Scopes | Tables => {}
        }
    }
}

/// Writes two packages, the second of which imports the first and the input.
fn several_packages(writer: &mut Writer) {
    let first = *writer.random.pick(&["lib", "lib.tools", "acme.base"]);
    writer.begin_module(first);
    for _ in 0..writer.random.between(1, 2) {
        let scheme = writer.random.weighted(ANY);
        writer.forget();
        scheme(writer);
    }
    writer.end_module();
    writer.begin_module("main");
    if writer.random.chance(80) {
        writer.import(&format!("data.{first}"));
    }
    if writer.random.chance(40)
        && let Some((field, _)) = writer.input.first().cloned()
        && !field.contains(' ')
    {
        let alias = format!("in_{field}");
        let path = format!("input.{field}");
        writer.imports.push(format!("import {path} as {alias}"));
        writer.aliases.push((path, alias));
    }
    for _ in 0..writer.random.between(1, 3) {
        let weights = if writer.random.chance(50) { ANY } else { HEADS };
        let scheme = writer.random.weighted(weights);
        writer.forget();
        scheme(writer);
    }
}
