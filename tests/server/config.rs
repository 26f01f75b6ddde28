//! Configurations: where they come from, what may stand in them, what is shown of them.

use serde_json::{Value, json};

use super::{Config, Sources};

#[path = "config/keys.rs"]
mod keys;

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

fn told(text: &str, set: &[&str]) -> Value {
    read(text, set, &[]).unwrap().told()
}

#[test]
fn variables_are_replaced_as_opa_replaces_them() {
    for (text, want) in [
        ("a${HOST}b", "aexample.comb"),
        ("${HOST}${HOST}", "example.comexample.com"),
        // set and empty
        ("a${EMPTY}b", "ab"),
        ("${EMPTY}", ""),
        // without a name
        ("a${}b", "ab"),
        // not set
        ("a${NONE}b", "a${NONE}b"),
        ("a${NONE}${HOST}b", "a${NONE}example.comb"),
        // a name is what stands between the braces, whatever it is
        ("a${A.B}b", "adotb"),
        ("a${A-B}b", "ahyphenb"),
        ("a${É}b", "aaccentb"),
        ("a${1S}b", "adigitb"),
        ("a${ HOST }b", "a${ HOST }b"),
        ("a${host}b", "a${host}b"),
        // nothing else has a meaning
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
        // names end in the line that they begin in
        let file = format!("labels:\n  a: \"{text}\"\n  b: \"}}\"\n");
        assert_eq!(told(&file, &[])["labels"]["a"], want, "{text}");
    }
    let file = "labels: {'k${HOST}': a, 'e${EMPTY}': b, 'n${NONE}': c}";
    let want = json!({"labels": {"kexample.com": "a", "e": "b", "n${NONE}": "c"}});
    assert_eq!(told(file, &[]), want);
    for (set, want) in [
        ("labels.h=${HOST}", json!({"labels": {"h": "example.com"}})),
        ("labels.h=a${EMPTY}b", json!({"labels": {"h": "ab"}})),
        ("labels.h=${EMPTY}", json!({"labels": {"h": ""}})),
        ("labels.h=${NONE}", json!({"labels": {"h": "${NONE}"}})),
        ("more.${HOST}=a", json!({"more": {"REDACTED": "REDACTED"}})),
        ("", json!({})),
    ] {
        let config = read("", &[set], &[]);
        assert_eq!(config.map(|config| config.told()), Ok(want), "{set}");
    }
    // what is in a file that is named is a value as it is
    let config = read("", &[], &["labels.v=variable.txt", ""]).unwrap();
    assert_eq!(config.told(), json!({"labels": {"v": "${HOST}${EMPTY}"}}));
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
        assert_eq!(told(text, &[set])["x"], want, "{set}");
    }
    assert_eq!(told(text, &["l={9}"])["l"], json!([9]));
    assert_eq!(
        told(text, &["services[0].url=c"])["services"],
        json!([{"url": "c"}])
    );
    assert_eq!(told(text, &["q[1][0].a=1"])["q"], json!([null, [{"a": 1}]]));
    let config = read("", &[], &["labels.s=secret.txt"]).unwrap();
    assert_eq!(config.told(), json!({"labels": {"s": "hidden"}}));
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
fn wrong_types_are_refused_with_the_place_of_the_key() {
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
            "server.metrics.prom.http_request_duration_seconds.buckets: expected an array of numbers, got an array",
        ),
        (
            "decision_logs: {console: 5}",
            "decision_logs.console: expected a boolean, got a number",
        ),
        (
            "decision_logs: {console: true}",
            "decision_logs: not supported yet",
        ),
        ("bundles: {a: {service: s}}", "bundles: not supported yet"),
        ("plugins: {foo: {}}", "plugins: not supported yet"),
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
fn unknown_keys_are_told_with_what_may_be_meant() {
    let text = "servces: {}\nserver: {decoding: {max_lenght: 5}}\nfoo: {bar: 1}\nbundles: {}";
    let config = read(text, &[], &[]).unwrap();
    assert_eq!(
        config.warnings,
        [
            "unknown configuration option \"foo\"",
            "unknown configuration option \"servces\", did you mean \"services\"?",
            "unknown configuration option \"server.decoding.max_lenght\", did you mean \"max_length\"?",
        ]
    );
}

