//! Every key that OPA 1.22.3 supports has an effect, is only a definition for other keys, or is rejected by its name.

use serde_json::{Value, json};

use super::super::Settings;
use super::decision_logs::decision_logs;
use super::read;

/// Outcome of a key.
enum Outcome {
    /// It changes a setting.
    Effect(fn(&Settings) -> bool),
    /// It is accepted and shown, but only other keys refer to it, and all of those are rejected.
    Definition,
    /// The server does not start, and the error names this key.
    Rejected(&'static str),
}

use Outcome::{Definition, Effect, Rejected};

/// Returns the configuration with a value at a dotted path.
pub fn nested_at(path: &str, value: Value) -> Value {
    let mut steps = path.split('.').rev();
    steps
        .try_fold(value, |inner, step| Some(json!({ step: inner })))
        .unwrap()
}

fn rows() -> Vec<(&'static str, Value, Outcome)> {
    let text = || json!("x");
    let mut rows = vec![
        (
            "default_decision",
            text(),
            Effect(|s| s.default_decision == "x"),
        ),
        (
            "default_authorization_decision",
            text(),
            Effect(|s| s.default_authorization_decision == "x"),
        ),
        (
            "server.encoding.gzip.min_length",
            json!(5),
            Effect(|s| s.packing.longer_than == 5),
        ),
        (
            "server.encoding.gzip.compression_level",
            json!(1),
            Effect(|s| s.packing.level == 1),
        ),
        (
            "server.decoding.max_length",
            json!(5),
            Effect(|s| s.body == Some(5)),
        ),
        (
            "server.decoding.gzip.max_length",
            json!(5),
            Effect(|s| s.max_decompressed == Some(5)),
        ),
        (
            "server.metrics.prom.http_request_duration_seconds.buckets",
            json!([0.5]),
            Effect(|s| s.duration_buckets == Some(vec![0.5])),
        ),
        (
            "caching.inter_query_builtin_cache.max_size_bytes",
            json!(5),
            Effect(|s| s.caching.responses == Some(5)),
        ),
        (
            "caching.inter_query_builtin_cache",
            json!({"max_size_bytes": 10, "forced_eviction_threshold_percentage": 50}),
            Effect(|s| s.caching.responses == Some(5)),
        ),
        (
            "caching.inter_query_builtin_value_cache.max_num_entries",
            json!(5),
            Effect(|s| s.caching.patterns == Some(5)),
        ),
        (
            "caching.inter_query_builtin_value_cache.named.io_jwt.max_num_entries",
            json!(5),
            Effect(|s| s.caching.signatures == Some(5)),
        ),
        (
            "status.console",
            json!(true),
            Effect(|s| s.plugins.status.as_ref().is_some_and(|s| s.is_logged)),
        ),
        (
            "status.prometheus",
            json!(true),
            Effect(|s| s.plugins.status.as_ref().is_some_and(|s| s.is_counted)),
        ),
        (
            "persistence_directory",
            text(),
            Effect(|s| s.plugins.persistence_directory.as_os_str() == "x"),
        ),
    ];
    for (members, has_effect) in decision_logs() {
        let mut section = json!({"console": true});
        for (name, value) in members.as_object().unwrap() {
            section[name] = value.clone();
        }
        rows.push(("decision_logs", section, Effect(has_effect)));
    }
    for (path, value) in [
        ("labels.region", text()),
        ("services.s.name", text()),
        ("services.s.url", text()),
        ("services.s.headers.X-Team", text()),
        ("services.s.allow_insecure_tls", json!(true)),
        ("services.s.response_header_timeout_seconds", json!(1)),
        ("services.s.tls.ca_cert", text()),
        ("services.s.tls.system_ca_required", json!(true)),
        ("services.s.type", json!("oci")),
        ("services.s.credentials.bearer.token", text()),
        ("services.s.credentials.bearer.token_path", text()),
        ("services.s.credentials.bearer.scheme", text()),
        ("services.s.credentials.client_tls.cert", text()),
        ("services.s.credentials.oauth2.client_secret", text()),
        (
            "services.s.credentials.s3_signing.environment_credentials",
            json!({}),
        ),
        ("services.s.credentials.gcp_metadata.audience", text()),
        (
            "services.s.credentials.azure_managed_identity.resource",
            text(),
        ),
        ("services.s.credentials.plugin", text()),
        ("keys.k.key", text()),
        ("keys.k.private_key", text()),
        ("keys.k.algorithm", text()),
        ("keys.k.scope", text()),
    ] {
        rows.push((path, value, Definition));
    }
    for (path, value, named) in [
        ("plugins.p", json!({}), "plugins.p"),
        ("decision_logs.plugin", text(), "decision_logs.plugin"),
        ("server.logger_plugin", text(), "server.logger_plugin"),
        ("status.plugin", text(), "status.plugin"),
        (
            "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds",
            json!(5),
            "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds",
        ),
        (
            "caching.inter_query_builtin_value_cache.named.graphql.max_num_entries",
            json!(5),
            "caching.inter_query_builtin_value_cache.named.graphql",
        ),
        (
            "caching.inter_query_builtin_value_cache.named.io_jwt.disabled",
            json!(true),
            "caching.inter_query_builtin_value_cache.named.io_jwt.disabled",
        ),
        ("storage.disk.directory", text(), "storage.disk"),
        ("storage.disk.auto_create", json!(true), "storage.disk"),
        ("storage.disk.partitions", json!(["/a"]), "storage.disk"),
        ("storage.disk.badger", text(), "storage.disk"),
    ] {
        rows.push((path, value, Rejected(named)));
    }
    rows
}

/// Minimal sections of plugins, each with members that change the behavior of the plugin.
const PLUGINS: [(&str, &str, &[&str]); 6] = [
    (
        "bundles.b",
        "{}",
        &[
            r#"{"service": "t"}"#,
            r#"{"resource": "x"}"#,
            r#"{"resource": "file:///x"}"#,
            r#"{"signing": {"keyid": "k"}}"#,
            r#"{"signing": {"scope": "x"}}"#,
            r#"{"signing": {"exclude_files": ["x"]}}"#,
            r#"{"signing": {"allow_unsigned_delta_bundles": true}}"#,
            r#"{"persist": true}"#,
            r#"{"size_limit_bytes": 1}"#,
            r#"{"polling": {"min_delay_seconds": 1, "max_delay_seconds": 2}}"#,
            r#"{"polling": {"long_polling_timeout_seconds": 1}}"#,
            r#"{"polling": {"superseded_etag_ttl_seconds": 1}}"#,
        ],
    ),
    (
        "bundle",
        r#"{"name": "b"}"#,
        &[
            r#"{"name": "c"}"#,
            r#"{"name": "b", "prefix": "x"}"#,
            r#"{"name": "b", "service": "t"}"#,
            r#"{"name": "b", "resource": "x"}"#,
            r#"{"name": "b", "signing": {"scope": "x"}}"#,
            r#"{"name": "b", "persist": true}"#,
            r#"{"name": "b", "polling": {"min_delay_seconds": 1, "max_delay_seconds": 2}}"#,
        ],
    ),
    (
        "discovery",
        r#"{"service": "s", "resource": "d"}"#,
        &[
            r#"{"service": "t", "resource": "d"}"#,
            r#"{"service": "s", "resource": "x"}"#,
            r#"{"service": "s", "name": "x"}"#,
            r#"{"service": "s", "name": "x", "prefix": "y"}"#,
            r#"{"service": "s", "resource": "d", "decision": "x"}"#,
            r#"{"service": "s", "resource": "d", "persist": true}"#,
            r#"{"service": "s", "resource": "d", "signing": {"keyid": "k"}}"#,
            r#"{"service": "s", "resource": "d", "polling": {"min_delay_seconds": 1, "max_delay_seconds": 2}}"#,
        ],
    ),
    (
        "status",
        r#"{"console": true}"#,
        &[
            r#"{"prometheus": true}"#,
            r#"{"prometheus": true, "prometheus_config": {"collectors": {"bundle_loading_duration_ns": {"buckets": [1, 1e6]}}}}"#,
            r#"{"service": "s"}"#,
            r#"{"service": "s", "partition_name": "x"}"#,
        ],
    ),
    (
        "distributed_tracing",
        r#"{"type": "http"}"#,
        &[
            r#"{"type": "grpc"}"#,
            r#"{"type": "http", "address": "x"}"#,
            r#"{"type": "http", "service_name": "x"}"#,
            r#"{"type": "http", "sample_percentage": 1}"#,
            r#"{"type": "http", "encryption": "tls"}"#,
            r#"{"type": "http", "encryption": "tls", "allow_insecure_tls": true}"#,
            r#"{"type": "http", "encryption": "tls", "tls_ca_cert_file": "x"}"#,
            r#"{"type": "http", "encryption": "mtls", "tls_cert_file": "x", "tls_private_key_file": "y"}"#,
            r#"{"type": "http", "resource": {"service_version": "x"}}"#,
            r#"{"type": "http", "resource": {"service_instance_id": "x"}}"#,
            r#"{"type": "http", "resource": {"service_namespace": "x"}}"#,
            r#"{"type": "http", "resource": {"deployment_environment": "x"}}"#,
            r#"{"type": "http", "exclude_paths": ["x"]}"#,
            r#"{"type": "http", "batch_span_processor_options": {"batch_timeout_ms": 1}}"#,
            r#"{"type": "http", "batch_span_processor_options": {"export_timeout_ms": 1}}"#,
            r#"{"type": "http", "batch_span_processor_options": {"max_export_batch_size": 1}}"#,
            r#"{"type": "http", "batch_span_processor_options": {"max_queue_size": 1}}"#,
        ],
    ),
    (
        "metrics_export",
        r#"{"type": "otlp/http"}"#,
        &[
            r#"{"type": "OTLP/grpc"}"#,
            r#"{"type": "otlp/http", "address": "x"}"#,
            r#"{"type": "otlp/http", "service_name": "x"}"#,
            r#"{"type": "otlp/http", "export_interval_ms": 1}"#,
            r#"{"type": "otlp/http", "encryption": "tls"}"#,
            r#"{"type": "otlp/http", "encryption": "tls", "allow_insecure_tls": true}"#,
            r#"{"type": "otlp/http", "encryption": "tls", "tls_ca_cert_file": "x"}"#,
            r#"{"type": "otlp/http", "encryption": "mtls", "tls_cert_file": "x", "tls_private_key_file": "y"}"#,
            r#"{"type": "otlp/http", "resource": {"service_version": "x"}}"#,
            r#"{"type": "otlp/http", "resource": {"service_instance_id": "x"}}"#,
            r#"{"type": "otlp/http", "resource": {"service_namespace": "x"}}"#,
            r#"{"type": "otlp/http", "resource": {"deployment_environment": "x"}}"#,
        ],
    ),
];

#[test]
fn each_key_of_a_plugin_changes_what_it_does() {
    let settings = |section: &str, text: &str| {
        let mut config = nested_at(section, serde_json::from_str(text).unwrap());
        config["services"] = json!({"s": {"url": "http://s"}, "t": {"url": "http://t"}});
        config["keys"] = json!({"k": {"key": "x"}});
        let config = read(&config.to_string(), &[], &[]).unwrap();
        assert!(config.warnings.is_empty(), "{text}: {:?}", config.warnings);
        let settings = config.settings;
        format!(
            "{:?} {:?} {:?}",
            settings.plugins, settings.tracing, settings.metrics_export
        )
    };
    for (section, least, others) in PLUGINS {
        let mut all = vec![settings(section, least)];
        for other in others {
            let found = settings(section, other);
            assert!(!all.contains(&found), "{section}: {other}");
            all.push(found);
        }
    }
}

/// Recorded from OPA, except for `manual`, which only programs that embed OPA can trigger.
#[test]
fn sections_of_plugins_are_checked_at_the_start() {
    let s = r#""services": {"s": {"url": "http://s"}}"#;
    let k = r#""keys": {"a": {"key": "secret", "algorithm": "HS256"}}"#;
    let tracing = |text: &str| format!(r#"{{"distributed_tracing": {{{text}}}}}"#);
    let metrics = |text: &str| format!(r#"{{"metrics_export": {{{text}}}}}"#);
    let bundle = |text: &str| format!(r#"{{{s}, "bundles": {{"b": {text}}}}}"#);
    let of_bundle = "invalid configuration for bundle \"b\": ";
    let of_discovery = "invalid configuration for discovery service: ";
    for (config, error) in [
        (r#"{"bundles": {"b": {"resource": "x"}}}"#.to_owned(), format!("{of_bundle}service name \"\" not found")),
        (bundle(r#"{"service": "nope"}"#), format!("{of_bundle}service name \"nope\" not found")),
        (bundle(r#"{"polling": {"min_delay_seconds": 5}}"#), format!("{of_bundle}polling configuration missing 'max_delay_seconds'")),
        (bundle(r#"{"polling": {"max_delay_seconds": 5}}"#), format!("{of_bundle}polling configuration missing 'min_delay_seconds'")),
        (bundle(r#"{"polling": {"min_delay_seconds": 5, "max_delay_seconds": 1}}"#), format!("{of_bundle}max polling delay must be >= min polling delay")),
        (bundle(r#"{"polling": {"long_polling_timeout_seconds": 0}}"#), format!("{of_bundle}'long_polling_timeout_seconds' must be at least 1")),
        (bundle(r#"{"polling": {"long_polling_timeout_seconds": -1}}"#), format!("{of_bundle}'long_polling_timeout_seconds' must be at least 1")),
        (bundle(r#"{"polling": {"superseded_etag_ttl_seconds": -1}}"#), format!("{of_bundle}'superseded_etag_ttl_seconds' must not be negative")),
        (bundle(r#"{"trigger": "foo"}"#), format!("{of_bundle}invalid trigger mode \"foo\" (want \"periodic\", \"manual\" or \"immediate\")")),
        (bundle(r#"{"trigger": "manual"}"#), format!("{of_bundle}trigger mode \"manual\" is not supported: nothing can trigger a plugin over HTTP")),
        (bundle(r#"{"signing": {"keyid": "k"}}"#), format!("{of_bundle}key id k not found")),
        (bundle(r#"{"signing": {}}"#), format!("{of_bundle}`signing` needs a key in `keys`")),
        (format!(r#"{{{s}, {k}, "bundles": {{"b": {{"signing": {{"keyid": "k"}}}}}}}}"#), format!("{of_bundle}key id k not found")),
        (format!(r#"{{{s}, "bundle": {{"service": "s"}}}}"#), "invalid bundle name \"\"".to_owned()),
        (format!(r#"{{{s}, "bundles": ["x"]}}"#), "bundles: expected an object, got an array".to_owned()),
        (bundle("\"x\""), "bundles.b: expected an object, got a string".to_owned()),
        (bundle(r#"{"polling": {"min_delay_seconds": "x"}}"#), "bundles.b.polling.min_delay_seconds: expected an integer, got a string".to_owned()),
        (format!(r#"{{{s}, "bundles": {{"../b": {{"persist": true}}}}}}"#), "invalid configuration for bundle \"../b\": `persist` needs a name that is a relative path without `.` and `..`".to_owned()),
        (format!(r#"{{{s}, "bundles": {{"/b": {{"persist": true}}}}}}"#), "invalid configuration for bundle \"/b\": `persist` needs a name that is a relative path without `.` and `..`".to_owned()),
        (format!(r#"{{{s}, "status": {{"service": "nope"}}}}"#), "invalid service name \"nope\" in status".to_owned()),
        (format!(r#"{{{s}, "status": {{"trigger": "foo"}}}}"#), "invalid status config: invalid trigger mode \"foo\" (want \"periodic\", \"manual\" or \"immediate\")".to_owned()),
        (tracing(r#""type": "GRPC""#), "unknown distributed_tracing.type 'GRPC', must be \"grpc\", \"http\" or \"\" (unset)".to_owned()),
        (tracing(r#""sample_percentage": 101"#), "unsupported distributed_tracing.sample_percentage '101'".to_owned()),
        (tracing(r#""sample_percentage": -1"#), "unsupported distributed_tracing.sample_percentage '-1'".to_owned()),
        (tracing(r#""encryption": "x""#), "unsupported distributed_tracing.encryption_scheme 'x'".to_owned()),
        (tracing(r#""encryption": "mtls""#), "tls_cert_file required but not supplied".to_owned()),
        (tracing(r#""tls_cert_file": "x""#), "tls_cert_file and tls_private_key_file must be specified together".to_owned()),
        (tracing(r#""exclude_paths": "x""#), "distributed_tracing.exclude_paths: expected an array, got a string".to_owned()),
        (tracing(r#""batch_span_processor_options": {"blocking": true}"#), "distributed_tracing.batch_span_processor_options.blocking is not supported: a full queue drops spans and does not delay requests".to_owned()),
        (tracing(r#""batch_span_processor_options": {"max_queue_size": 0}"#), "distributed_tracing.batch_span_processor_options.max_queue_size: expected a number from 1 to 1000000, got 0".to_owned()),
        (tracing(r#""typ": "http""#), "unknown configuration option \"distributed_tracing.typ\", did you mean \"type\"?".to_owned()),
        (metrics(r#""type": "grpc""#), "unknown metrics_export.type \"grpc\", must be \"otlp/grpc\", \"otlp/http\" or \"\" (unset)".to_owned()),
        (metrics(r#""export_interval_ms": 0"#), "metrics_export.export_interval_ms must be a positive value, got 0".to_owned()),
        (metrics(r#""encryption": "x""#), "unsupported metrics_export.encryption \"x\"".to_owned()),
        (metrics(r#""encryption": "mtls""#), "tls_cert_file required but not supplied".to_owned()),
        (metrics(r#""tls_private_key_file": "x""#), "tls_cert_file and tls_private_key_file must be specified together".to_owned()),
        (r#"{"discovery": {"resource": "x"}}"#.to_owned(), format!("{of_discovery}more than one service is defined")),
        (format!(r#"{{{s}, "discovery": {{"service": "s"}}}}"#), "missing required discovery.resource field".to_owned()),
        (format!(r#"{{{s}, "discovery": {{"service": "n", "resource": "x"}}}}"#), format!("{of_discovery}service name \"n\" not found")),
        (format!(r#"{{{s}, "discovery": {{"resource": "x", "signing": {{"keyid": "k"}}}}}}"#), format!("{of_discovery}key id k not found")),
    ] {
        let found = read(&config, &[], &[]).map(|config| config.warnings);
        assert_eq!(found, Err(error), "{config}");
    }
}

#[test]
fn each_key_of_opa_has_an_effect_or_is_rejected_by_its_name() {
    let mut count = 0;
    for (path, value, outcome) in rows() {
        count += 1;
        let config = read(&nested_at(path, value).to_string(), &[], &[]);
        match (outcome, config) {
            (Rejected(named), Err(error)) => {
                let texts = [
                    format!("{named}: not supported yet"),
                    format!("unknown configuration option \"{named}\""),
                ];
                assert!(
                    texts.iter().any(|text| error.starts_with(text)),
                    "{path}: {error}"
                );
            }
            (Effect(has_effect), Ok(config)) => {
                assert!(
                    has_effect(&config.settings),
                    "{path}: {:?}",
                    config.settings
                );
                assert!(config.warnings.is_empty(), "{path}: {:?}", config.warnings);
            }
            (Definition, Ok(config)) => {
                assert!(config.warnings.is_empty(), "{path}: {:?}", config.warnings);
            }
            (_, config) => panic!("{path}: {:?}", config.map(|config| config.warnings)),
        }
    }
    assert!(count >= 50, "only {count} keys");
}

#[test]
fn keys_without_an_effect_are_accepted() {
    for text in [
        "bundles: {}",
        "decision_logs: {}",
        "decision_logs: null",
        "metrics_export: {}",
        "metrics_export: {address: x}",
        "distributed_tracing: {}",
        "distributed_tracing: {address: x}",
        "metrics_export: null",
        "discovery: {}",
        "plugins: {}",
        "nd_builtin_cache: false",
        "nd_builtin_cache: true",
        "persistence_directory: ''",
        "status: {console: false}",
        "caching: {inter_query_builtin_cache: {stale_entry_eviction_period_seconds: 0}}",
        "caching: {inter_query_builtin_value_cache: {named: {io_jwt: {disabled: false}}}}",
        "caching: {inter_query_builtin_value_cache: {named: {graphql: {max_num_entries: null}}}}",
    ] {
        let config = read(text, &[], &[]);
        assert_eq!(
            config.map(|config| config.warnings),
            Ok(Vec::new()),
            "{text}"
        );
    }
}
