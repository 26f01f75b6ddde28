//! Constant patches: a tree of changes, built once. If objects of one shape are changed alike, their keys are resolved
//! once per evaluation.
//!
//! Unusual operations and documents use the operations one by one, which report all errors.

use std::sync::Arc;

use super::patch::patch;
use super::paths::{segment_value, text_segments};
use crate::builtins::arrays::allot;
use crate::builtins::objects::shape_merges::{self, MergeSource, ShapeId};
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared};
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::{ObjectView, RefRepr, Value, ValueRef};

/// Maximum length of a path, and maximum number of changes in one object or array.
const MOST: usize = 64;

/// Operations as a tree. The root is the first node.
struct Edits {
    nodes: Vec<EditNode>,
    operations: u32,
}

/// Changes in an object or array, in the order of the operations.
#[derive(Default)]
struct EditNode {
    edits: Vec<PathEdit>,
}

struct PathEdit {
    key: Value,
    action: Action,
}

#[derive(Clone, Copy)]
enum Action {
    /// Sets the value of an operation at a key; either only replaces an existing value, or also inserts.
    Put {
        operation: usize,
        value: usize,
        over: bool,
    },
    Remove,
    Into(usize),
}

enum ArrayPosition {
    At(usize),
    End,
}

pub fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let operations = operands.get(1).copied()??.as_array()?;
    let mut edits = Edits {
        nodes: vec![EditNode::default()],
        operations: u32::try_from(operations.len()).ok()?,
    };
    for (operation_index, operation) in operations.iter().enumerate() {
        let ValueRef(RefRepr::Object(operation)) = operation else {
            return None;
        };
        let value = || {
            operation.position(ValueRef(RefRepr::Short(crate::value::Short::new(
                b"value",
            )?)))
        };
        let put_action = |over| {
            let value = usize::try_from(value()?).ok()?;
            Some(Action::Put {
                operation: operation_index,
                value,
                over,
            })
        };
        let action = match operation.get_str("op")?.utf8()? {
            "add" => put_action(false)?,
            "replace" => put_action(true)?,
            "remove" => Action::Remove,
            _ => return None,
        };
        edits.add(&text_segments(operation.get_str("path")?.borrow())?, action)?;
    }
    Some(Arc::new(edits))
}

impl Edits {
    /// Adds an operation. Returns `None` if it affects the result of an earlier one, because then their order counts.
    fn add(&mut self, path: &[Value], action: Action) -> Option<()> {
        let (last, parents) = path.split_last()?;
        if path.len() > MOST {
            return None;
        }
        let mut node_index = 0;
        for key in parents {
            let new = self.nodes.len();
            let node = self.nodes.get_mut(node_index)?;
            let position = node.edits.iter().position(|edit| edit.key == *key);
            node_index = match position.and_then(|position| node.edits.split_at_checked(position)) {
                None => {
                    node.push(key, Action::Into(new))?;
                    self.nodes.push(EditNode::default());
                    new
                }
                Some((_, since)) => {
                    // Elements of an array may have moved between the two operations.
                    let stays = |edit: &PathEdit| match edit.action {
                        Action::Into(_) | Action::Put { over: true, .. } => true,
                        Action::Put { .. } | Action::Remove => {
                            !matches!(index(&edit.key), Some(ArrayPosition::At(_)))
                        }
                    };
                    let Action::Into(next) = since.first()?.action else {
                        return None;
                    };
                    if !since.iter().all(stays) {
                        return None;
                    }
                    next
                }
            };
        }
        let node = self.nodes.get_mut(node_index)?;
        // Changes of array elements are applied one after the other.
        if index(last).is_none() && node.edits.iter().any(|edit| edit.key == *last) {
            return None;
        }
        node.push(last, action)
    }

    /// Returns a value with the changes of a node, or `None` if they cannot be applied.
    fn apply<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        node: usize,
        value: ValueRef<'e>,
        operations: ArrayView<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError> {
        let Some(node) = self.nodes.get(node) else {
            return Ok(None);
        };
        if let Some(object) = value.as_object() {
            self.apply_to_object(call, node, object, operations)
        } else if let Some(array) = value.as_array() {
            self.apply_to_array(call, node, array, operations)
        } else {
            Ok(None)
        }
    }

