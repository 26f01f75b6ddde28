//! Metadata that host functions return to the caller, in addition to the result.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::value::Value;

/// Fields that functions of the host add to a decision's response, by name.
///
/// ```
/// use solon::{BuiltinError, HostFunction};
/// use solon::{Engine, Request, ResponseMetadata, Value};
///
/// let audited = HostFunction::new("audited", "x: any => same: any", |call, operands| {
///     let tenant = call.metadata().and_then(Value::as_object);
///     let tenant = tenant.and_then(|fields| fields.get_str("tenant"));
///     call.set_response_metadata("audit/tenant", tenant.cloned().unwrap_or_default());
///     operands.first().copied().ok_or(BuiltinError::Undefined)
/// })?;
/// let engine = Engine::builder().function(audited)?.build();
/// let query = engine.prepare_query("x := audited(1)")?;
///
/// let metadata = Value::object(vec![("tenant".into(), "acme".into())]);
/// let response = ResponseMetadata::default();
/// query.solutions(&Request::new().metadata(&metadata).response_metadata(&response))?;
/// assert_eq!(response.to_value().to_string(), r#"{"audit/tenant":"acme"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ResponseMetadata {
    fields: RefCell<BTreeMap<String, Value>>,
}

impl ResponseMetadata {
    /// Adds or replaces a field.
    pub fn set(&self, name: impl Into<String>, value: Value) {
        self.fields.borrow_mut().insert(name.into(), value);
    }

    /// Returns `true` if no function added a field.
    pub fn is_empty(&self) -> bool {
        self.fields.borrow().is_empty()
    }

    /// Returns the fields as an object.
    pub fn to_value(&self) -> Value {
        let fields = self.fields.borrow();
        let fields = fields.iter();
        fields.map(|(name, value)| (name, value.clone())).collect()
    }
}