#[test]
fn secrets_are_not_shown() {
    let text = "
services: {a: {url: u, credentials: {bearer: {token: secret}}}}
keys: {k: {key: secret, private_key: secret, algorithm: HS256}}
labels: {x: y, version: mine}
extra: {kept: true}";
    let config = read(text, &[], &[]).unwrap();
    let want = json!({
        "services": {"a": {"url": "u"}},
        "keys": {"k": {"algorithm": "HS256"}},
        "labels": {"x": "y", "version": "1.2.3", "id": "7"},
        "extra": {"kept": true},
        "default_decision": "/system/main",
        "default_authorization_decision": "/system/authz/allow",
    });
    assert_eq!(config.active("7", "1.2.3"), want);
    let list = told(
        "services: [{name: a, url: u, credentials: {bearer: {token: t}}}]",
        &[],
    );
    assert_eq!(list, json!({"services": [{"name": "a", "url": "u"}]}));
}

#[test]
fn what_services_send_is_not_shown() {
    for (service, want) in [
        (
            "headers: {Authorization: Bearer t}",
            json!({"headers": {"Authorization": "REDACTED"}}),
        ),
        (
            "headers: {X-Api-Key: t}",
            json!({"headers": {"X-Api-Key": "REDACTED"}}),
        ),
        (
            "headers: {x-team: core, Cookie: ''}",
            json!({"headers": {"x-team": "REDACTED", "Cookie": "REDACTED"}}),
        ),
        ("headers: {}", json!({"headers": {}})),
        // a key that is spelled another way has no effect, and may contain a secret all the same
        ("Headers: {a: t}", json!({})),
        ("HEADERS: t", json!({})),
        ("credential: {bearer: {token: t}}", json!({})),
        ("token: t", json!({})),
        ("tls: {client_key: t}", json!({"tls": {}})),
        (
            "tls: {ca_cert: ca.pem, Client_Key: t, client_cert: {a: t}}",
            json!({"tls": {"ca_cert": "ca.pem"}}),
        ),
        (
            "name: n, type: oauth2, allow_insecure_tls: true",
            json!({"name": "n", "type": "oauth2", "allow_insecure_tls": true}),
        ),
        ("Credentials: {bearer: {token: t}}", json!({})),
        ("credentials: {oauth2: {client_secret: t}}", json!({})),
        (
            "credentials: {client_tls: {private_key_passphrase: t}}",
            json!({}),
        ),
        (
            "url: 'http://u:t@h:1/p'",
            json!({"url": "http://REDACTED@h:1/p"}),
        ),
        ("url: 'https://t@h'", json!({"url": "https://REDACTED@h"})),
        (
            "url: 'https://u:t@t@h/p@q'",
            json!({"url": "https://REDACTED@q"}),
        ),
        // passwords that are not escaped
        (
            "url: 'https://u:TOP/t@h'",
            json!({"url": "https://REDACTED@h"}),
        ),
        (
            "url: 'https://u:TOP#t@h/p'",
            json!({"url": "https://REDACTED@h/p"}),
        ),
        (
            "url: 'https://u:t?t@h/p'",
            json!({"url": "https://REDACTED"}),
        ),
        (
            "url: 'https://u:t@t?t@h/p'",
            json!({"url": "https://REDACTED"}),
        ),
        (
            "url: 'https://u:t://t@h'",
            json!({"url": "https://REDACTED@h"}),
        ),
        // text before `://` that is not a scheme
        (
            "url: 'u:t@h?next=http://x'",
            json!({"url": "REDACTED@h?REDACTED"}),
        ),
        ("url: 'u:t@://h'", json!({"url": "REDACTED@://h"})),
        ("url: '1u://t@h'", json!({"url": "REDACTED@h"})),
        (
            "url: 'a+b.c-1://t@h'",
            json!({"url": "a+b.c-1://REDACTED@h"}),
        ),
        ("url: 'u:t@h/p'", json!({"url": "REDACTED@h/p"})),
        (
            "url: 'https://h/p?sig=t&a=b#f'",
            json!({"url": "https://h/p?REDACTED"}),
        ),
        ("url: 'https://h?t@x'", json!({"url": "https://REDACTED"})),
        ("url: 'https://h?t'", json!({"url": "https://h?REDACTED"})),
        ("url: 'https://h/p'", json!({"url": "https://h/p"})),
        (
            "url: 'https://h/p@v1'",
            json!({"url": "https://REDACTED@v1"}),
        ),
        ("URL: 'https://u:t@h'", json!({})),
    ] {
        let named = told(&format!("services: {{a: {{{service}}}}}"), &[]);
        assert_eq!(named["services"]["a"], want, "{service}");
        let config = read(&format!("services: [{{{service}}}]"), &[], &[]).unwrap();
        assert_eq!(
            config.active("7", "1")["services"],
            json!([want]),
            "{service}"
        );
    }
    let set = told("services: {a: {}}", &["services.a.headers.Token=t"]);
    assert_eq!(
        set["services"]["a"]["headers"],
        json!({"Token": "REDACTED"})
    );
    let keys = told("keys: {k: {Key: t, PRIVATE_KEY: t, scope: read}}", &[]);
    assert_eq!(keys["keys"], json!({"k": {"scope": "read"}}));
    let keys = told("keys: {k: {kei: t, key: t, algorithm: HS256}}", &[]);
    assert_eq!(keys["keys"], json!({"k": {"algorithm": "HS256"}}));
}

