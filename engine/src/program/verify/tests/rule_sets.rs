//! Rule sets and trees that violate one invariant each.

use std::sync::Arc;

use solon_syntax::source::Span;

use super::super::{program, rule_set};
use super::{CONSTANT, sample};
use crate::program::{
    AccessPath, Answers, Chain, ConditionCoverage, DecisionBranch, DecisionNode, Index, KeyPath,
    Operand, PathRoot, Plan, Question, Rule, RuleKind, RuleSet, Step, TreeNode, ValueFeature,
    Values,
};
use crate::value::Value;

fn set_of(kind: RuleKind, depth: usize, rules: Vec<Rule>) -> RuleSet {
    RuleSet {
        name: "data.p".into(),
        kind,
        depth,
        rules,
        ..RuleSet::default()
    }
}

/// A rule without head terms whose plans have one instruction each.
fn rule(step: Step, keyed: impl IntoIterator<Item = (u32, Step)>) -> Rule {
    let keyed = keyed.into_iter();
    Rule {
        plan: Plan::new(0, [step].into()),
        keyed: keyed
            .map(|(slots, step)| Plan::new(slots, [step].into()))
            .collect(),
        tail: 0,
        constant_tail: Box::default(),
        member: false,
        fallback: false,
        constant: None,
        settled: None,
        otherwise: None,
        conditions: ConditionCoverage::default(),
        span: Span::default(),
    }
}

/// A rule of a set.
fn member() -> Rule {
    Rule {
        member: true,
        ..rule(Step::SetAdd(CONSTANT), [(1, Step::MemberFound)])
    }
}

/// A rule of an object with one key.
fn pair() -> Rule {
    let produce = |path: &[Operand]| Step::Produce {
        path: path.into(),
        value: CONSTANT,
        member: false,
    };
    Rule {
        tail: 1,
        ..rule(produce(&[CONSTANT]), [(1, produce(&[]))])
    }
}

fn rejected(set: &RuleSet, violation: &str) {
    let violation = format!("data.p: {violation}");
    assert_eq!(rule_set(&sample(), set), Err(violation));
}

#[test]
fn plans_of_rules_end_with_a_value() {
    let default = |steps: Vec<Step>| RuleSet {
        default: Some(Plan::new(1, steps.into())),
        ..set_of(RuleKind::Complete, 0, Vec::new())
    };
    let valid = default(vec![Step::Value(CONSTANT)]);
    assert_eq!(rule_set(&sample(), &valid), Ok(()));
    rejected(
        &default(vec![Step::Exists]),
        "`Exists` ends the wrong block",
    );
}

#[test]
fn partial_rules_have_a_plan_for_each_number_of_known_terms() {
    for (kind, valid) in [
        (RuleKind::Set, member as fn() -> Rule),
        (RuleKind::Object, pair),
    ] {
        let sets = |rule| set_of(kind, 1, vec![rule]);
        assert_eq!(rule_set(&sample(), &sets(valid())), Ok(()));
        let keyed = Vec::new();
        rejected(
            &sets(Rule { keyed, ..valid() }),
            "a rule has 0 plans for 1 head terms",
        );
        rejected(
            &set_of(kind, 0, vec![valid()]),
            "a rule has 1 head terms of at most 0",
        );
    }
    let unkeyed = rule(Step::Value(CONSTANT), [(1, Step::Value(CONSTANT))]);
    rejected(
        &set_of(RuleKind::Complete, 1, vec![unkeyed]),
        "a rule has 1 plans for 0 head terms",
    );
}

#[test]
fn plans_for_known_terms_end_with_the_remaining_ones() {
    let with_keyed = |valid: Rule, step| Rule {
        keyed: vec![Plan::new(1, [step].into())],
        ..valid
    };
    rejected(
        &set_of(
            RuleKind::Set,
            1,
            vec![with_keyed(member(), Step::SetAdd(CONSTANT))],
        ),
        "`SetAdd` ends the wrong block",
    );
    let produce = |path: &[Operand], member| Step::Produce {
        path: path.into(),
        value: CONSTANT,
        member,
    };
    for wrong in [
        produce(&[CONSTANT], false),
        produce(&[], true),
        Step::MemberFound,
    ] {
        let violation = format!("`{}` ends the wrong block", wrong.kind());
        let set = set_of(RuleKind::Object, 1, vec![with_keyed(pair(), wrong)]);
        rejected(&set, &violation);
    }
}