    fn apply_to_object<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        node: &EditNode,
        object: ObjectView<'e>,
        operations: ArrayView<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError> {
        let Some(shape) = shape_merges::shape_id(object) else {
            return Ok(None);
        };
        let make = |call: &mut BuiltinContext<'e>| node.edited_pairs(call, object);
        let Some(template) = shape_merges::recall(call, shape, ShapeId::of_changes(node), make)
        else {
            return Ok(None);
        };
        let values = shape_merges::values(object);
        shape_merges::fill(call, template, |call, source, target| {
            let (index, edit) = match source {
                MergeSource::Left(index) => {
                    values.put(index, target);
                    return Ok(true);
                }
                MergeSource::Right(edit) => (None, edit),
                MergeSource::Both(index, edit) => (Some(index), edit),
            };
            let action = node.edits.get(usize::from(edit)).map(|edit| edit.action);
            let new = match (action, index) {
                (
                    Some(Action::Put {
                        operation, value, ..
                    }),
                    _,
                ) => value_of(operations, operation, value),
                (Some(Action::Into(next)), Some(index)) => {
                    self.apply(call, next, values.get(index), operations)?
                }
                _ => None,
            };
            Ok(new.map(|new| *target = new).is_some())
        })
    }

    fn apply_to_array<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        node: &EditNode,
        array: ArrayView<'e>,
        operations: ArrayView<'e>,
    ) -> Result<Option<ValueRef<'e>>, BuiltinError> {
        let capacity = array.len() + node.edits.len();
        allot(call, capacity)?;
        let mut items = bumpalo::collections::Vec::with_capacity_in(capacity, call.arena.bump());
        items.extend(array.iter());
        for edit in &node.edits {
            let index = match index(&edit.key) {
                Some(ArrayPosition::At(index)) => index,
                Some(ArrayPosition::End) => items.len(),
                None => return Ok(None),
            };
            match (edit.action, items.get(index).copied()) {
                (
                    Action::Put {
                        operation,
                        value,
                        over: replaces,
                    },
                    _,
                ) => {
                    let Some(value) = value_of(operations, operation, value) else {
                        return Ok(None);
                    };
                    if replaces && let Some(item) = items.get_mut(index) {
                        *item = value;
                    } else if replaces || index > items.len() {
                        return Ok(None);
                    } else {
                        items.insert(index, value);
                    }
                }
                (Action::Remove, Some(_)) => drop(items.remove(index)),
                (Action::Into(next), Some(item)) => {
                    let new = self.apply(call, next, item, operations)?;
                    let (Some(item), Some(new)) = (items.get_mut(index), new) else {
                        return Ok(None);
                    };
                    *item = new;
                }
                (_, None) => return Ok(None),
            }
        }
        Ok(Some(call.arena.array_of(items.into_bump_slice())))
    }
}

impl EditNode {
    fn push(&mut self, key: &Value, action: Action) -> Option<()> {
        self.edits.push(PathEdit {
            key: key.clone(),
            action,
        });
        (self.edits.len() <= MOST).then_some(())
    }

    /// Returns the keys of a changed object with the sources of their values, or `None` if a change cannot be applied.
    #[cold]
    fn edited_pairs<'e>(
        &self,
        call: &BuiltinContext<'e>,
        object: ObjectView<'e>,
    ) -> Option<Vec<(ValueRef<'e>, MergeSource)>> {
        let mut kept_pairs = shape_merges::keys(object)?;
        let mut new = Vec::with_capacity(self.edits.len());
        for (edit, index) in self.edits.iter().zip(0..) {
            let position = kept_pairs
                .iter()
                .position(|(key, _)| *key == edit.key.borrow());
            match (edit.action, position) {
                (Action::Put { over: false, .. }, _)
                | (Action::Put { .. } | Action::Into(_), Some(_)) => {
                    new.push((segment_value(call, &edit.key), index));
                }
                (Action::Remove, Some(position)) => drop(kept_pairs.remove(position)),
                _ => return None,
            }
        }
        new.sort();
        // Repeated changes of a key are only supported for arrays.
        let is_twice =
            |pair: &[(ValueRef<'_>, u8)]| matches!(pair, [(one, _), (other, _)] if one == other);
        if new.windows(2).any(is_twice) {
            return None;
        }
        Some(shape_merges::together(kept_pairs, new))
    }
}

#[inline]
fn value_of(operations: ArrayView<'_>, operation: usize, value: usize) -> Option<ValueRef<'_>> {
    let ArrayView(ArrayViewRepr::Stored(operations)) = operations else {
        return None;
    };
    let (_, values) = operations.get(operation)?.as_object()?.shaped()?;
    values.get(value).map(Value::borrow)
}

/// Parses an array index in canonical spelling.
fn index(key: &Value) -> Option<ArrayPosition> {
    const DIGITS: usize = 9;
    let text = key.utf8()?;
    if text == "-" {
        return Some(ArrayPosition::End);
    }
    let is_plain = text.len() <= DIGITS
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok().map(ArrayPosition::At))?
}

impl Prepared for Edits {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        call.budget.spend(self.operations)?;
        let operations = operands.array(1)?;
        match self.apply(call, 0, operands.operand(0), operations)? {
            Some(patched) => Ok(patched),
            None => patch(call, operands),
        }
    }
}
