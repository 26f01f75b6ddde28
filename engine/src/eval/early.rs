//! Early exit: the first solution of a rule set may end its search.
//!
//! The rules that can match must all have one constant value. Values do not show the difference, but prints and errors
//! of built-ins do: if they are observable, OPA's index decides which rules can match.

use crate::program::RuleSet;
use crate::program::canonical::{ConditionOperand, Constraint, GroupRule, Membership};
use crate::runtime::{Halt, allows, may_have};
use crate::value::{Value, ValueRef};

use super::frame::OperandSource;
use super::machine::Machine;
use super::rules::Candidates;

impl<'e> Machine<'e> {
    /// Returns `true` if the first solution ends the search among the rules of a set.
    #[inline]
    pub(super) fn exits_early(
        &mut self,
        set: &'e RuleSet,
        candidates: &Candidates<'e>,
        args: &[ValueRef<'e>],
    ) -> Result<bool, Halt> {
        if set.early_exit {
            return Ok(true);
        }
        if self.is_seen() {
            return self.opa_exit(set, args);
        }
        Ok(!matches!(candidates, Candidates::All(_)) && self.agree(candidates))
    }

    /// Returns `true` if evaluation is observable by prints or errors of built-ins.
    #[inline]
    pub(super) fn is_seen(&self) -> bool {
        self.strict || self.program.canonical.prints()
    }

    /// Returns `true` if the rules that can match have one constant value.
    fn agree(&self, candidates: &Candidates<'e>) -> bool {
        let mut constants = candidates.clone().map(|rule| rule.settled);
        let Some(Some(first)) = constants.next() else {
            return false;
        };
        let value = self.constant(first);
        constants.all(|id| id.is_some_and(|id| self.constant(id) == value))
    }

    /// Returns the early exit for the rules that match according to OPA's index.
    pub(super) fn opa_exit(
        &mut self,
        set: &'e RuleSet,
        args: &[ValueRef<'e>],
    ) -> Result<bool, Halt> {
        let Some(group) = self.program.canonical.group(&set.path) else {
            return Ok(false);
        };
        if !group.ground {
            return Ok(false);
        }
        let mut first: Option<&'e Value> = None;
        for member in &group.members {
            if !self.fits(member, group.exits, args, &mut first)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if the matching members of a rule have the one constant value.
    fn fits(
        &mut self,
        member: &'e GroupRule,
        exits: bool,
        args: &[ValueRef<'e>],
        first: &mut Option<&'e Value>,
    ) -> Result<bool, Halt> {
        for (conditions, value) in member.conditions.iter().zip(&member.values) {
            let mut may_match = false;
            for constraints in &conditions.alternatives {
                may_match = may_match || self.all_satisfied(constraints, args)?;
            }
            let memberships = if exits {
                &[]
            } else {
                conditions.memberships.as_slice()
            };
            for Membership { key, collection } in memberships {
                let (key, collection) = (
                    self.operand_value(key, args)?,
                    self.operand_value(collection, args)?,
                );
                may_match = may_match
                    && key
                        .zip(collection)
                        .is_some_and(|(key, collection)| may_have(collection, key));
            }
            if !may_match {
                continue;
            }
            match value {
                Some(value) if *first.get_or_insert(value) == value => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn all_satisfied(
        &mut self,
        constraints: &'e [Constraint],
        args: &[ValueRef<'e>],
    ) -> Result<bool, Halt> {
        for Constraint { place, tests, .. } in constraints {
            let found = self.operand_value(place, args)?;
            if !found.is_some_and(|found| allows(tests, found)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the value of a condition's operand, given the arguments of the call.
    fn operand_value(
        &mut self,
        place: &'e ConditionOperand,
        args: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        self.condition_value(place, |_, at| args.get(at).copied())
    }
}
