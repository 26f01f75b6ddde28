use std::sync::Arc;

use super::builder::Builder;
use super::{ReadIndex, ReadLocation, ReadRoot};
use crate::program::RuleId;

/// Rule sets by their path below `data`, with the paths that they read.
type Rules<'r> = &'r [(&'r str, &'r [&'r str])];

fn steps(path: &str) -> Vec<Arc<str>> {
    path.split('.').skip(1).map(Arc::from).collect()
}

fn root(path: &str) -> ReadRoot {
    match path.split('.').next() {
        Some("input") => ReadRoot::Input,
        Some("data") => ReadRoot::Data,
        _ => ReadRoot::Function,
    }
}

/// Builds the index of rule sets; calls of functions start with `call.`.
fn index(rules: Rules<'_>, observable: &[&str]) -> ReadIndex {
    let mut builder = Builder::new(rules.len());
    for ((_, reads), rule) in rules.iter().zip(0..) {
        builder.add_rule(rule);
        builder.scan(rule);
        for read in *reads {
            builder.add_read(&[rule], root(read), &steps(read));
        }
    }
    finish(builder, rules, observable)
}

fn finish(builder: Builder, rules: Rules<'_>, observable: &[&str]) -> ReadIndex {
    let paths = rules.iter().map(|(path, _)| path.split('.').skip(1));
    builder.finish((0..).zip(paths), observable.iter().copied())
}

/// Returns the paths of the rule sets that depend on a path.
fn dependents<'r>(index: &ReadIndex, rules: Rules<'r>, path: &str) -> Vec<&'r str> {
    let found = index.dependents(root(path), path.split('.').skip(1));
    let ids = (0..).zip(rules);
    let dependents = ids.filter(|(id, _): &(RuleId, _)| found.contains(*id));
    dependents.map(|(_, (path, _))| *path).collect()
}

const RULES: Rules<'_> = &[
    ("data.p.user", &["input.user.name"]),
    ("data.p.owner", &["input.owner"]),
    ("data.p.any", &["input"]),
    ("data.p.roles", &["data.roles", "call.count"]),
    ("data.p.allow", &["data.p.user", "data.p.roles"]),
    ("data.q.outer", &["data.p.allow.more"]),
    ("data.q.fetched", &["call.http.send"]),
    ("data.q.all", &["data.q.fetched"]),
    ("data.r.whole", &["data.p"]),
    ("data.r.constant", &[]),
];

#[test]
fn dependents_are_transitive() {
    let index = index(RULES, &[]);
    for (path, expected) in [
        (
            "input",
            vec![
                "data.p.user",
                "data.p.owner",
                "data.p.any",
                "data.p.allow",
                "data.q.outer",
                "data.r.whole",
            ],
        ),
        (
            "input.owner",
            vec!["data.p.owner", "data.p.any", "data.r.whole"],
        ),
        ("input.other", vec!["data.p.any", "data.r.whole"]),
        (
            "input.user.name.first",
            vec![
                "data.p.user",
                "data.p.any",
                "data.p.allow",
                "data.q.outer",
                "data.r.whole",
            ],
        ),
        (
            "data.roles.admin",
            vec![
                "data.p.roles",
                "data.p.allow",
                "data.q.outer",
                "data.r.whole",
            ],
        ),
        ("data.r", vec![]),
        ("data.p.owner", vec!["data.r.whole"]),
        ("data.p.allow.other", vec!["data.r.whole"]),
        ("data.p.allow.more", vec!["data.q.outer", "data.r.whole"]),
        ("data.p.allow", vec!["data.q.outer", "data.r.whole"]),
        ("call.http.send", vec!["data.q.fetched", "data.q.all"]),
        ("call.http", vec!["data.q.fetched", "data.q.all"]),
        ("call.sum", vec![]),
        (
            "data",
            vec![
                "data.p.roles",
                "data.p.allow",
                "data.q.outer",
                "data.q.all",
                "data.r.whole",
            ],
        ),
    ] {
        assert_eq!(dependents(&index, RULES, path), expected, "{path}");
        // the second time they are read from the node
        assert_eq!(dependents(&index, RULES, path), expected, "{path}");
    }
}

#[test]
fn cycles_end() {
    let rules: Rules<'_> = &[
        ("data.p.a", &["data.p.b"]),
        ("data.p.b", &["data.p.c", "input.x"]),
        ("data.p.c", &["data.p.a"]),
        ("data.p.d", &["data.p"]),
    ];
    let index = index(rules, &[]);
    let all = ["data.p.a", "data.p.b", "data.p.c", "data.p.d"];
    assert_eq!(dependents(&index, rules, "input.x"), all);
    assert_eq!(dependents(&index, rules, "input.y"), [""; 0]);
}

#[test]
fn results_that_show_are_not_shared() {
    let index = index(
        &[
            ("data.p.prints", &["call.internal.print"]),
            ("data.p.above", &["data.p.prints"]),
            ("data.p.host", &["call.bank.balance"]),
            ("data.p.named", &["data.host"]),
            ("data.p.pure", &["call.bank.name", "input"]),
        ],
        &[
            "internal.print",
            "bank.balance",
            "data.host",
            "missing.function",
        ],
    );
    let repeated: Vec<RuleId> = (0..5).filter(|id| index.repeated().contains(*id)).collect();
    assert_eq!(repeated, [0, 1, 2, 3]);
}

#[test]
fn rules_without_bodies_may_read_anything() {
    let rules: Rules<'_> = &[
        ("data.p.unknown", &[]),
        ("data.p.above", &["data.p.unknown"]),
        ("data.p.known", &[]),
        ("data", &[]),
        ("data.p.other", &["data.q"]),
    ];
    let mut builder = Builder::new(5);
    // the fourth id is not used
    for rule in [0, 1, 2, 4] {
        builder.add_rule(rule);
    }
    for rule in [1, 2, 4] {
        builder.scan(rule);
    }
    builder.add_read(&[1], ReadRoot::Data, &steps("data.p.unknown"));
    builder.add_read(&[4], ReadRoot::Data, &steps("data.q"));
    let index = finish(builder, rules, &[]);
    let repeated: Vec<RuleId> = (0..5).filter(|id| index.repeated().contains(*id)).collect();
    assert_eq!(repeated, [0, 1]);
}

#[test]
fn names_of_functions_are_paths() {
    let path = |name| {
        let (root, steps) = ReadIndex::function_path(name);
        (root, steps.collect::<Vec<_>>())
    };
    assert_eq!(path("count"), (ReadRoot::Function, vec!["count"]));
    assert_eq!(
        path("io.jwt.decode"),
        (ReadRoot::Function, vec!["io", "jwt", "decode"])
    );
    assert_eq!(path("data.f"), (ReadRoot::Data, vec!["f"]));
    assert_eq!(path("input"), (ReadRoot::Input, vec![]));
}

#[test]
fn paths_end_where_no_rule_reads_on() {
    let index = index(RULES, &[]);
    let exact = |path: &str| {
        let ReadLocation { is_exact, .. } = index.locate(root(path), path.split('.').skip(1));
        is_exact
    };
    assert!(exact("input.user"));
    assert!(exact("data.p.allow.more"));
    assert!(!exact("data.p.allow.less"));
    assert!(!exact("data.s"));
}
