//! Removal of unused results: keys of loops, paths of `walk`, elements of array patterns, and the order of arrays that
//! are only sorted or counted.

use super::constants::Constants;
use crate::program::{Block, Collector, Operand, PartMut, Plan, Slot, Step};
use crate::value::{Repr, Value};

/// Removes keys of loops that no step reads.
pub fn keys(plan: &mut Plan) {
    let reads = plan.reads();
    within(&mut plan.steps, &|slot| {
        reads.get(slot as usize) == Some(&0)
    });
}

fn within(block: &mut Block, is_unread: &impl Fn(Slot) -> bool) {
    for step in block.iter_mut() {
        step.parts_mut(&mut |part| {
            if let PartMut::Spare(slot) = part {
                *slot = slot.filter(|slot| !is_unread(*slot));
            }
        });
        for inner in step.blocks_mut() {
            within(inner, is_unread);
        }
    }
}

/// Removes elements that a pattern takes from an array of known length and no step reads: they always exist.
pub fn elements(plan: &mut Plan, constants: &Constants) {
    let reads = plan.reads();
    forget(&mut plan.steps, constants, &|slot| {
        reads.get(slot as usize) == Some(&0)
    });
}

fn forget(block: &mut Block, constants: &Constants, is_unread: &impl Fn(Slot) -> bool) {
    for step in block.iter_mut() {
        for inner in step.blocks_mut() {
            forget(inner, constants, is_unread);
        }
    }
    let mut array = None;
    let is_needless = |step: &Step| {
        if let Step::IsArray(operand, length) = step {
            array = Some((*operand, *length));
        }
        let (Step::Dot { from, keys, out }, Some((operand, length))) = (step, array) else {
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

/// Returns `true` if a path is one constant index below `length`.
fn is_below(constants: &Constants, keys: &[Operand], length: u32) -> bool {
    match keys {
        [key] => match constants.get(*key) {
            Some(Value(Repr::Int(index))) => (0..i64::from(length)).contains(index),
            _ => false,
        },
        _ => false,
    }
}

/// Removes the order of arrays that are only sorted and counted.
pub fn orders(plan: &mut Plan) {
    // a replacement of `sort` by `with` can observe the order
    if !plan.contains_step(is_sorting) || plan.contains_step(|step| matches!(step, Step::With(_))) {
        return;
    }
    let reads = plan.reads();
    let mut unordered = vec![0_u32; reads.len()];
    plan.visit(&mut |step| {
        if let Step::Call { call, .. } = step
            && (is_sorting(step) || call.entry.builtin.name == "count")
            && let [Operand::Slot(slot)] = *call.args
            && let Some(count) = unordered.get_mut(slot as usize)
        {
            *count += 1;
        }
    });
    let is_bag = |slot: Slot| {
        let (all, without) = (reads.get(slot as usize), unordered.get(slot as usize));
        all == without
    };
    forget_order(&mut plan.steps, &is_bag);
}

fn is_sorting(step: &Step) -> bool {
    matches!(step, Step::Call { call, .. } if call.entry.builtin.name == "sort")
}

fn forget_order(block: &mut Block, is_bag: &impl Fn(Slot) -> bool) {
    for step in block.iter_mut() {
        if let Step::Collect { into, out, .. } = step
            && *into == Collector::Array
            && is_bag(*out)
        {
            *into = Collector::Bag;
        }
        for inner in step.blocks_mut() {
            forget_order(inner, is_bag);
        }
    }
}
