//! `json.patch`: the operations of RFC 6902, for all of Rego's collections.

use super::paths::segments;
use super::tree::{PatchTree, TreeChange};
use crate::builtins::{BuiltinContext, BuiltinError, Members, Operands};
use crate::limits::VALUE_NESTING;
use crate::value::{Kind, ObjectView, ValueRef};

pub fn patch<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operations = operands.array(1)?;
    let mut document = PatchedDocument(Some(PatchTree::Value(operands.operand(0))));
    for operation in operations.iter() {
        call.budget.step()?;
        let operation = operation.as_object().ok_or_else(|| {
            BuiltinError::error(
                "must be an array of JSON-Patch objects, but at least one element is not an object",
            )
        })?;
        apply(call, &mut document, operation)?;
    }
    match document.0 {
        Some(tree) => tree.value(call),
        // OPA panics here
        None => Err(BuiltinError::error("the whole document was removed")),
    }
}

/// A document. `None` after all of it was removed.
struct PatchedDocument<'e>(Option<PatchTree<'e>>);

impl<'e> PatchedDocument<'e> {
    fn get(
        &mut self,
        call: &mut BuiltinContext<'e>,
        path: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        match &mut self.0 {
            Some(tree) => tree.get(call, path),
            None => Err(BuiltinError::error(
                "nil value encountered where composite value was expected",
            )),
        }
    }

    fn change(
        &mut self,
        call: &mut BuiltinContext<'e>,
        path: &[ValueRef<'e>],
        change: TreeChange<'e>,
    ) -> Result<(), BuiltinError> {
        if let TreeChange::Insert(value) | TreeChange::Replace(value) = change {
            check_nesting(call, path.len(), value)?;
        }
        match (&mut self.0, change) {
            (Some(_), TreeChange::Replace(value)) | (_, TreeChange::Insert(value))
                if path.is_empty() =>
            {
                self.0 = Some(PatchTree::Value(value));
                Ok(())
            }
            (Some(_), TreeChange::Delete) if path.is_empty() => {
                self.0 = None;
                Ok(())
            }
            (Some(tree), _) => tree.change(call, path, change),
            (None, TreeChange::Insert(_)) => Err(BuiltinError::error(
                "deleted node encountered during insert operation",
            )),
            (None, TreeChange::Delete | TreeChange::Replace(_)) => Err(BuiltinError::error(
                "deleted node encountered during delete operation",
            )),
        }
    }
}

/// Rejects a value that would exceed the nesting limit at its destination. Without this check operations could nest
/// values without limit.
fn check_nesting<'e>(
    call: &mut BuiltinContext<'e>,
    depth: usize,
    value: ValueRef<'e>,
) -> Result<(), BuiltinError> {
    if value.kind() < Kind::Array && depth <= VALUE_NESTING {
        return Ok(());
    }
    let mut open = vec![(depth, value)];
    while let Some((depth, value)) = open.pop() {
        if depth > VALUE_NESTING {
            return Err(BuiltinError::error("patched document nests too deeply"));
        }
        let before = open.len();
        if let Some(members) = Members::from_value(value) {
            open.extend(members.iter_unordered().map(|member| (depth + 1, member)));
        } else if let Some(object) = value.as_object() {
            open.extend(object.iter().map(|(_, value)| (depth + 1, value)));
        }
        call.budget.spend_len(open.len() - before)?;
    }
    Ok(())
}

fn apply<'e>(
    call: &mut BuiltinContext<'e>,
    document: &mut PatchedDocument<'e>,
    operation: ObjectView<'e>,
) -> Result<(), BuiltinError> {
    let attribute = |name: &str| {
        operation
            .get_str(name)
            .ok_or_else(|| BuiltinError::error(format!("missing required attribute '{name}'")))
    };
    let path = attribute("path")?;
    let op = attribute("op")?;
    let Some(op) = op.as_text() else {
        let kind = op.kind();
        return Err(BuiltinError::error(format!(
            "attribute 'op' must be a string but found: {kind}"
        )));
    };
    let path = segments(call, path)?;
    match op.as_bytes() {
        b"add" => document.change(call, &path, TreeChange::Insert(attribute("value")?)),
        b"remove" => document.change(call, &path, TreeChange::Delete),
        b"replace" => match attribute("value") {
            Ok(value) => document.change(call, &path, TreeChange::Replace(value)),
            // a missing target is reported first
            Err(missing) => document
                .change(call, &path, TreeChange::Delete)
                .and(Err(missing)),
        },
        b"move" => {
            let from = segments(call, attribute("from")?)?;
            let value = document.get(call, &from)?;
            document.change(call, &from, TreeChange::Delete)?;
            document.change(call, &path, TreeChange::Insert(value))
        }
        b"copy" => {
            let from = segments(call, attribute("from")?)?;
            let value = document.get(call, &from)?;
            document.change(call, &path, TreeChange::Insert(value))
        }
        b"test" => {
            let actual = match document.0 {
                None if path.is_empty() => None,
                _ => Some(document.get(call, &path)?),
            };
            let expected = attribute("value")?;
            if actual == Some(expected) {
                return Ok(());
            }
            let actual = actual.map_or_else(
                || "<nil>".to_owned(),
                |actual| actual.rego_text().to_string(),
            );
            Err(BuiltinError::error(format!(
                "value from EditTree != patch value.\n\nExpected: {expected}\n\nFound: {actual}",
                expected = expected.rego_text()
            )))
        }
        op => Err(BuiltinError::error(format!(
            "unrecognized op: '{}'",
            crate::value::text::lossy(op)
        ))),
    }
}
