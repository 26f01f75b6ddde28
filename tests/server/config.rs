//! Configurations: their sources, their content, and how they are shown.

use serde_json::{Value, json};

use super::{Config, Sources};

#[path = "config/decision_logs.rs"]
mod decision_logs;
#[path = "config/keys.rs"]
mod keys;
#[path = "config/reference.rs"]
mod reference;
#[path = "config/secrets.rs"]
mod secrets;

fn variable(name: &str) -> Option<String> {
    match name {
        "HOST" => Some("example.com".to_owned()),
        "EMPTY" => Some(String::new()),
        "REFERENCE" => Some("${HOST}".to_owned()),
        "A.B" => Some("dot".to_owned()),
        "A-B" => Some("hyphen".to_owned()),
        "TOKEN" => Some("s3cret".to_owned()),
        "PORT" => Some("8080".to_owned()),
        "YES" => Some("true".to_owned()),
        "FLOW" => Some("{a: s3cret, b: [s3cret]}".to_owned()),
        "LINES" => Some("s3cret\nmore: s3cret".to_owned()),
        "NAMED" => Some("s3cret: s3cret".to_owned()),
        "ANCHOR" => Some("&s3cret s3cret".to_owned()),
        "QUOTE" => Some("\"s3cret".to_owned()),
        "É" => Some("accent".to_owned()),
        "1S" => Some("digit".to_owned()),
        _ => None,
    }
}

fn file(path: &str) -> Result<String, String> {
    match path {
        "variable.txt" => Ok("${HOST}${EMPTY}".to_owned()),
        "secret.txt" => Ok(" hidden\n".to_owned()),
        other => Err(format!("{other}: no such file")),
    }
}

fn read(text: &str, set: &[&str], set_files: &[&str]) -> Result<Config, String> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let sources = Sources {
        file: Some(("c.yaml".to_owned(), text.to_owned())),
        set: own(set),
        set_files: own(set_files),
    };
    Config::read(&sources, &variable, &file)
}

fn reported(text: &str, set: &[&str]) -> Value {
    read(text, set, &[]).unwrap().redacted()
}

#[test]
fn variables_are_replaced_as_opa_replaces_them() {
    for (text, want) in [
        ("a${HOST}b", "aexample.comb"),
        ("${HOST}${HOST}", "example.comexample.com"),
        // Set and empty.
        ("a${EMPTY}b", "ab"),
        ("${EMPTY}", ""),
        // Without a name.
        ("a${}b", "ab"),
        // Not set.
        ("a${NONE}b", "a${NONE}b"),
        ("a${NONE}${HOST}b", "a${NONE}example.comb"),
        // The name is all text between the braces.
        ("a${A.B}b", "adotb"),
        ("a${A-B}b", "ahyphenb"),
        ("a${É}b", "aaccentb"),
        ("a${1S}b", "adigitb"),
        ("a${ HOST }b", "a${ HOST }b"),
        ("a${host}b", "a${host}b"),
        // Other dollar signs are kept.
        ("a$HOST b", "a$HOST b"),
        ("a$${HOST}b", "a$example.comb"),
        ("a\\\\${HOST}b", "a\\example.comb"),
        ("a${NONE-x}b", "a${NONE-x}b"),
        ("a${NONE:-x}b", "a${NONE:-x}b"),
        ("a${HOST:-x}b", "a${HOST:-x}b"),
        ("a${${HOST}}b", "a${${HOST}}b"),
        ("a${HOST${HOST}}b", "a${HOST${HOST}}b"),
        ("a${REFERENCE}b", "a${HOST}b"),
        ("a${HOST b", "a${HOST b"),
        ("a${", "a${"),
    ] {
        // A name must end on the line that it begins on.
        let file = format!("labels:\n  a: \"{text}\"\n  b: \"}}\"\n");
        assert_eq!(reported(&file, &[])["labels"]["a"], want, "{text}");
    }
    let file = "labels: {'k${HOST}': a, 'e${EMPTY}': b, 'n${NONE}': c}";
    let want = json!({"labels": {"kexample.com": "a", "e": "b", "n${NONE}": "c"}});
    assert_eq!(reported(file, &[]), want);
    for (set, want) in [
        ("labels.h=${HOST}", json!({"labels": {"h": "example.com"}})),
        ("labels.h=a${EMPTY}b", json!({"labels": {"h": "ab"}})),
        ("labels.h=${EMPTY}", json!({"labels": {"h": ""}})),
        ("labels.h=${NONE}", json!({"labels": {"h": "${NONE}"}})),
        ("more.${HOST}=a", json!({"more": {"REDACTED": "REDACTED"}})),
        ("", json!({})),
    ] {
        let config = read("", &[set], &[]);
        assert_eq!(config.map(|config| config.redacted()), Ok(want), "{set}");
    }
    // The content of a named file is a value, without substitution.
    let config = read("", &[], &["labels.v=variable.txt", ""]).unwrap();
    assert_eq!(
        config.redacted(),
        json!({"labels": {"v": "${HOST}${EMPTY}"}})
    );
}

