//! What steps read.

use super::canonical::Place;
use super::plan::{Operand, Step, Target};

impl Step {
    /// Visits the operands that the step itself reads; those of its inner blocks are not among them.
    pub fn operands(&self, see: &mut impl FnMut(Operand)) {
        match self {
            Self::Input { keys, .. } => keys.iter().copied().for_each(see),
            Self::Walk { from, keys, .. } => {
                see(*from);
                keys.iter().copied().for_each(see);
            }
            Self::Each { from, .. } | Self::Descend { from, .. } => see(*from),
            Self::Keyed { keys, .. } => keys.iter().copied().for_each(see),
            Self::Document { path, .. } | Self::Keys { path, .. } => {
                path.iter().copied().for_each(see);
            }
            Self::Call { call, .. } => call.args.iter().copied().for_each(see),
            Self::Custom { call, .. } => call.args.iter().copied().for_each(see),
            Self::Function { call, .. } => call.args.iter().copied().for_each(see),
            Self::Holds(operand)
            | Self::IsArray(operand, _)
            | Self::IsObject(operand, _)
            | Self::Value(operand)
            | Self::Append(operand)
            | Self::Insert(operand) => see(*operand),
            Self::Equal(left, right) | Self::Compare(_, left, right) => {
                see(*left);
                see(*right);
            }
            Self::Array { items, .. } | Self::Set { items, .. } | Self::Solution(items) => {
                items.iter().copied().for_each(see);
            }
            Self::Object { pairs, .. } => pairs.iter().for_each(|(key, value)| {
                see(*key);
                see(*value);
            }),
            Self::Every(every) => see(every.domain),
            Self::With(with) => with
                .modifiers
                .iter()
                .for_each(|modifier| match &modifier.target {
                    Target::Input(_, value)
                    | Target::Data(_, value)
                    | Target::ByValue(_, value) => {
                        see(*value);
                    }
                    Target::ByRule(..) | Target::ByBuiltin(..) => {}
                }),
            Self::Put { key, value, .. } => {
                see(*key);
                see(*value);
            }
            Self::Produce { path, value, .. } => {
                path.iter().copied().for_each(&mut *see);
                see(*value);
            }
            Self::Screen(screen) => {
                for constraint in screen.conditions.alternatives.iter().flatten() {
                    if let Place::Argument(at) = constraint.place {
                        see(Operand::Slot(u32::try_from(at).unwrap_or(u32::MAX)));
                    }
                }
            }
            Self::Base { .. }
            | Self::Rule { .. }
            | Self::Collect { .. }
            | Self::Aggregate(_)
            | Self::Not(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::EndWith
            | Self::Exists
            | Self::Fail => {}
        }
    }
}
