//! Values that differ between runs.

use serde_json::Value;

/// Members that describe the build.
const BUILD: [&str; 4] = [
    "build_commit",
    "build_timestamp",
    "build_host",
    "build_hostname",
];

/// Clears measured values and build information, and checks that they were present.
pub fn clear(answer: &mut Value) {
    clear_metrics(answer);
    // each response of a batch has its own
    if let Some(Value::Object(responses)) = answer.get_mut("responses") {
        responses.values_mut().for_each(clear_metrics);
    }
    clear_build(answer);
}

fn clear_metrics(answer: &mut Value) {
    if let Some(Value::Object(metrics)) = answer.get_mut("metrics") {
        for (name, value) in metrics.iter_mut() {
            clear_metric(name, value);
        }
    }
}

fn clear_metric(name: &str, value: &mut Value) {
    match value {
        Value::Object(parts) if name.starts_with("histogram_") => {
            assert!(parts.values().all(Value::is_number), "{name}: {parts:?}");
            for part in parts.values_mut() {
                *part = 0.into();
            }
        }
        _ => {
            assert!(value.is_u64(), "metric {name} is {value}");
            if name.starts_with("timer_") {
                *value = 0.into();
            }
        }
    }
}

fn clear_build(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(clear_build),
        Value::Object(fields) => {
            if fields.contains_key("build_timestamp") {
                for name in BUILD {
                    if let Some(fact) = fields.get_mut(name) {
                        assert!(fact.is_string(), "{name} is {fact}");
                        *fact = "".into();
                    }
                }
                if let Some(version) = fields.get_mut("version") {
                    assert_ne!(*version, "");
                    *version = "".into();
                }
            }
            fields.values_mut().for_each(clear_build);
        }
        _ => {}
    }
}
