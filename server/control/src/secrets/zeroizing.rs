//! JSON values that contain secrets while they are parsed.

use serde_json::Value;
use zeroize::Zeroize as _;

/// A value whose strings are overwritten before their memory is freed.
#[derive(Debug, Default)]
pub struct ZeroizingValue(pub Value);

impl Drop for ZeroizingValue {
    fn drop(&mut self) {
        clear(&mut self.0);
    }
}

fn clear(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(clear),
        Value::Object(members) => members.values_mut().for_each(clear),
        _ => {}
    }
}
