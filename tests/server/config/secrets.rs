//! Redaction of secrets in the shown configuration.

use serde_json::json;

use super::{read, reported};

#[test]
fn secrets_are_redacted() {
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
    let list = reported(
        "services: [{name: a, url: u, credentials: {bearer: {token: t}}}]",
        &[],
    );
    assert_eq!(list, json!({"services": [{"name": "a", "url": "u"}]}));
}

#[test]
fn credentials_of_services_are_redacted() {
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
        // a misspelled key has no effect, but may contain a secret
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
        // unescaped passwords
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
        let named = reported(&format!("services: {{a: {{{service}}}}}"), &[]);
        assert_eq!(named["services"]["a"], want, "{service}");
        let config = read(&format!("services: [{{{service}}}]"), &[], &[]).unwrap();
        assert_eq!(
            config.active("7", "1")["services"],
            json!([want]),
            "{service}"
        );
    }
    let set = reported("services: {a: {}}", &["services.a.headers.Token=t"]);
    assert_eq!(
        set["services"]["a"]["headers"],
        json!({"Token": "REDACTED"})
    );
    let keys = reported("keys: {k: {Key: t, PRIVATE_KEY: t, scope: read}}", &[]);
    assert_eq!(keys["keys"], json!({"k": {"scope": "read"}}));
    let keys = reported("keys: {k: {kei: t, key: t, algorithm: HS256}}", &[]);
    assert_eq!(keys["keys"], json!({"k": {"algorithm": "HS256"}}));
}

/// A value that contains a variable is redacted as a whole, whatever surrounds the variable and whatever its type.
#[test]
fn values_of_variables_are_redacted() {
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
        // a variable that is not set stays unchanged
        ("x: ${NONE}, y", json!({"x": "${NONE}, y"})),
        ("x: ${}a", json!({"x": "a"})),
        // an equal value from elsewhere is not secret
        (
            "x: ${TOKEN}\ny: s3cret",
            json!({"x": hidden(), "y": "s3cret"}),
        ),
        (
            "x: 8080 # ${PORT}\ny: ${PORT}",
            json!({"x": 8080, "y": hidden()}),
        ),
        // variables that contain several values
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
        // only the text of the variable makes this valid, so nothing is shown
        ("${NAMED}\nx: 1", json!({"REDACTED": hidden()})),
        ("x: ${QUOTE}\"\ny: 1", json!({"x": hidden(), "y": 1})),
        // sections that have an effect
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
        // labels are public
        (
            "labels: {a: '${TOKEN}', b: c}",
            json!({"labels": {"a": "s3cret", "b": "c"}}),
        ),
    ] {
        let config = read(text, &[], &[]);
        let config = config.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(config.redacted(), want, "{text}");
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
        assert_eq!(reported("", &[set]), want, "{set}");
    }
    // an assignment over a variable of the file, and the reverse
    assert_eq!(reported("x: ${TOKEN}", &["x=a"]), json!({"x": "a"}));
    assert_eq!(reported("x: a", &["x=${TOKEN}"]), json!({"x": hidden()}));
}

#[test]
fn values_of_files_are_redacted() {
    let config = read("", &[], &["x.y=secret.txt", "labels.l=secret.txt"]).unwrap();
    assert_eq!(
        config.redacted(),
        json!({"x": {"y": "REDACTED"}, "labels": {"l": "hidden"}})
    );
    let config = read("", &[], &["services.s.headers.Authorization=secret.txt"]).unwrap();
    assert!(!config.active("7", "1").to_string().contains("hidden"));
}

/// Sections with unknown names may be misspelled and contain the same secrets.
#[test]
fn headers_and_credentials_are_redacted_in_any_section() {
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
        assert_eq!(reported(text, &[]), want, "{text}");
    }
}

/// Sections with another spelling have no effect, but may contain secrets.
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
        assert_eq!(reported(section, &[]), want, "{section}");
    }
}
