//! Every key that a configuration may have, and what may stand there.

use std::sync::LazyLock;

use serde_json::Value;
use solon_control::model::kind_of;

/// What may stand at a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Flag,
    Integer,
    Number,
    Texts,
    Numbers,
    /// Anything: it belongs to somebody else.
    Any,
}

use Kind::{Any, Flag, Integer, Number, Numbers, Text, Texts};

/// What stands at each place. A star is any name, or any position of a list.
const KEYS: &[(&str, Kind)] = &[
    ("default_decision", Text),
    ("default_authorization_decision", Text),
    ("labels.*", Text),
    ("capabilities", Text),
    ("nd_builtin_cache", Flag),
    ("persistence_directory", Text),
    ("caching.inter_query_builtin_cache.max_size_bytes", Integer),
    (
        "caching.inter_query_builtin_cache.forced_eviction_threshold_percentage",
        Integer,
    ),
    (
        "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds",
        Integer,
    ),
    (
        "caching.inter_query_builtin_value_cache.max_num_entries",
        Integer,
    ),
    (
        "caching.inter_query_builtin_value_cache.named.*.max_num_entries",
        Integer,
    ),
    (
        "caching.inter_query_builtin_value_cache.named.*.disabled",
        Flag,
    ),
    ("server.ui", Flag),
    ("server.encoding.gzip.min_length", Integer),
    ("server.encoding.gzip.compression_level", Integer),
    ("server.decoding.max_length", Integer),
    ("server.decoding.gzip.max_length", Integer),
    (
        "server.metrics.prom.http_request_duration_seconds.buckets",
        Numbers,
    ),
    ("server.logger_plugin", Text),
    ("services.*.name", Text),
    ("services.*.url", Text),
    ("services.*.headers.*", Text),
    ("services.*.response_header_timeout_seconds", Integer),
    ("services.*.tls.ca_cert", Text),
    ("services.*.tls.system_ca_required", Flag),
    ("services.*.allow_insecure_tls", Flag),
    ("services.*.allow_insure_tls", Flag),
    ("services.*.type", Text),
    ("services.*.credentials.bearer.token", Text),
    ("services.*.credentials.bearer.token_path", Text),
    ("services.*.credentials.bearer.scheme", Text),
    ("services.*.credentials.client_tls", Any),
    ("services.*.credentials.oauth2", Any),
    ("services.*.credentials.s3_signing", Any),
    ("services.*.credentials.gcp_metadata", Any),
    ("services.*.credentials.azure_managed_identity", Any),
    ("services.*.credentials.plugin", Text),
    ("keys.*.key", Text),
    ("keys.*.private_key", Text),
    ("keys.*.algorithm", Text),
    ("keys.*.scope", Text),
    ("bundles.*.service", Text),
    ("bundles.*.resource", Text),
    ("bundles.*.persist", Flag),
    ("bundles.*.trigger", Text),
    ("bundles.*.size_limit_bytes", Integer),
    ("bundles.*.polling.min_delay_seconds", Number),
    ("bundles.*.polling.max_delay_seconds", Number),
    ("bundles.*.polling.long_polling_timeout_seconds", Number),
    ("bundles.*.signing.keyid", Text),
    ("bundles.*.signing.scope", Text),
    ("bundles.*.signing.exclude_files", Texts),
    ("bundle", Any),
    ("decision_logs.service", Text),
    ("decision_logs.partition_name", Text),
    ("decision_logs.resource", Text),
    ("decision_logs.console", Flag),
    ("decision_logs.plugin", Text),
    ("decision_logs.mask_decision", Text),
    ("decision_logs.drop_decision", Text),
    ("decision_logs.request_context", Any),
    ("decision_logs.nd_builtin_cache", Flag),
    ("decision_logs.reporting", Any),
    ("status.service", Text),
    ("status.partition_name", Text),
    ("status.console", Flag),
    ("status.prometheus", Flag),
    ("status.prometheus_config", Any),
    ("status.plugin", Text),
    ("status.trigger", Text),
    ("discovery.service", Text),
    ("discovery.resource", Text),
    ("discovery.decision", Text),
    ("discovery.name", Text),
    ("discovery.prefix", Text),
    ("discovery.polling", Any),
    ("discovery.signing", Any),
    ("discovery.persist", Flag),
    ("discovery.trigger", Text),
    ("distributed_tracing.type", Text),
    ("distributed_tracing.address", Text),
    ("distributed_tracing.service_name", Text),
    ("distributed_tracing.sample_percentage", Integer),
    ("distributed_tracing.encryption", Text),
    ("distributed_tracing.allow_insecure_tls", Flag),
    ("distributed_tracing.tls_ca_cert_file", Text),
    ("distributed_tracing.tls_cert_file", Text),
    ("distributed_tracing.tls_private_key_file", Text),
    ("distributed_tracing.resource", Any),
    ("distributed_tracing.batch_span_processor_options", Any),
    ("metrics_export.type", Text),
    ("metrics_export.address", Text),
    ("metrics_export.service_name", Text),
    ("metrics_export.export_interval_ms", Integer),
    ("metrics_export.encryption", Text),
    ("metrics_export.allow_insecure_tls", Flag),
    ("metrics_export.tls_ca_cert_file", Text),
    ("metrics_export.tls_cert_file", Text),
    ("metrics_export.tls_private_key_file", Text),
    ("metrics_export.resource", Any),
    ("plugins.*", Any),
    ("storage.disk.directory", Text),
    ("storage.disk.auto_create", Flag),
    ("storage.disk.partitions", Texts),
    ("storage.disk.badger", Text),
    ("storage.sqlite.path", Text),
];

