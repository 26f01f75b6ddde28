//! Selection of the rules of a group that may match.

use solon_syntax::ast::Rule;

use super::documents::DataPath;
use super::machine::{Goal, Topdown};
use super::term::TermList;
use crate::bug::bug;
use crate::program::canonical::{
    ConditionOperand, Conditions, Constraint, Group, GroupKind, GroupRule, Membership, RuleAt,
    chain, is_ground,
};
use crate::runtime::{allows, may_have};
use crate::trace::MeasuredOperation;
use crate::value::{Value, ValueRef};

/// Rules that may match, and whether the first value ends the search.
pub(super) struct RuleCandidates<'e> {
    /// Rules in order, each with the members of its `else` chain that may match; the first of them represents the rule.
    pub rules: Vec<Match<'e>>,
    /// `true` if the first solution of any rule is the result.
    pub early_exit: bool,
}

pub(super) struct Match<'e> {
    pub member: &'e GroupRule,
    /// Members of the `else` chain that may match. Invariant: not empty.
    pub chain: Vec<&'e Rule>,
}

impl<'e> Match<'e> {
    /// Returns the first member of the `else` chain that may match. Invariant: there is one.
    pub fn rule(&self) -> Option<&'e Rule> {
        let first = self.chain.first().copied();
        if first.is_none() {
            bug!("a rule that may match has no member");
        }
        first
    }
}

impl<'e> Topdown<'e> {
    /// Number of segments in the path of a rule's package.
    pub(super) fn package_of(&self, at: RuleAt) -> usize {
        let module = self.program.canonical.modules.get(at.module as usize);
        let parts = module.and_then(|module| module.package.path.len().checked_sub(1));
        parts.unwrap_or_else(|| bug!("a rule stands in no package"))
    }

    /// Selects the rules for a document or a call and emits the index event.
    pub(super) fn candidates(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        path: &[ValueRef<'e>],
        args: Option<TermList<'e>>,
    ) -> RuleCandidates<'e> {
        let start = self.begin();
        let args: Option<Vec<Option<ValueRef<'e>>>> = args.map(|args| {
            let args = (0..args.len()).filter_map(|at| args.get(at));
            args.map(|arg| self.plug(arg)).collect()
        });
        let args = args.unwrap_or_default();
        let mut rules = Vec::new();
        let mut value: Option<&Value> = None;
        let mut early_exit = group.kind == GroupKind::Single;
        for member in &group.members {
            let mut members = Vec::new();
            let Some(rule) = self.program.canonical.rule(member.rule) else {
                continue;
            };
            for ((rule, conditions), constant) in
                chain(rule).zip(&member.conditions).zip(&member.values)
            {
                if self.shortcuts.indexing && !self.may_match(group, conditions, &args) {
                    continue;
                }
                members.push(rule);
                match (constant, value) {
                    (Some(constant), None) => value = Some(constant),
                    (Some(constant), Some(first)) if constant == first => {}
                    _ => early_exit = false,
                }
            }
            if !members.is_empty() {
                // only the heads of the selected rules count
                early_exit = early_exit && is_ground(&rule.head);
                rules.push(Match {
                    member,
                    chain: members,
                });
            }
        }
        let matches = RuleCandidates {
            early_exit: (early_exit || rules.is_empty()) && self.shortcuts.early_exit,
            rules,
        };
        self.end(MeasuredOperation::RuleIndex, start);
        self.index_event(goal, path, matches.rules.len(), matches.early_exit);
        matches
    }

    fn may_match(
        &self,
        group: &Group,
        conditions: &'e Conditions,
        args: &[Option<ValueRef<'e>>],
    ) -> bool {
        let satisfies = |constraint: &'e Constraint| self.satisfies(constraint, args);
        let mut alternatives = conditions.alternatives.iter();
        if !alternatives.any(|constraints| constraints.iter().all(satisfies)) {
            return false;
        }
        let is_asked = !group.exits || self.open.is_some();
        let mut memberships = conditions.memberships.iter();
        !is_asked || memberships.all(|membership| self.has_key(membership, args))
    }

    fn has_key(&self, membership: &'e Membership, args: &[Option<ValueRef<'e>>]) -> bool {
        let Membership { key, collection } = membership;
        if self.is_open_at(key) {
            return true;
        }
        if let ConditionOperand::Argument(at) = key
            && *at >= args.len()
        {
            return true;
        }
        let Some(key) = self.value_at(key, args) else {
            return false;
        };
        self.is_open_at(collection)
            || self
                .value_at(collection, args)
                .is_some_and(|collection| may_have(collection, key))
    }

    fn is_open_at(&self, place: &'e ConditionOperand) -> bool {
        self.open.is_some() && self.is_unknown_operand(place)
    }

    fn satisfies(&self, constraint: &'e Constraint, args: &[Option<ValueRef<'e>>]) -> bool {
        if self.is_open_at(&constraint.place) {
            return true;
        }
        if let ConditionOperand::Argument(at) = constraint.place
            && at >= args.len()
        {
            return true;
        }
        self.value_at(&constraint.place, args)
            .is_some_and(|found| allows(&constraint.tests, found))
    }

    fn value_at(
        &self,
        place: &'e ConditionOperand,
        args: &[Option<ValueRef<'e>>],
    ) -> Option<ValueRef<'e>> {
        match place {
            ConditionOperand::Input(keys) => self.scope().input.and_then(|input| {
                keys.iter()
                    .try_fold(input, |value, key| value.lookup(key.borrow()))
            }),
            ConditionOperand::Data(keys) => {
                let path: DataPath<'e> = keys.iter().map(Value::borrow).collect();
                self.resolve(&path)
            }
            ConditionOperand::Argument(at) => args.get(*at).copied().flatten(),
        }
    }
}
