//! The work of a change among many modules.

use std::fmt::Write;

use solon::Engine;
use solon::internal::compile::Work;

const PACKAGES: usize = 500;

/// Returns a package that reads a library. `extra` is further text.
fn team(at: usize, extra: &str) -> (String, String) {
    let text = format!(
        "package teams.team_{at}\n\nimport data.lib\n\ndefault allow := false\n\n\
         allow if {{\n\tmember\n\tlib.reaches(input.action, {})\n}}\n\n\
         members := {{\"u-{at}\", \"u-{}\"}}\n\n\
         member if input.user in members\n\n\
         notes contains note if {{\n\tsome member in members\n\tnote := sprintf(\"%s\", [member])\n}}\n{extra}",
        at % 3,
        at + 1,
    );
    (format!("teams/team_{at}.rego"), text)
}

const LIBRARY: &str = "package lib\n\nlevel := {\"read\": 1, \"write\": 2}\n\nreaches(action, least) if level[action] >= least\n";

/// Returns a package that reads one of the others.
fn reader() -> String {
    let mut text = "package reader\n\nanswer if data.teams.team_7.allow\n\nall contains x if some x in data.teams.team_8.members\n".to_owned();
    writeln!(text, "\nany if data.teams[input.team].allow").unwrap();
    text
}

fn engine(packages: usize) -> Engine {
    let engine = Engine::new();
    let mut modules: Vec<_> = (0..packages).map(|at| team(at, "")).collect();
    modules.push(("lib.rego".to_owned(), LIBRARY.to_owned()));
    modules.push(("reader.rego".to_owned(), reader()));
    let texts = modules.iter().map(|(name, text)| (&**name, &**text));
    engine.set_modules(texts).unwrap();
    assert_eq!(engine.work().modules, packages + 2);
    engine
}

fn work(engine: &Engine, name: &str, text: &str) -> Work {
    engine.set_module(name, text).unwrap();
    engine.work()
}

#[test]
fn a_changed_body_compiles_one_rule() {
    let engine = engine(PACKAGES);
    let (name, text) = team(20, "");
    let work = work(&engine, &name, &text.replace("%s", "it is %s"));
    assert_eq!(work.modules, 1);
    assert_eq!(work.checked, 5);
    assert!(work.lowered <= 5, "{work:?}");
}

#[test]
fn an_added_rule_affects_its_possible_readers() {
    let engine = engine(PACKAGES);
    // `data.teams[input.team]` may be the changed package
    let (name, text) = team(21, "turn := 1\n");
    let work = work(&engine, &name, &text);
    assert_eq!(work.modules, 2);
    assert!(work.checked <= 9, "{work:?}");
    assert!(work.lowered <= 9, "{work:?}");
}

#[test]
fn a_new_package_affects_only_its_readers() {
    let engine = engine(PACKAGES);
    let work = work(&engine, "apart.rego", "package apart\n\np := 1\n");
    assert_eq!((work.modules, work.checked, work.lowered), (1, 1, 1));
    engine.remove_module("apart.rego").unwrap();
    let work = engine.work();
    assert_eq!((work.modules, work.checked, work.lowered), (0, 0, 0));
}

#[test]
fn a_changed_type_is_checked_in_its_readers() {
    let engine = engine(PACKAGES);
    let (name, text) = team(8, "");
    let work = work(&engine, &name, &text.replace("\"u-8\"", "8"));
    assert_eq!(work.modules, 1);
    // its own rules and those of the reader
    assert!((6..=8).contains(&work.checked), "{work:?}");
}

#[test]
fn a_new_parameter_affects_all_callers() {
    let engine = engine(PACKAGES);
    let longer = LIBRARY.replace("least)", "least, _)");
    let refused = engine.set_module("lib.rego", &longer);
    assert!(refused.is_err());
    // nothing has changed, for the next change as well
    let (name, text) = team(9, "");
    let next = work(&engine, &name, &text.replace("%s", "it is %s"));
    assert_eq!(next.modules, 1);
    assert_eq!(work(&engine, "lib.rego", LIBRARY).modules, 1);
}

#[test]
fn many_changes_leave_few_unused_numbers() {
    let engine = engine(8);
    let (name, _) = team(3, "");
    let (mut modules, mut documents) = (0, 0);
    for turn in 0..3000 {
        let (_, text) = team(3, &format!("turn := \"{turn}\"\n"));
        let work = work(&engine, &name, &text);
        modules += usize::from(work.modules > 8);
        documents += usize::from(work.lowered > 30);
        assert!(work.locals_since < 5000, "{work:?}");
    }
    assert!((2..20).contains(&modules), "{modules} times all modules");
    assert!(
        (2..40).contains(&documents),
        "{documents} times all documents"
    );
}