/// Keys of OPA that have no effect yet. They are rejected: a server that ignored them would seem to do what they say. `services`
/// and `keys` are not among them, since they only define what other keys refer to.
const UNSUPPORTED: [&str; 17] = [
    "bundle",
    "bundles",
    "decision_logs",
    "status.service",
    "status.partition_name",
    "status.plugin",
    "status.prometheus_config",
    "status.trigger",
    "discovery",
    "distributed_tracing",
    "metrics_export",
    "nd_builtin_cache",
    "persistence_directory",
    "plugins",
    "server.logger_plugin",
    "storage.disk",
    "caching.inter_query_builtin_value_cache.named.*.disabled",
];

/// Checks a configuration; what may be a slip of the pen is told.
///
/// # Errors
/// The first value that cannot stand where it does, with its place.
pub fn check(config: &Value) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    members(config, "", &rows(), &mut warnings)?;
    for name in UNSUPPORTED {
        let steps: Vec<&str> = name.split('.').collect();
        if let Some(place) = set_at(config, &steps, "") {
            return Err(format!("{place}: not supported yet"));
        }
    }
    Ok(warnings)
}

/// Returns the members of a section that have a meaning. The section is an object of names or a list. Members with unknown names,
/// and values of kinds that are not expected, are left out.
pub fn known_members(section: &str, value: &Value) -> Value {
    let rows = below(&rows(), section);
    match value {
        Value::Array(items) => {
            let rows = below(&rows, "*");
            let items = items.iter().filter_map(|item| known(item, &rows));
            items.collect()
        }
        _ => known(value, &rows).unwrap_or_default(),
    }
}

/// Returns what has a meaning of a value, or `None` if nothing has.
fn known(value: &Value, rows: &[Row<'_>]) -> Option<Value> {
    if let Some(leaf) = rows.iter().find(|row| row.path.is_empty()) {
        let fits = value.is_null() || leaf.kind.check(value, "").is_ok();
        return fits.then(|| value.clone());
    }
    if rows.is_empty() {
        return None;
    }
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| {
                Some((name.clone(), known(value, &below(rows, name))?))
            });
            Some(Value::Object(fields.collect()))
        }
        Value::Null => Some(Value::Null),
        _ => None,
    }
}

