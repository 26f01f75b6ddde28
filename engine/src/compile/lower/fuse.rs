//! Fusion of comprehensions into the aggregates that consume them.

use crate::builtins::Aggregation;
use crate::program::{Aggregate, Block, Collector, Operand, Plan, Slot, Step};

/// Fuses the comprehensions of a plan with the aggregates after them.
pub fn aggregates(plan: &mut Plan) {
    if may_fuse(&plan.steps) {
        let reads = plan.reads();
        fuse(&mut plan.steps, &reads);
    }
}

/// Returns `true` if some comprehension is followed by an aggregate.
fn may_fuse(block: &[Step]) -> bool {
    let is_followed = |pair: &[Step]| match pair {
        [Step::Collect { .. }, Step::Call { call, .. }] => call.entry.builtin.aggregation.is_some(),
        _ => false,
    };
    block.windows(2).any(is_followed)
        || block
            .iter()
            .flat_map(Step::blocks)
            .any(|inner| may_fuse(inner))
}

fn fuse(block: &mut Block, reads: &[u32]) {
    let mut steps: Vec<Step> = Vec::with_capacity(block.len());
    for mut step in std::mem::take(block) {
        for inner in step.blocks_mut() {
            fuse(inner, reads);
        }
        match (steps.pop(), step) {
            (Some(collect), step) => match fused(collect, step, reads) {
                Ok(aggregate) => steps.push(aggregate),
                Err((collect, step)) => steps.extend([collect, step]),
            },
            (None, step) => steps.push(step),
        }
    }
    *block = steps.into();
}

fn fused(collect: Step, step: Step, reads: &[u32]) -> Result<Step, (Step, Step)> {
    match (collect, step) {
        (
            Step::Collect {
                into,
                block,
                out: slot,
            },
            Step::Call { call, out },
        ) => {
            let aggregation = call
                .entry
                .builtin
                .aggregation
                .filter(|aggregation| is_exact(into, *aggregation))
                .filter(|_| *call.args == [Operand::Slot(slot)] && is_read_once(reads, slot));
            match aggregation {
                Some(aggregation) => Ok(Step::Aggregate(Box::new(Aggregate {
                    aggregation,
                    into,
                    block,
                    slot,
                    call: *call,
                    out,
                }))),
                None => Err((
                    Step::Collect {
                        into,
                        block,
                        out: slot,
                    },
                    Step::Call { call, out },
                )),
            }
        }
        others => Err(others),
    }
}

/// Returns `true` if aggregating elements one by one gives the same result. A set counts equal elements once and keeps
/// the first.
fn is_exact(into: Collector, aggregation: Aggregation) -> bool {
    match into {
        Collector::Array | Collector::Bag => true,
        Collector::Set => aggregation == Aggregation::Count,
        Collector::Object => false,
    }
}

fn is_read_once(reads: &[u32], slot: Slot) -> bool {
    reads.get(slot as usize) == Some(&1)
}
