//! Loops do not note the keys that nobody reads, and patterns of arrays not the elements.

use super::constants::Constants;
use crate::program::{Block, Operand, Plan, Slot, Step};
use crate::value::Value;

/// Forgets the keys of a plan's loops that no step reads.
pub fn keys(plan: &mut Plan) {
    let reads = plan.reads();
    within(&mut plan.steps, &|slot| {
        reads.get(slot as usize) == Some(&0)
    });
}

fn within(block: &mut Block, is_unread: &impl Fn(Slot) -> bool) {
    for step in block.iter_mut() {
        match step {
            Step::Each { key, .. } => *key = key.filter(|slot| !is_unread(*slot)),
            Step::Every(every) => every.key = every.key.filter(|slot| !is_unread(*slot)),
            _ => {}
        }
        step.blocks_mut().for_each(|inner| within(inner, is_unread));
    }
}

/// Forgets the elements that a pattern takes from an array of its length and no step reads: they are there.
pub fn elements(plan: &mut Plan, constants: &Constants) {
    let reads = plan.reads();
    forget(&mut plan.steps, constants, &|slot| {
        reads.get(slot as usize) == Some(&0)
    });
}

fn forget(block: &mut Block, constants: &Constants, is_unread: &impl Fn(Slot) -> bool) {
    for step in block.iter_mut() {
        step.blocks_mut()
            .for_each(|inner| forget(inner, constants, is_unread));
    }
    let mut array = None;
    let is_needless = |step: &Step| {
        if let Step::IsArray(operand, length) = step {
            array = Some((*operand, *length));
        }
        let (Step::Walk { from, keys, out }, Some((operand, length))) = (step, array) else {
            return false;
        };
        *from == operand && is_unread(*out) && is_below(constants, keys, length)
    };
    if block.iter().any(|step| matches!(step, Step::IsArray(..))) {
        let needless: Vec<bool> = block.iter().map(is_needless).collect();
        let steps = std::mem::take(block).into_iter().zip(needless);
        *block = steps
            .filter(|(_, is_needless)| !is_needless)
            .map(|(step, _)| step)
            .collect();
    }
}

/// Whether a path is one constant place among so many.
fn is_below(constants: &Constants, keys: &[Operand], length: u32) -> bool {
    match keys {
        [key] => match constants.get(*key) {
            Some(Value::Int(index)) => (0..i64::from(length)).contains(index),
            _ => false,
        },
        _ => false,
    }
}