/// Returns the place of the first value at the steps that is set.
fn set_at(value: &Value, steps: &[&str], place: &str) -> Option<String> {
    let Some((step, rest)) = steps.split_first() else {
        return is_set(value).then(|| place.to_owned());
    };
    let mut fields = value.as_object()?.iter();
    fields.find_map(|(name, value)| {
        let fits = *step == "*" || step == name;
        fits.then(|| set_at(value, rest, &below_place(place, name)))?
    })
}

/// Returns the place of a member of what is at a place.
fn below_place(place: &str, name: &str) -> String {
    if place.is_empty() {
        name.to_owned()
    } else {
        format!("{place}.{name}")
    }
}

/// Returns `true` unless a value is as if its key was absent.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// What is known below a place.
#[derive(Clone, Copy)]
struct Row<'a> {
    path: &'a [&'a str],
    kind: Kind,
}

/// Returns the rows of all keys.
fn rows() -> Vec<Row<'static>> {
    static PATHS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
        let paths = KEYS.iter().map(|(path, _)| path.split('.').collect());
        paths.collect()
    });
    let rows = PATHS.iter().zip(KEYS);
    rows.map(|(path, (_, kind))| Row { path, kind: *kind })
        .collect()
}

/// The rows below a name, without it.
fn below<'a>(rows: &[Row<'a>], name: &str) -> Vec<Row<'a>> {
    let rows = rows.iter().filter_map(|row| match row.path.split_first() {
        Some((first, path)) if *first == name || *first == "*" => Some(Row { path, ..*row }),
        _ => None,
    });
    rows.collect()
}

fn members(
    value: &Value,
    place: &str,
    rows: &[Row<'_>],
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    // services may be a list as well
    if let (Value::Array(items), "services") = (value, place) {
        for (at, item) in items.iter().enumerate() {
            members(item, &format!("{place}[{at}]"), &below(rows, "*"), warnings)?;
        }
        return Ok(());
    }
    let Value::Object(fields) = value else {
        return Err(format!(
            "{place}: expected an object, got {}",
            kind_of(value)
        ));
    };
    for (name, value) in fields {
        let place = below_place(place, name);
        let known = below(rows, name);
        let leaf = known.iter().find(|row| row.path.is_empty());
        match leaf {
            _ if value.is_null() => {}
            Some(leaf) => leaf.kind.check(value, &place)?,
            None if known.is_empty() => {
                warnings.push(format!(
                    "unknown configuration option \"{place}\"{}",
                    hint(name, rows)
                ));
            }
            None => members(value, &place, &known, warnings)?,
        }
    }
    Ok(())
}

/// What may have been meant.
fn hint(name: &str, rows: &[Row<'_>]) -> String {
    let names = rows.iter().filter_map(|row| row.path.first());
    let near = names
        .filter(|known| **known != "*")
        .map(|known| (strsim::damerau_levenshtein(name, known), *known))
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .min();
    near.map(|(_, known)| format!(", did you mean \"{known}\"?"))
        .unwrap_or_default()
}

impl Kind {
    fn check(self, value: &Value, place: &str) -> Result<(), String> {
        let all =
            |is: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(is));
        let (fits, wanted) = match self {
            Any => (true, ""),
            Text => (value.is_string(), "a string"),
            Flag => (value.is_boolean(), "a boolean"),
            Integer => (value.is_i64() || value.is_u64(), "an integer"),
            Number => (value.is_number(), "a number"),
            Texts => (all(Value::is_string), "an array of strings"),
            Numbers => (all(Value::is_number), "an array of numbers"),
        };
        if fits {
            return Ok(());
        }
        Err(format!(
            "{place}: expected {wanted}, got {}",
            kind_of(value)
        ))
    }
}