#[test]
fn frames_have_room_for_arguments_and_known_terms() {
    let function = rule(Step::Value(CONSTANT), []);
    rejected(
        &set_of(RuleKind::Function(2), 0, vec![function]),
        "a frame of 0 slots for 2 operands",
    );
    let keyed = vec![Plan::new(0, [Step::MemberFound].into())];
    rejected(
        &set_of(RuleKind::Set, 1, vec![Rule { keyed, ..member() }]),
        "a frame of 0 slots for 1 operands",
    );
}

#[test]
fn constants_of_rules_exist() {
    let valid = || rule(Step::Value(CONSTANT), []);
    let constant = Rule {
        constant: Some(1),
        ..valid()
    };
    let settled = Rule {
        settled: Some(1),
        ..valid()
    };
    for rule in [constant, settled] {
        rejected(
            &set_of(RuleKind::Complete, 0, vec![rule]),
            "has constant 1 of 1",
        );
    }
    let constant_tail = [Some(1)].into();
    let pair = Rule {
        constant_tail,
        ..pair()
    };
    rejected(
        &set_of(RuleKind::Object, 1, vec![pair]),
        "has constant 1 of 1",
    );
}

/// An index of one question without answers, and of these rules.
fn index(root: PathRoot, feature: ValueFeature, rules: &[u32]) -> Index {
    let path = KeyPath::default();
    Index::By(Box::new(DecisionBranch {
        question: Question {
            place: AccessPath { root, path },
            feature,
        },
        lenient: false,
        answers: Answers::Values(Values::default()),
        rest: DecisionNode::Rules(rules.into()),
    }))
}

#[test]
fn indexes_select_rules_of_their_set() {
    let indexed = |index| RuleSet {
        index,
        ..set_of(RuleKind::Complete, 0, vec![rule(Step::Value(CONSTANT), [])])
    };
    let by_value = |rules| indexed(index(PathRoot::Input, ValueFeature::Value, rules));
    assert_eq!(rule_set(&sample(), &by_value(&[0])), Ok(()));
    rejected(&by_value(&[0, 1]), "the index selects [0, 1] of 1 rules");
    rejected(
        &by_value(&[0, 0, 0, 1, 0]),
        "the index selects [0, 0, 0, 1, 0] of 1 rules",
    );
    rejected(
        &indexed(index(PathRoot::Argument(0), ValueFeature::Value, &[0])),
        "the index tests argument 0 of 0",
    );
    rejected(
        &indexed(index(PathRoot::Input, ValueFeature::Prefix, &[0])),
        "the index has answers of the wrong kind for Prefix",
    );
}

#[test]
fn indexes_of_else_chains_select_members() {
    let chain = |rules: &[u32]| {
        let first = rule(Step::Value(CONSTANT), []);
        let chain = Chain {
            elses: [rule(Step::Value(CONSTANT), [])].into(),
            index: index(PathRoot::Input, ValueFeature::Value, rules),
        };
        let otherwise = Some(Box::new(chain));
        set_of(RuleKind::Complete, 0, vec![Rule { otherwise, ..first }])
    };
    assert_eq!(rule_set(&sample(), &chain(&[0, 1])), Ok(()));
    rejected(&chain(&[2]), "the index selects [2] of 2 rules");
}

#[test]
fn members_of_else_chains_are_verified() {
    let mut first = rule(Step::Value(CONSTANT), []);
    first.otherwise = Some(Box::new(Chain {
        elses: [rule(Step::Exists, [])].into(),
        index: Index::All,
    }));
    rejected(
        &set_of(RuleKind::Complete, 0, vec![first]),
        "`Exists` ends the wrong block",
    );
}

#[test]
fn nodes_of_the_tree_name_nodes_and_rule_sets_that_exist() {
    assert_eq!(program(&sample()), Ok(()));
    let with_node = |node| {
        let mut sample = sample();
        Arc::get_mut(&mut sample.tree).unwrap().add(0, node);
        program(&sample)
    };
    let rule = Some(9);
    let unknown_rule = with_node(TreeNode {
        rule,
        ..TreeNode::default()
    });
    assert_eq!(
        unknown_rule,
        Err("node 1 of the tree has rule set 9".to_owned())
    );
    let mut orphan = TreeNode::default();
    orphan.children.insert(Value::default(), 7);
    assert_eq!(
        with_node(orphan),
        Err("node 1 of the tree has child 7 of 2".to_owned())
    );
}