/// A value that came from a variable is replaced as a whole, whatever stands around the variable and whatever its kind.
#[test]
fn values_of_variables_are_not_shown() {
    let hidden = || json!("REDACTED");
    for (text, want) in [
        ("x: ${TOKEN}", json!({"x": hidden()})),
        ("x: Bearer ${TOKEN}", json!({"x": hidden()})),
        ("x: \"${TOKEN}\"", json!({"x": hidden()})),
        ("x: '${TOKEN}'", json!({"x": hidden()})),
        ("x: |\n  a\n  ${TOKEN}\n", json!({"x": hidden()})),
        (
            "x: {y: {z: ${TOKEN}}, w: 1}",
            json!({"x": {"y": {"z": hidden()}, "w": 1}}),
        ),
        ("x: [a, ${TOKEN}, b]", json!({"x": ["a", hidden(), "b"]})),
        ("x: ${HOST}:${PORT}", json!({"x": hidden()})),
        // numbers, booleans and empty values
        ("x: ${PORT}", json!({"x": hidden()})),
        ("x: 1${PORT}", json!({"x": hidden()})),
        ("x: ${YES}", json!({"x": hidden()})),
        ("x: ${EMPTY}", json!({"x": hidden()})),
        ("x: a${EMPTY}", json!({"x": hidden()})),
        ("x: ${REFERENCE}", json!({"x": hidden()})),
        // a variable that is not set stays as it is written
        ("x: ${NONE}, y", json!({"x": "${NONE}, y"})),
        ("x: ${}a", json!({"x": "a"})),
        // an equal value that came from elsewhere is no secret
        (
            "x: ${TOKEN}\ny: s3cret",
            json!({"x": hidden(), "y": "s3cret"}),
        ),
        (
            "x: 8080 # ${PORT}\ny: ${PORT}",
            json!({"x": 8080, "y": hidden()}),
        ),
        // variables that are more than one value
        ("x: ${FLOW}\ny: 1", json!({"x": hidden(), "y": 1})),
        ("x: [${FLOW}, a]", json!({"x": [hidden(), "a"]})),
        (
            "x: ${LINES}\ny: 1",
            json!({"x": hidden(), "y": 1, "REDACTED": hidden()}),
        ),
        (
            "x: &a ${TOKEN}\ny: *a",
            json!({"x": hidden(), "y": hidden()}),
        ),
        ("x: ${ANCHOR}\ny: 1", json!({"x": hidden(), "y": 1})),
        // names of members
        (
            "x: {'k${TOKEN}': a, b: c}",
            json!({"x": {"REDACTED": hidden(), "b": "c"}}),
        ),
        ("${TOKEN}: a", json!({"REDACTED": hidden()})),
        // only the text of the variable makes this valid: nothing is shown
        ("${NAMED}\nx: 1", json!({"REDACTED": hidden()})),
        ("x: ${QUOTE}\"\ny: 1", json!({"x": hidden(), "y": 1})),
        // sections that mean something
        (
            "default_decision: /a/${TOKEN}",
            json!({"default_decision": hidden()}),
        ),
        (
            "storage: {sqlite: {path: '${TOKEN}/solon.db'}}",
            json!({"storage": {"sqlite": {"path": hidden()}}}),
        ),
        (
            "server: {decoding: {max_length: ${PORT}}}",
            json!({"server": {"decoding": {"max_length": hidden()}}}),
        ),
        (
            "services: {s: {url: 'http://${HOST}', headers: {A: b}, name: n}}",
            json!({"services": {"s": {"url": hidden(), "headers": {"A": hidden()}, "name": "n"}}}),
        ),
        ("services: {s: ${FLOW}}", json!({"services": {}})),
        (
            "keys: {k: {scope: '${TOKEN}', key: '${TOKEN}'}}",
            json!({"keys": {"k": {"scope": hidden()}}}),
        ),
        // labels are there to be read
        (
            "labels: {a: '${TOKEN}', b: c}",
            json!({"labels": {"a": "s3cret", "b": "c"}}),
        ),
    ] {
        let config = read(text, &[], &[]);
        let config = config.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(config.told(), want, "{text}");
        let active = config.active("7", "1").to_string();
        assert_eq!(
            active.contains("s3cret"),
            want.to_string().contains("s3cret"),
            "{text}: {active}"
        );
    }
    for (set, want) in [
        ("x.y=${TOKEN}", json!({"x": {"y": hidden()}})),
        (
            "x.y=a${TOKEN}b,x.z=1",
            json!({"x": {"y": hidden(), "z": 1}}),
        ),
        ("x={a,${TOKEN}}", json!({"x": ["a", hidden()]})),
        ("x[0].y=${TOKEN}", json!({"x": [{"y": hidden()}]})),
        ("x.${TOKEN}=a", json!({"x": {"REDACTED": hidden()}})),
        ("x=s3cret", json!({"x": "s3cret"})),
    ] {
        assert_eq!(told("", &[set]), want, "{set}");
    }
    // an assignment over a variable of the file, and the other way round
    assert_eq!(told("x: ${TOKEN}", &["x=a"]), json!({"x": "a"}));
    assert_eq!(told("x: a", &["x=${TOKEN}"]), json!({"x": hidden()}));
}

