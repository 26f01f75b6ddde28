//! Leaves: what is done with a solution.

use crate::builtins::FaultCode;
use crate::program::Step;
use crate::value::{Put, V};

use super::error::Halt;
use super::machine::{Flow, Machine};
use super::sink::Sink;

impl<'e> Machine<'e> {
    /// Runs the last step of a block.
    pub(super) fn leaf(&mut self, leaf: &'e Step) -> Result<Flow, Halt> {
        match leaf {
            Step::Exists => return Ok(Flow::Stop),
            Step::Value(operand) => {
                let value = self.get(*operand);
                if let Some(produced) = self.values.last_mut() {
                    produced.hit = true;
                    match produced.found {
                        Some(old) if old != value => return Err(Halt::Clash),
                        Some(_) => {}
                        None => produced.found = Some(value),
                    }
                    return Ok(if produced.early {
                        Flow::Stop
                    } else {
                        Flow::More
                    });
                }
            }
            Step::Append(operand) => {
                let value = self.get(*operand);
                if let Some(Sink::Array(items)) = self.sinks.last_mut() {
                    items.push(value);
                }
            }
            Step::Insert(operand) => {
                let value = self.get(*operand);
                if let Some(Sink::Set(set)) = self.sinks.last_mut() {
                    set.insert(value);
                }
            }
            Step::Put { key, value, span } => {
                let (key, value) = (self.get(*key), self.get(*value));
                if let Some(Sink::Object(object)) = self.sinks.last_mut()
                    && object.put(key, value) == Put::Conflict
                {
                    return Err(self.error(
                        FaultCode::Conflict,
                        *span,
                        "object keys must be unique".into(),
                    ));
                }
            }
            Step::Produce {
                path,
                value,
                member,
            } => {
                let path: smallvec::SmallVec<[V<'e>; 4]> =
                    path.iter().map(|key| self.get(*key)).collect();
                let value = self.get(*value);
                let arena = self.call.arena;
                if let Some(Sink::Extent(extent)) = self.sinks.last_mut()
                    && extent.insert(arena, &path, value, *member).is_err()
                {
                    return Err(Halt::Clash);
                }
            }
            Step::Solution(wanted) => {
                let row = wanted.iter().map(|operand| self.get(*operand)).collect();
                if let Some(Sink::Rows(rows)) = self.sinks.last_mut() {
                    rows.push(row);
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }
}
