//! Five workloads written by hand in Rust over the same parsed values: how fast a decision could be at all.

use std::time::Instant;

use solon::Value;
use solon::value::json;

use crate::engines::{Contender, elapsed_ms};
use crate::manifest::Workload;

/// A decision by hand.
type Decision = fn(data: &Value, input: &Value) -> Option<Value>;

const DECISIONS: [(&str, Decision); 5] = [
    ("a0_floor", floor),
    ("a1_rbac_admin", is_admin),
    ("b3_map_hit", map_hit),
    ("c1_sum", sum),
    ("c2_filter_count", filter_count),
];

/// A decision by hand, with its documents.
pub struct Written {
    decide: Decision,
    data: Value,
    input: Value,
    text: String,
    load_ms: f64,
}

impl Written {
    /// Loads a workload that there is a decision for.
    ///
    /// # Errors
    /// When there is none, or its documents are no JSON.
    pub fn load(workload: &Workload) -> Result<Self, String> {
        let known = DECISIONS.iter().find(|(name, _)| *name == workload.name);
        let (_, decide) = known.ok_or("not written")?;
        let read = |text: &str| json::read(text.as_bytes()).map_err(|error| error.to_string());
        let start = Instant::now();
        let data = workload.data.as_deref().map_or(Ok(Value::Null), read)?;
        let load_ms = elapsed_ms(start);
        let text = workload.input.clone().unwrap_or_else(|| "null".to_owned());
        Ok(Self {
            decide: *decide,
            data,
            input: read(&text)?,
            text,
            load_ms,
        })
    }
}

impl Contender for Written {
    fn decide(&mut self) {
        std::hint::black_box((self.decide)(
            std::hint::black_box(&self.data),
            std::hint::black_box(&self.input),
        ));
    }

    fn decide_json(&mut self) -> Option<String> {
        let input = json::read(self.text.as_bytes()).ok()?;
        Some((self.decide)(&self.data, &input)?.to_string())
    }

    fn load_ms(&self) -> f64 {
        self.load_ms
    }

    fn prepare_ms(&self) -> f64 {
        0.0
    }
}

/// What an object holds under a key that is a value.
fn under<'v>(value: &'v Value, key: &Value) -> Option<&'v Value> {
    value.as_object()?.get(key.borrow())
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    let items = match value {
        Value::Array(items) => Some(items.iter()),
        _ => None,
    };
    items.into_iter().flatten()
}

fn is(value: Option<&Value>, text: &str) -> bool {
    value.is_some_and(|value| {
        let text = Value::string(text);
        *value == text
    })
}

fn floor(_: &Value, input: &Value) -> Option<Value> {
    Some(Value::Bool(is(input.get("user"), "alice")))
}

fn is_admin(data: &Value, input: &Value) -> Option<Value> {
    let roles = under(data.get("user_roles")?, input.get("user")?)?;
    Some(Value::Bool(
        elements(roles).any(|role| is(Some(role), "admin")),
    ))
}

fn map_hit(data: &Value, input: &Value) -> Option<Value> {
    let roles = under(data.get("users")?, input.get("user")?)?.get("roles")?;
    let (resource, action) = (input.get("resource")?, input.get("action")?);
    let granted = |role: &Value| {
        let permissions = under(data.get("roles")?, role)?.get("perm_map")?;
        let granted = under(under(permissions, resource)?, action)?;
        Some(!matches!(granted, Value::Bool(false)))
    };
    let found = elements(roles).any(|role| granted(role) == Some(true));
    Some(Value::Bool(found))
}

fn sum(data: &Value, _: &Value) -> Option<Value> {
    let amounts = elements(data.get("items")?).map(|item| item.get("amount"));
    let sum = amounts.map(|amount| match amount {
        Some(Value::Int(amount)) => *amount,
        _ => 0,
    });
    Some(Value::Int(sum.sum()))
}

fn filter_count(data: &Value, _: &Value) -> Option<Value> {
    let high = elements(data.get("items")?).filter(|item| {
        matches!(item.get("amount"), Some(Value::Int(501..))) && is(item.get("status"), "open")
    });
    Some(Value::Int(i64::try_from(high.count()).ok()?))
}