#[test]
fn assignments_stand_over_the_file() {
    let text = "x: {y: 1, z: 2}\nl: [1, 2, 3]\nservices: [{name: a, url: b}]";
    for (set, want) in [
        ("x.y=7,x.w=a", json!({"y": 7, "z": 2, "w": "a"})),
        ("x.y=null", json!({"z": 2})),
        ("x={a,2,true}", json!(["a", 2, true])),
        ("x={}", json!([])),
        (r"x.y=a\,b", json!({"y": "a,b", "z": 2})),
        (r"x.a\.b=1", json!({"y": 1, "z": 2, "a.b": 1})),
        ("x.y=007", json!({"y": "007", "z": 2})),
        ("x.y=", json!({"y": "", "z": 2})),
        ("x.y=a=b", json!({"y": "a=b", "z": 2})),
    ] {
        assert_eq!(reported(text, &[set])["x"], want, "{set}");
    }
    assert_eq!(reported(text, &["l={9}"])["l"], json!([9]));
    assert_eq!(
        reported(text, &["services[0].url=c"])["services"],
        json!([{"url": "c"}])
    );
    assert_eq!(
        reported(text, &["q[1][0].a=1"])["q"],
        json!([null, [{"a": 1}]])
    );
    let config = read("", &[], &["labels.s=secret.txt"]).unwrap();
    assert_eq!(config.redacted(), json!({"labels": {"s": "hidden"}}));
    for (set, want) in [
        ("a", "key \"a\" has no value"),
        ("a..b=1", "key \"a..b\" has an empty name"),
        ("a[x]=1", "key \"a[x]\" has a wrong index"),
        ("a[10001]=1", "key \"a[10001]\" has a wrong index"),
    ] {
        let error = read("", &[set], &[]).unwrap_err();
        assert_eq!(error, format!("failed parsing --set data: {want}"));
    }
    let error = read("", &[], &["a=none.txt"]).unwrap_err();
    assert_eq!(
        error,
        "failed parsing --set-file data: none.txt: no such file"
    );
}

