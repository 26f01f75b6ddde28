//! Operands and results of steps.

use super::canonical::ConditionOperand;
use super::plan::{ModifierTarget, Operand, Slot, Step};

/// Visits the operands of a step, shared or mutable.
macro_rules! operands {
    ($step:expr, $see:ident, $iter:ident) => {
        match $step {
            Self::Input { keys, .. } | Self::Keyed { keys, .. } => keys.$iter().for_each($see),
            Self::Dot { from, keys, .. } => {
                $see(from);
                keys.$iter().for_each($see);
            }
            Self::BaseChild {
                from, keys, path, ..
            } => {
                $see(from);
                keys.$iter().for_each(&mut *$see);
                path.0.$iter().for_each($see);
            }
            Self::Scan { from, base, .. } => {
                $see(from);
                for path in base.$iter() {
                    path.0.$iter().for_each(&mut *$see);
                }
            }
            Self::Descend { from, .. } => $see(from),
            Self::Join(join) => {
                $see(operands!(@part join.from, $iter));
                join.base
                    .$iter()
                    .for_each(|path| path.0.$iter().for_each(&mut *$see));
                join.path.$iter().for_each(&mut *$see);
                $see(operands!(@part join.known, $iter));
                join.lookup
                    .$iter()
                    .for_each(|lookup| match lookup {
                        Self::Dot { from, keys, .. } => {
                            $see(from);
                            keys.$iter().for_each(&mut *$see);
                        }
                        Self::Input { keys, .. } => keys.$iter().for_each(&mut *$see),
                        Self::BaseChild {
                            from, keys, path, ..
                        } => {
                            $see(from);
                            keys.$iter().for_each(&mut *$see);
                            path.0.$iter().for_each(&mut *$see);
                        }
                        Self::Call { call, .. } => call.args.$iter().for_each(&mut *$see),
                        _ => {}
                    });
            }
            Self::Document { path, .. } | Self::Keys { path, .. } => path.$iter().for_each($see),
            Self::Call { call, .. } => call.args.$iter().for_each($see),
            Self::Test(_, call) => call.args.$iter().for_each($see),
            Self::HostCall { call, .. } => call.args.$iter().for_each($see),
            Self::Function { call, .. } => call.args.$iter().for_each($see),
            Self::IsTruthy(operand)
            | Self::MayEqual(operand, _)
            | Self::IsArray(operand, _)
            | Self::IsObject(operand, _)
            | Self::Value(operand)
            | Self::ArrayAppend(operand)
            | Self::SetAdd(operand)
            | Self::SetAddOnce(operand) => $see(operand),
            Self::Equal(left, right)
            | Self::Compare(_, left, right)
            | Self::Member(left, right)
            | Self::Among(left, right) => {
                $see(left);
                $see(right);
            }
            Self::MakeArray { items, .. } | Self::MakeSet { items, .. } | Self::ResultSetAdd(items) => {
                items.$iter().for_each($see);
            }
            Self::MakeObject { pairs, .. } => pairs.$iter().for_each(|(key, value)| {
                $see(key);
                $see(value);
            }),
            Self::Every(every) => $see(operands!(@part every.domain, $iter)),
            Self::Inlined(inlined) => {
                inlined.call.args.$iter().for_each(&mut *$see);
                inlined.values.$iter().for_each($see);
            }
            Self::With(with) => {
                with.modifiers
                    .$iter()
                    .for_each(|target| match target {
                        ModifierTarget::Input(_, value)
                        | ModifierTarget::Data(_, value)
                        | ModifierTarget::ByValue(_, value) => $see(value),
                        ModifierTarget::ByRule(..) | ModifierTarget::ByBuiltin(..) | ModifierTarget::Nowhere => {}
                    });
            }
            Self::ObjectInsert { key, value, .. } => {
                $see(key);
                $see(value);
            }
            Self::Produce { path, value, .. } => {
                path.$iter().for_each(&mut *$see);
                $see(value);
            }
            Self::Precheck(_)
            | Self::Base { .. }
            | Self::Rule { .. }
            | Self::Collect { .. }
            | Self::Aggregate(_)
            | Self::Not(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::Any(_)
            | Self::Fused(_)
            | Self::EndWith
            | Self::Exists
            | Self::MemberFound
            | Self::Fail => {}
        }
    };
    (@part $part:expr, iter) => {
        &$part
    };
    (@part $part:expr, iter_mut) => {
        &mut $part
    };
}

impl Step {
    /// Visits the operands that the step itself reads, without those of inner blocks.
    pub fn operands(&self, see: &mut impl FnMut(Operand)) {
        if let Self::Precheck(precheck) = self {
            for constraint in precheck.conditions.alternatives.iter().flatten() {
                if let ConditionOperand::Argument(at) = constraint.place {
                    see(Operand::Slot(u32::try_from(at).unwrap_or(u32::MAX)));
                }
            }
            for membership in &precheck.conditions.memberships {
                if let ConditionOperand::Argument(at) = membership.key {
                    see(Operand::Slot(u32::try_from(at).unwrap_or(u32::MAX)));
                }
            }
        }
        let see = &mut |operand: &Operand| see(*operand);
        operands!(self, see, iter);
    }

    /// Visits the operands mutably, except those of a precheck, which are the arguments.
    pub fn operands_mut(&mut self, see: &mut impl FnMut(&mut Operand)) {
        if let Self::Aggregate(aggregate) = self {
            aggregate.call.args.iter_mut().for_each(see);
            return;
        }
        operands!(self, see, iter_mut);
    }

    /// Visits the slots that the step itself fills, mutably.
    pub fn results_mut(&mut self, see: &mut impl FnMut(&mut Slot)) {
        match self {
            Self::Input { out, .. }
            | Self::Dot { out, .. }
            | Self::Base { out, .. }
            | Self::BaseChild { out, .. }
            | Self::Rule { out, .. }
            | Self::Keyed { out, .. }
            | Self::Document { out, .. }
            | Self::Call { out, .. }
            | Self::HostCall { out, .. }
            | Self::Function { out, .. }
            | Self::MakeArray { out, .. }
            | Self::MakeSet { out, .. }
            | Self::MakeObject { out, .. }
            | Self::Collect { out, .. } => see(out),
            Self::Keys { key, value, .. } => {
                see(key);
                value.iter_mut().for_each(&mut *see);
            }
            Self::Scan { key, out, .. }
            | Self::Descend {
                path: key,
                value: out,
                ..
            } => {
                key.iter_mut().for_each(&mut *see);
                see(out);
            }
            Self::Inlined(inlined) => see(&mut inlined.out),
            Self::Join(join) => {
                join.key.iter_mut().for_each(&mut *see);
                see(&mut join.out);
                for step in &mut join.lookup {
                    if let Self::Dot { out, .. }
                    | Self::Input { out, .. }
                    | Self::BaseChild { out, .. }
                    | Self::Call { out, .. } = step
                    {
                        see(out);
                    }
                }
            }
            Self::Every(every) => {
                every.key.iter_mut().for_each(&mut *see);
                see(&mut every.value);
            }
            Self::Aggregate(aggregate) => {
                see(&mut aggregate.slot);
                see(&mut aggregate.out);
            }
            _ => {}
        }
    }
}
