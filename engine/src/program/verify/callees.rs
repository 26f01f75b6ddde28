//! Verification of callees and of declared effects.

use super::Check;
use super::plan::PlanVerifier;
use crate::program::{
    BuiltinCall, Effects, FunctionCall, Part, RuleId, RuleKind, RuleSet, Step, TextTest,
};
use crate::types::Type;

impl PlanVerifier<'_> {
    /// Checks that the rule set or function that an instruction names exists and takes its operands.
    pub fn callee(&self, step: &Step) -> Check {
        match step {
            Step::Keyed { rule, keys, .. } => match self.set(*rule)?.depth {
                depth if (1..=depth).contains(&keys.len()) => Ok(()),
                _ => Err(format!("has {} keys", keys.len())),
            },
            Step::Function { call, .. } => self.call(call),
            Step::Inlined(inlined) => self.call(&inlined.call),
            Step::HostCall { call, .. } => {
                let function = self.program.functions.get(call.function as usize);
                match function.map(|function| function.arity()) {
                    Some(arity) if arity == call.args.len() => Ok(()),
                    Some(_) => Err(format!("has {} arguments", call.args.len())),
                    None => Err(format!("calls function {} of the host", call.function)),
                }
            }
            Step::Call { call, .. } => arity(call),
            Step::Aggregate(aggregate) => arity(&aggregate.call),
            Step::Test(test, call) if TextTest::of_call(call) == Some(*test) => arity(call),
            Step::Test(test, _) => Err(format!("tests by {test:?} without such a test")),
            Step::MakeObject {
                pairs,
                shape: Some(shape),
                ..
            } if shape.keys().len() != pairs.len() => Err("has a shape of other keys".to_owned()),
            _ => Ok(()),
        }
    }

    fn call(&self, call: &FunctionCall) -> Check {
        match self.set(call.rule)?.kind {
            RuleKind::Function(arity) if arity as usize == call.args.len() => Ok(()),
            kind => Err(format!("calls {kind:?} with {} arguments", call.args.len())),
        }
    }

    /// Returns a rule set. Fails for an unknown one and for those that were removed, which have no name.
    pub fn set(&self, id: RuleId) -> Check<&RuleSet> {
        let set = self.program.rules.get(id as usize);
        let set = set.filter(|set| !set.name.is_empty());
        set.map(|set| &**set)
            .ok_or_else(|| format!("evaluates rule set {id}"))
    }
}

fn arity(call: &BuiltinCall) -> Check {
    if call.elements && call.prepared.is_none() {
        return Err("has elements without a specialised call".to_owned());
    }
    match &*call.entry.declaration {
        Type::Function(function)
            if function.variadic.is_none()
                && !call.elements
                && function.args.len() != call.args.len() =>
        {
            let name = call.entry.builtin.name;
            Err(format!("calls `{name}` with {} arguments", call.args.len()))
        }
        _ => Ok(()),
    }
}

/// Checks that an instruction has the effects that it declares.
pub(super) fn effects(step: &Step) -> Check {
    let declared = step.effects();
    let (mut calls, mut replaceable, mut results) = (false, false, 0);
    step.parts(&mut |part| match part {
        Part::Rule(_) | Part::Function(_) => calls = true,
        Part::Builtin(_) => replaceable = true,
        Part::Def(_) | Part::Spare(_) => results += 1,
        Part::Use(_) | Part::Argument(_) | Part::Const(_) | Part::Block(_) => {}
    });
    // a replacement calls nothing yet, and a join calls only built-ins that its loop calls again
    let is_caller = !matches!(step, Step::With(_) | Step::Join(_));
    let missing = |effect| !declared.has(effect);
    let violation = if !step.blocks().is_empty() && missing(Effects::NESTS) {
        "undeclared blocks".to_owned()
    } else if is_caller && calls && missing(Effects::CALLS) {
        "undeclared calls".to_owned()
    } else if is_caller && replaceable && missing(Effects::REPLACEABLE) {
        "an undeclared built-in".to_owned()
    } else if declared.is_within(Effects::PURE) && results > 1
        || declared.has(Effects::SHAREABLE) && results != 1
        || declared.has(Effects::ENDS) && results != 0
    {
        format!("{results} results, which its effects rule out")
    } else {
        return Ok(());
    };
    Err(format!("has {violation}"))
}
