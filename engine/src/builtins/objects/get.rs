//! `object.get`, with constant paths prepared.

use std::sync::Arc;

use crate::builtins::operands::plain_int;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared};
use crate::value::{RefRepr, Repr, Value, ValueRef};

pub fn get<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let object = operands.object(0)?;
    let (key, default) = (operands.operand(1), operands.operand(2));
    let Some(path) = key.as_array() else {
        return Ok(object.get(key).unwrap_or(default));
    };
    let value = path.iter().try_fold(operands.operand(0), child);
    Ok(value.unwrap_or(default))
}

/// Returns the child of a value under a step of a path.
fn child<'e>(value: ValueRef<'e>, key: ValueRef<'e>) -> Option<ValueRef<'e>> {
    match value.as_array() {
        Some(array) => array.get(index(key)?),
        None => value.lookup(key),
    }
}

fn index(key: ValueRef<'_>) -> Option<usize> {
    usize::try_from(plain_int(key.as_number()?)?).ok()
}

/// A constant key or path: its steps.
struct ConstantPath(Box<[Value]>);

pub fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let key = operands.get(1).copied()??;
    let steps = match key.as_array() {
        Some(path) => path.iter().map(ValueRef::to_value).collect(),
        None => [key.to_value()].into(),
    };
    Some(Arc::new(ConstantPath(steps)))
}

impl Prepared for ConstantPath {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let [ValueRef(RefRepr::Object(object)), _, default] = operands else {
            return get(call, operands);
        };
        let Some((first, rest)) = self.0.split_first() else {
            return get(call, operands);
        };
        // stored values are traversed without a copy
        let mut value = object.get_stored(first);
        for step in rest {
            value = match value {
                Some(Value(Repr::Object(object))) => object.get_stored(step),
                Some(Value(Repr::Array(items))) => {
                    index(step.borrow()).and_then(|index| items.get(index))
                }
                // the member of a set has the spelling of the step
                Some(Value(Repr::Set(_))) => return get(call, operands),
                _ => None,
            };
        }
        Ok(value.map_or(*default, Value::borrow))
    }
}
