//! Cached signatures of tokens do not change results.

use serde_json::{Value, json};
use solon::{Engine, Request};

const DATA: &str = include_str!("../../../engine/benches/workloads/builtins/tokens_data.json");
const TOKENS: &str = include_str!("../../../engine/benches/workloads/builtins/tokens_input.json");

const POLICY: &str = r#"package t

rs256 := io.jwt.verify_rs256(input.token, data.certificate)

rs512 := io.jwt.verify_rs512(input.token, data.certificate)

ps256 := io.jwt.verify_ps256(input.token, data.certificate)

es256 := io.jwt.verify_es256(input.token, data.jwks)

keys := {"certificate": data.certificate, "jwks": data.jwks}

wanted := {"cert": keys[input.key], "aud": "api", "iss": "issuer", "time": input.seconds * 1000000000}

accepted := io.jwt.decode_verify(input.token, wanted)[0]
"#;

struct TokenEngine(Engine);

impl TokenEngine {
    fn new(signatures: usize) -> Self {
        let engine = Engine::builder().signature_cache(signatures).build();
        engine.set_module("t.rego", POLICY).expect("a policy");
        let data: Value = serde_json::from_str(DATA).expect("documents");
        for (name, value) in data.as_object().expect("documents") {
            let value = solon::json::read(value.to_string().as_bytes());
            let put = engine.put(&format!("data.{name}"), value.expect("a document"));
            put.expect("documents");
        }
        Self(engine)
    }

    fn rule(&self, name: &str, input: &Value) -> String {
        let document = self.0.prepare_document(&format!("data.t.{name}"));
        let input = input.to_string();
        let request = Request::new().input_json(input.as_bytes());
        let answer = document.expect("a path").evaluate_json(&request);
        let answer = answer.expect("no error");
        answer.map_or("undefined".into(), |text| {
            String::from_utf8(text).expect("JSON")
        })
    }
}

/// Returns a token with one letter replaced.
fn changed(token: &str, at: usize) -> String {
    let mut token = token.to_owned().into_bytes();
    token[at] = if token[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(token).expect("ASCII")
}

#[test]
fn cached_signatures_change_no_result() {
    let tokens: Value = serde_json::from_str(TOKENS).expect("tokens");
    for signatures in [4096, 1, 0] {
        let asked = TokenEngine::new(signatures);
        for (name, key) in [("rs256", "certificate"), ("es256", "jwks")] {
            let token = tokens[name].as_str().expect("a token");
            let with = |token: &str| json!({"token": token});
            for _ in 0..3 {
                assert_eq!(asked.rule(name, &with(token)), "true");
                // another algorithm, another signature, another payload, the other key
                let others = ["rs512", "ps256", "rs256", "es256"];
                for other in others.into_iter().filter(|other| *other != name) {
                    assert_eq!(asked.rule(other, &with(token)), "false", "{name} {other}");
                }
                let (payload, signature) = token.rsplit_once('.').expect("parts");
                assert_eq!(
                    asked.rule(name, &with(&changed(token, token.len() - 20))),
                    "false"
                );
                let moved = format!("{payload}A.{}", &signature[1..]);
                let moved = asked.rule(name, &with(&moved));
                assert!(["false", "undefined"].contains(&&*moved), "{moved}");
                // the signature is cached, not the validity of the token
                for (seconds, accepted) in [
                    (1_700_000_000_u64, "true"),
                    (4_102_444_799, "true"),
                    (4_102_444_800, "false"),
                    (1_700_000_000, "true"),
                ] {
                    let input = json!({"token": token, "key": key, "seconds": seconds});
                    assert_eq!(asked.rule("accepted", &input), accepted, "{name} {seconds}");
                }
            }
            // a key that was replaced no longer verifies anything
            let old = asked.0.read(&format!("data.{key}")).expect("a key");
            let other = if key == "jwks" { "certificate" } else { "jwks" };
            let put = |value| {
                asked
                    .0
                    .put(&format!("data.{key}"), value)
                    .expect("a document");
            };
            put(asked.0.read(&format!("data.{other}")).expect("a key"));
            assert_eq!(asked.rule(name, &with(token)), "false");
            put(old);
            assert_eq!(asked.rule(name, &with(token)), "true");
        }
    }
}
