//! Inlined rules and fused producers.

use crate::program::{FusedSet, Inlined, InlinedRule};
use crate::runtime::Halt;
use crate::value::ValueRef;

use super::machine::{Flow, Machine};

impl<'e> Machine<'e> {
    /// Returns `true` if a rule that is `true` or undefined is true. Documents replaced by `with` are looked up instead.
    pub(super) fn any(&mut self, any: &'e InlinedRule) -> Result<bool, Halt> {
        if self.overlaid {
            let found = self.overlaid_rule(any.rule, &[])?;
            return Ok(found.is_some_and(ValueRef::is_truthy));
        }
        for block in &any.blocks {
            if self.run(block)? == Flow::Stop {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates an inlined function. Returns `false` if it is undefined. With replaced functions, it is called.
    pub(super) fn inlined(&mut self, inlined: &'e Inlined) -> Result<bool, Halt> {
        if self.mocked {
            let found = self.function_call(&inlined.call);
            return self.found(found, inlined.out);
        }
        for (block, value) in inlined.blocks.iter().zip(&inlined.values) {
            if self.onward(block)? == Flow::Stop {
                self.copy(*value, inlined.out);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Continues with each member that the bodies of a rule produce.
    pub(super) fn fused(&mut self, fused: &'e FusedSet) -> Result<Flow, Halt> {
        let (plain, fused) = fused.versions();
        if self.overlaid {
            return self.run(plain);
        }
        for block in fused {
            if self.run(block)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::More)
    }
}
