//! Loops do not note the keys that nobody reads.

use crate::program::{Block, Plan, Slot, Step};

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
