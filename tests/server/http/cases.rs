//! Recorded cases: files of `tests/cases/server`, each a list of servers and requests.
//!
//! A case has a `note`, the numbers of the `rules` of the specification that it shows, `files` and `flags` of the server,
//! and `requests`. A request is `ask` (`METHOD /target`), optional `headers`, a `body` (text, or JSON that is sent as text)
//! and `gzip`. Its recorded response has the `status`, the content `type`, further `headers` and the body: JSON as `json`,
//! other text as `text`, and always `text` with `exact`. Values that differ between runs are recorded empty: times of
//! metrics, and place and time of the build.
//!
//! Each case runs in both spellings, unless its flags choose one. `want` is the response in the specification's spelling,
//! and `opa` the one in OPA's where it differs. `reference` is the response of OPA itself where it differs from Solon's in
//! OPA's spelling. `BLESS=1` records Solon's responses again, and with `SOLON_REFERENCE_SERVER` (OPA's program) also those
//! of OPA.

#[path = "cases/measured.rs"]
mod measured;
#[path = "cases/reference.rs"]
mod reference;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::{Answer, Client, Message};
use crate::process::Server;

/// Headers of responses that are recorded.
const SHOWN: [&str; 4] = ["location", "allow", "vary", "content-encoding"];

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    rules: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    requests: Vec<Exchange>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    #[serde(rename = "ask")]
    request_line: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    with: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(default, skip_serializing_if = "is_false")]
    gzip: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    exact: bool,
    #[serde(default)]
    want: Want,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opa: Option<Want>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

/// A recorded response.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Want {
    status: u16,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Distinguishes a response of `null` from a missing one.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Runs all cases of all files.
pub fn run() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    let mut asked = 0;
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases: Vec<Case> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &mut cases {
            asked += case.requests.len();
            assert!(
                !case.rules.is_empty(),
                "{}: `{}` names no rule",
                path.display(),
                case.note
            );
            case.run(bless, &mut failures);
        }
        if bless {
            std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {asked} requests:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(asked >= 120, "only {asked} requests");
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/server");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

impl Case {
    fn run(&mut self, bless: bool, failures: &mut Vec<String>) {
        let files: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let server = Server::start_with(&flags, &files);
        for exchange in &mut self.requests {
            let got = exchange.send(server.address());
            if bless {
                exchange.want = got;
            } else {
                exchange.compare(&self.note, "", &exchange.want, &got, failures);
            }
        }
        drop(server);
        if flags.contains(&COMPAT) {
            return;
        }
        let spelled: Vec<&str> = flags.iter().copied().chain([COMPAT, "opa"]).collect();
        let server = Server::start_with(&spelled, &files);
        for exchange in &mut self.requests {
            let got = exchange.send(server.address());
            if bless {
                exchange.opa = (got != exchange.want).then_some(got);
            } else {
                let want = exchange.opa.as_ref().unwrap_or(&exchange.want);
                exchange.compare(&self.note, " (OPA's spelling)", want, &got, failures);
            }
        }
        if bless && let Some(reference) = reference::Reference::start(&flags, &files) {
            for exchange in &mut self.requests {
                let want = exchange.opa.as_ref().unwrap_or(&exchange.want);
                exchange.reference = reference.differs(exchange, want);
            }
        }
    }
}

/// The flag that chooses a spelling.
const COMPAT: &str = "--compat";

impl Exchange {
    fn compare(
        &self,
        note: &str,
        spelling: &str,
        want: &Want,
        got: &Want,
        failures: &mut Vec<String>,
    ) {
        if got != want {
            let ask = &self.request_line;
            failures.push(format!(
                "{note}{spelling}: {ask}\n  want {want:?}\n  got  {got:?}"
            ));
        }
    }

    fn send(&self, address: &str) -> Want {
        let (method, target) = self
            .request_line
            .split_once(' ')
            .unwrap_or_else(|| panic!("no target: {}", self.request_line));
        let mut message = Message::new(method, target);
        for (name, value) in &self.with {
            message = message.header(name, value);
        }
        let body = match &self.body {
            None => Vec::new(),
            Some(Value::String(text)) => text.clone().into_bytes(),
            Some(json) => json.to_string().into_bytes(),
        };
        if self.gzip {
            message = message
                .header("content-encoding", "gzip")
                .body(compressed(&body));
        } else {
            message = message.body(body);
        }
        self.record(Client::connect(address).send(&message))
    }

    fn record(&self, mut answer: Answer) -> Want {
        if answer.header("content-encoding") == Some("gzip") {
            answer.body = decompressed(&answer.body);
        }
        let headers = SHOWN
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), answer.header(name)?.to_owned())));
        let mut want = Want {
            status: answer.status,
            kind: answer.header("content-type").map(str::to_owned),
            headers: headers.collect(),
            ..Want::default()
        };
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        match serde_json::from_str::<Value>(&text) {
            Ok(mut json) if !self.exact => {
                measured::clear(&mut json);
                want.json = Some(json);
            }
            _ if text.is_empty() => {}
            _ => want.text = Some(text),
        }
        want
    }
}

fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn decompressed(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(body)
        .read_to_end(&mut out)
        .unwrap();
    out
}