#[test]
fn wrong_types_are_rejected_with_the_location_of_the_key() {
    for (text, want) in [
        ("[]", "c.yaml: expected an object"),
        (
            "default_decision: 5",
            "default_decision: expected a string, got a number",
        ),
        (
            "labels: {a: 5}",
            "labels.a: expected a string, got a number",
        ),
        ("labels: 5", "labels: expected an object, got a number"),
        ("caching: 5", "caching: expected an object, got a number"),
        (
            "caching: {inter_query_builtin_cache: {max_size_bytes: a}}",
            "caching.inter_query_builtin_cache.max_size_bytes: expected an integer, got a string",
        ),
        (
            "services: [{url: a}, {url: 1}]",
            "services[1].url: expected a string, got a number",
        ),
        (
            "services: {a: {tls: {system_ca_required: 'yes'}}}",
            "services.a.tls.system_ca_required: expected a boolean, got a string",
        ),
        (
            "server: {metrics: {prom: {http_request_duration_seconds: {buckets: [1, a]}}}}",
            "server.metrics.prom.http_request_duration_seconds.buckets[1]: expected a number, got a string",
        ),
        (
            "server: {metrics: {prom: {http_request_duration_seconds: {buckets: 1}}}}",
            "server.metrics.prom.http_request_duration_seconds.buckets: expected an array, got a number",
        ),
        ("services: 5", "services: expected an object, got a number"),
        (
            "services: [a]",
            "services[0]: expected an object, got a string",
        ),
        (
            "services: {a: [b]}",
            "services.a: expected an object, got an array",
        ),
        (
            "services: {a: {credentials: {bearer: {token: {b: c}}}}}",
            "services.a.credentials.bearer.token: expected a string, got an object",
        ),
        // A misspelled credential would leave requests without it.
        (
            "services: {a: {credentials: {bearer: {tokn: b}}}}",
            "unknown configuration option \"services.a.credentials.bearer.tokn\", did you mean \"token\"?",
        ),
        (
            "services: [{credentials: {s3_signing: {metadata: {}}}}]",
            "unknown configuration option \"services[0].credentials.s3_signing.metadata\"",
        ),
        ("caching: []", "caching: expected an object, got an array"),
        (
            "server: {encoding: {gzip: [5, 1]}}",
            "server.encoding.gzip: expected an object, got an array",
        ),
        (
            "services: [{tls: [ca.pem]}]",
            "services[0].tls: expected an object, got an array",
        ),
        ("labels: [a]", "labels: expected an object, got an array"),
        ("keys: [1]", "keys: expected an object, got an array"),
        (
            "server: {ui: 1}",
            "server.ui: expected a boolean, got a number",
        ),
        (
            "server: {decoding: {max_length: 1.5}}",
            "server.decoding.max_length: expected an integer, got a number",
        ),
        (
            "server: {decoding: {max_length: ', expected a map'}}",
            "server.decoding.max_length: expected an integer, got a string",
        ),
        (
            "storage: {sqlite: {path: [s3cret]}}",
            "storage.sqlite.path: expected a string, got an array",
        ),
        (
            "decision_logs: {console: 5}",
            "decision_logs.console: expected a boolean, got a number",
        ),
        (
            "decision_logs: 5",
            "decision_logs: expected an object, got a number",
        ),
        (
            "decision_logs: {plugin: x}",
            "decision_logs.plugin: not supported yet",
        ),
        (
            "bundles: {a: {service: s}}",
            "invalid configuration for bundle \"a\": service name \"s\" not found",
        ),
        (
            "plugins: {foo: {}}",
            "unknown configuration option \"plugins.foo\"",
        ),
        (
            "server: {encoding: {gzip: {min_length: -1}}}",
            "invalid value for server.encoding.gzip.min_length field, should be a positive number",
        ),
        (
            "server: {encoding: {gzip: {compression_level: 5}}}",
            "invalid value for server.encoding.gzip.compression_level field, accepted values are 0, 1 or 9",
        ),
        (
            "server: {decoding: {max_length: 0}}",
            "invalid value for server.decoding.max_length field, should be a positive number",
        ),
        (
            "server: {decoding: {gzip: {max_length: 0}}}",
            "invalid value for server.decoding.gzip.max_length field, should be a positive number",
        ),
    ] {
        assert_eq!(read(text, &[], &[]).unwrap_err(), want, "{text}");
    }
    let error = read("a: [\n", &[], &[]).unwrap_err();
    assert!(
        error.starts_with("failed to parse c.yaml: yaml: "),
        "{error}"
    );
}

#[test]
fn unknown_keys_are_reported_with_a_suggestion() {
    let text = "servces: {}\nserver: {decoding: {max_lenght: 5}}\nfoo: {bar: 1}\nbundles: {}\n\
                services: [{ur: a, url: u, x: null}]\nkeys: {k: {algoritm: a}, none: null}\nlabels: {anything: b}\n\
                status: {promethius: true}";
    let config = read(text, &[], &[]).unwrap();
    assert_eq!(
        config.warnings,
        [
            "unknown configuration option \"foo\"",
            "unknown configuration option \"keys.k.algoritm\", did you mean \"algorithm\"?",
            "unknown configuration option \"servces\", did you mean \"services\"?",
            "unknown configuration option \"server.decoding.max_lenght\", did you mean \"max_length\"?",
            "unknown configuration option \"services[0].ur\", did you mean \"url\"?",
            "unknown configuration option \"status.promethius\", did you mean \"prometheus\"?",
        ]
    );
}

