//! A configuration without its secrets.

use serde_json::{Map, Value};

/// The same without the credentials of services and the keys of keys.
pub fn redacted(config: &Value) -> Value {
    let mut config = config.clone();
    each(&mut config, "services", |service| {
        service.remove("credentials");
    });
    each(&mut config, "keys", |key| {
        key.remove("key");
        key.remove("private_key");
    });
    config
}

fn each(config: &mut Value, section: &str, change: fn(&mut Map<String, Value>)) {
    let items: Vec<&mut Value> = match config.get_mut(section) {
        Some(Value::Object(named)) => named.values_mut().collect(),
        Some(Value::Array(items)) => items.iter_mut().collect(),
        _ => return,
    };
    for item in items {
        if let Value::Object(fields) = item {
            change(fields);
        }
    }
}