#[test]
fn values_of_files_are_not_shown() {
    let config = read("", &[], &["x.y=secret.txt", "labels.l=secret.txt"]).unwrap();
    assert_eq!(
        config.told(),
        json!({"x": {"y": "REDACTED"}, "labels": {"l": "hidden"}})
    );
    let config = read("", &[], &["services.s.headers.Authorization=secret.txt"]).unwrap();
    assert!(!config.active("7", "1").to_string().contains("hidden"));
}

/// Sections with unknown names may be misspelled ones, and contain the same secrets.
#[test]
fn headers_and_credentials_are_not_shown_in_any_section() {
    for (text, want) in [
        (
            "servces: {a: {headers: {Authorization: t}, credentials: {bearer: {token: t}}, url: u}}",
            json!({"servces": {"a": {"headers": {"Authorization": "REDACTED"}, "url": "u"}}}),
        ),
        (
            "extra: [{Headers: {A: t, b: [t]}}, {HEADERS: 't: t'}, {headers: [t]}]",
            json!({"extra": [{"Headers": {"A": "REDACTED", "b": "REDACTED"}}, {"HEADERS": "REDACTED"}, {"headers": "REDACTED"}]}),
        ),
        (
            "extra: {headers: null, Credentials: t}",
            json!({"extra": {"headers": null}}),
        ),
        ("headers: {a: t}", json!({"headers": {"a": "REDACTED"}})),
        (
            "labels: {headers: l, credentials: l}",
            json!({"labels": {"headers": "l", "credentials": "l"}}),
        ),
    ] {
        assert_eq!(told(text, &[]), want, "{text}");
    }
}

/// Sections that are spelled another way have no effect, and contain secrets all the same.
#[test]
fn misspelled_sections_are_without_secrets() {
    for (section, want) in [
        (
            "Services: {a: {url: 'https://u:t@h', credentials: {bearer: {token: t}}}}",
            json!({"Services": {"a": {"url": "https://REDACTED@h"}}}),
        ),
        (
            "SERVICES: [{name: n, headers: {a: t}, token: t}, t, [t]]",
            json!({"SERVICES": [{"name": "n", "headers": {"a": "REDACTED"}}]}),
        ),
        (
            "Services: {a: t, b: {url: {c: t}, headers: [t], name: n}}",
            json!({"Services": {"b": {"name": "n"}}}),
        ),
        ("Services: t", json!({"Services": null})),
        (
            "Keys: {k: {key: t, private_key: t, scope: read}, l: t}",
            json!({"Keys": {"k": {"scope": "read"}}}),
        ),
        (
            "KEYS: [{key: t, scope: s}]",
            json!({"KEYS": [{"scope": "s"}]}),
        ),
        ("keyS: 1", json!({"keyS": null})),
    ] {
        assert_eq!(told(section, &[]), want, "{section}");
    }
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
    assert_eq!((settings.body, settings.unpacked), (Some(50), Some(60)));
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