#[test]
fn settings() {
    let text = "
default_decision: /a/b
server:
  encoding: {gzip: {min_length: 5, compression_level: 1}}
  decoding: {max_length: 50, gzip: {max_length: 60}}
  metrics: {prom: {http_request_duration_seconds: {buckets: [0.5, 1]}}}
caching: {inter_query_builtin_cache: {max_size_bytes: 0}}";
    let settings = read(text, &[], &[]).unwrap().settings;
    assert_eq!(settings.default_decision, "/a/b");
    assert_eq!(
        settings.default_authorization_decision,
        "/system/authz/allow"
    );
    assert_eq!(
        (settings.packing.longer_than, settings.packing.level),
        (5, 1)
    );
    assert_eq!(
        (settings.body, settings.max_decompressed),
        (Some(50), Some(60))
    );
    assert_eq!(settings.duration_buckets, Some(vec![0.5, 1.0]));
    assert_eq!(settings.caching.responses, Some(usize::MAX));
    assert_eq!(settings.caching.patterns, None);
}

#[test]
fn caches() {
    let of = |caching: &str| read(&format!("caching: {{{caching}}}"), &[], &[]);
    let responses = |keys: &str| of(&format!("inter_query_builtin_cache: {{{keys}}}"));
    let values = |keys: &str| of(&format!("inter_query_builtin_value_cache: {{{keys}}}"));
    for (keys, want) in [
        ("", None),
        ("max_size_bytes: 1000", Some(1000)),
        ("max_size_bytes: 0", Some(usize::MAX)),
        (
            "max_size_bytes: 1000, forced_eviction_threshold_percentage: 70",
            Some(700),
        ),
        (
            "max_size_bytes: 0, forced_eviction_threshold_percentage: 70",
            Some(usize::MAX),
        ),
    ] {
        let config = responses(keys).unwrap();
        assert_eq!(config.settings.caching.responses, want, "{keys}");
        assert!(config.warnings.is_empty(), "{keys}");
    }
    for (keys, want) in [
        ("", None),
        ("max_num_entries: 5", Some(5)),
        ("max_num_entries: 0", Some(usize::MAX)),
    ] {
        let config = values(keys).unwrap();
        assert_eq!(config.settings.caching.patterns, want, "{keys}");
        assert!(config.warnings.is_empty(), "{keys}");
        let config = values(&format!("named: {{io_jwt: {{{keys}}}}}")).unwrap();
        assert_eq!(config.settings.caching.signatures, want, "{keys}");
        assert!(config.warnings.is_empty(), "{keys}");
    }
    for (read, want) in [
        (values("max_num_entries: -1"), "invalid max_num_entries -1"),
        (
            values("named: {graphql: {max_num_entries: -2}}"),
            "invalid max_num_entries -2 for named cache graphql",
        ),
        (
            responses("forced_eviction_threshold_percentage: 101"),
            "invalid forced_eviction_threshold_percentage 101",
        ),
        (
            responses("stale_entry_eviction_period_seconds: -1"),
            "invalid stale_entry_eviction_period_seconds -1",
        ),
        (responses("max_size_bytes: -1"), "invalid max_size_bytes -1"),
    ] {
        assert_eq!(read.unwrap_err(), want);
    }
    for (config, want) in [
        (
            values("named: {graphql: {max_num_entries: 2}}"),
            "caching.inter_query_builtin_value_cache.named.graphql: not supported yet, these values share one cache",
        ),
        (
            responses("stale_entry_eviction_period_seconds: 5"),
            "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds: not supported yet, answers are removed when others need their room",
        ),
    ] {
        assert_eq!(config.unwrap_err(), want);
    }
}
