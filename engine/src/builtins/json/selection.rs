//! `json.filter` and `json.remove` with constant paths: a tree of keys, built once. The selection in objects of one
//! shape is resolved once per evaluation.

use std::sync::Arc;

use super::filter::{each, filter, remove};
use super::paths::text_segments;
use crate::bug::bug;
use crate::builtins::objects::shape_merges::{self, MergeSource, ShapeId};
use crate::builtins::{BuiltinContext, BuiltinError, Members, Operands, Prepared};
use crate::value::{ObjectView, Value, ValueRef};

/// Maximum length of a path, and maximum number of steps at one node.
const MOST: usize = 64;

/// Paths as a tree. The root is the first node.
struct PathSelection {
    nodes: Vec<Vec<SelectionStep>>,
    /// `true` for `json.filter`, `false` for `json.remove`.
    keeps: bool,
}

struct SelectionStep {
    key: Value,
    to: To,
}

#[derive(Clone, Copy)]
enum To {
    End,
    /// Inner node with this index.
    On(usize),
}

pub fn prepare(operands: &[Option<ValueRef<'_>>], keeps_paths: bool) -> Option<Arc<dyn Prepared>> {
    let paths = Members::from_value(operands.get(1).copied()??)?;
    let mut selection = PathSelection {
        nodes: vec![Vec::new()],
        keeps: keeps_paths,
    };
    for path in paths.iter() {
        selection.add(&text_segments(path)?)?;
    }
    Some(Arc::new(selection))
}

impl PathSelection {
    /// Adds a path. The rest of a path after the end of another one has no effect.
    fn add(&mut self, path: &[Value]) -> Option<()> {
        let (last, parents) = path.split_last()?;
        let mut node_index = 0;
        for key in parents {
            node_index = match self.step(node_index, key, None)? {
                To::On(next) => next,
                To::End => return Some(()),
            };
        }
        self.step(node_index, last, Some(To::End))?;
        (path.len() <= MOST).then_some(())
    }

    /// Adds a step for a key, either to an end or to an inner node.
    fn step(&mut self, from: usize, key: &Value, to: Option<To>) -> Option<To> {
        let new = self.nodes.len();
        let node = self.nodes.get_mut(from)?;
        let existing = node.iter_mut().find(|step| step.key == *key);
        if let Some(step) = existing {
            step.to = to.unwrap_or(step.to);
            return Some(step.to);
        }
        let led = to.unwrap_or(To::On(new));
        node.push(SelectionStep {
            key: key.clone(),
            to: led,
        });
        if node.len() > MOST {
            return None;
        }
        if to.is_none() {
            self.nodes.push(Vec::new());
        }
        Some(led)
    }

    /// Returns the selected part of a value. Objects with a shape use a cached template.
    fn select<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        node_index: usize,
        value: ValueRef<'e>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let Some(node) = self.nodes.get(node_index) else {
            bug!("a selection names a node that is not there");
        };
        if let Some(object) = value.as_object()
            && let Some(shape) = shape_merges::shape_id(object)
            && let Some(template) =
                shape_merges::recall(call, shape, ShapeId::of_changes(node), |_| {
                    self.selected_pairs(node, object)
                })
        {
            let values = shape_merges::values(object);
            let selected = shape_merges::fill(call, template, |call, source, target| {
                match source {
                    MergeSource::Left(index) => values.put(index, target),
                    MergeSource::Both(index, step) => {
                        let step = node.get(usize::from(step));
                        match self.select_inside(
                            call,
                            step.map(|step| step.to),
                            values.get(index),
                        )? {
                            Some(part) => *target = part,
                            None => return Ok(false),
                        }
                    }
                    MergeSource::Right(_) => return Ok(false),
                }
                Ok(true)
            });
            return Ok(selected?.unwrap_or_else(|| bug!("a form keeps what is left out")));
        }
        each(call, value, |call, key, value| {
            let step = node.iter().find(|step| step.key.borrow() == key);
            self.select_inside(call, step.map(|step| step.to), value)
        })
    }

    /// Returns the selected part of a value after a step, or `None`.
    fn select_inside<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        step: Option<To>,
        value: ValueRef<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError> {
        match step {
            None => Ok((!self.keeps).then_some(value)),
            Some(To::End) => Ok(self.keeps.then_some(value)),
            Some(To::On(next)) => self.select(call, next, value).map(Some),
        }
    }

    /// Returns the selected keys of an object with the sources of their values.
    #[cold]
    fn selected_pairs<'e>(
        &self,
        node: &[SelectionStep],
        object: ObjectView<'e>,
    ) -> Option<Vec<(ValueRef<'e>, MergeSource)>> {
        let pairs = shape_merges::keys(object)?
            .into_iter()
            .filter_map(|(key, index)| {
                let mut steps = node.iter().zip(0..);
                let step = steps.find(|(step, _)| step.key.borrow() == key);
                match step.map(|(step, number)| (step.to, number)) {
                    None => (!self.keeps).then_some((key, MergeSource::Left(index))),
                    Some((To::End, _)) => self.keeps.then_some((key, MergeSource::Left(index))),
                    Some((To::On(_), number)) => Some((key, MergeSource::Both(index, number))),
                }
            });
        Some(pairs.collect())
    }
}

impl Prepared for PathSelection {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        if operands.object(0).is_err() {
            let run = if self.keeps { filter } else { remove };
            return run(call, operands);
        }
        self.select(call, 0, operands.operand(0))
    }
}
