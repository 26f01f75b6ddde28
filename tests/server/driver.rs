//! OPA's test cases and the recorded programs, sent over HTTP. Each case has its own server with an engine that contains
//! the case's policies and documents.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a panic here is a failing test"
)]

#[path = "../time/waiting.rs"]
mod waiting;

#[path = "http/client.rs"]
#[allow(dead_code, reason = "shared with other tests, which use the rest")]
mod client;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use solon::store::Path as DocumentPath;
use solon::{Change, CompilerOptions, Engine, FixedHost};
use solon_lines::conformance::Cases;
use solon_lines::{Driver, Line, Native};
use solon_server::{Server, ServerOptions, Spelling};
use solon_syntax::ast::Version;
use tokio::runtime::Runtime;

use client::{Client, Message};

/// Servers that evaluate the lines of the test protocol.
struct Http {
    runtime: Runtime,
    /// Number of lines that were evaluated over HTTP.
    asked: usize,
}

impl Http {
    fn new() -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        Self {
            runtime: runtime.worker_threads(2).enable_all().build().unwrap(),
            asked: 0,
        }
    }

    /// Returns the response of a server with `engine` to a query.
    fn query(&mut self, engine: Engine, line: &Line<'_>) -> Result<String, String> {
        let options = ServerOptions {
            spelling: Spelling::Opa,
            ..ServerOptions::default()
        };
        let server = Server::builder().engine(engine).options(options);
        let server = server.address("127.0.0.1:0").build();
        let open = self.runtime.block_on(server.open());
        let open = open.map_err(|error| error.to_string())?;
        let address = open.addresses()[0].clone();
        let (told, stopped) = tokio::sync::oneshot::channel::<()>();
        let serves = self
            .runtime
            .spawn(open.serve(async { drop(stopped.await) }));
        let strict = if line.strict_builtin_errors {
            "?strict-builtin-errors"
        } else {
            ""
        };
        let mut body = json!({"query": line.query}).to_string();
        if let Some(input) = line.input {
            body.pop();
            body += &format!(",\"input\":{}}}", input.get());
        }
        let ask = Message::new("POST", &format!("/v1/query{strict}")).body(body);
        let mut client = Client::connect(&address);
        let answer = client.send(&ask);
        drop(client);
        drop(told);
        self.runtime
            .block_on(serves)
            .map_err(|error| error.to_string())?;
        self.asked += 1;
        Ok(answer.text())
    }
}

/// Creates an engine with the content of a line, or returns the error line if that fails.
fn engine(line: &Line<'_>) -> Result<Engine, String> {
    let engine = Engine::builder()
        .version(if line.v0 { Version::V0 } else { Version::V1 })
        .compiler(CompilerOptions::default().strict(line.strict))
        .host(Arc::new(FixedHost::at_time(line.now_ns)))
        .allow_base_conflicts(line.allow_base_conflicts)
        .build();
    let mut change = Change::default();
    for (name, text) in &line.modules {
        change.set_module(name, text);
    }
    if let Some(data) = line.data {
        let data = solon::json::read(data.get().as_bytes()).map_err(|error| error.to_string())?;
        change.put(DocumentPath::default(), data);
    }
    engine.apply(change).map_err(|error| error.to_string())?;
    Ok(engine)
}

impl Driver for Http {
    fn answer(&mut self, text: &str) -> Result<String, String> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // an invalid JSON input, and policies that are rejected, never reach a server.
        if line.input_term.is_some() || line.partial || !line.explain.is_empty() {
            return Native::Plans.answer(text);
        }
        let Ok(engine) = engine(&line) else {
            return Native::Plans.answer(text);
        };
        let answer = self.query(engine, &line)?;
        // numbers must keep their spelling
        if let Some(rest) = answer.trim_end().strip_prefix("{\"result\":") {
            return Ok(format!("{{\"bindings\":{rest}"));
        }
        let answer: Json = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let entries = match answer["errors"].as_array() {
            Some(entries) => entries.clone(),
            None if answer.get("code").is_some() => {
                vec![json!({"code": answer["code"], "message": answer["message"]})]
            }
            None => return Ok("{}".to_owned()),
        };
        let entries = entries.into_iter().map(|mut entry| {
            let place = entry["location"].take();
            for name in ["file", "row", "col"] {
                if let Some(value) = place.get(name) {
                    entry[name] = value.clone();
                }
            }
            entry
        });
        Ok(json!({"errors": entries.collect::<Vec<_>>()}).to_string())
    }
}

#[test]
fn published_cases_over_http() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let exceptions = include_str!("../conformance/exceptions.tsv");
    let cases = Cases::find(&folder, exceptions);
    if !cases.are_there() {
        println!("no folder of cases at {}", cases.directory.display());
        return;
    }
    let mut http = Http::new();
    let report = cases.run(&mut http);
    let failed: Vec<_> = report
        .failed
        .iter()
        .map(|(note, why)| format!("{note}: {why}"))
        .collect();
    assert!(
        failed.is_empty(),
        "{}\n{} passed",
        failed.join("\n"),
        report.passed
    );
    println!("{} passed, {} of them over HTTP", report.passed, http.asked);
}

/// Returns the compared parts of a response: bindings, and the code, message and location of errors.
fn essence(answer: &str) -> (Option<solon::Value>, Vec<Vec<Json>>) {
    let told: Json = serde_json::from_str(answer).unwrap();
    let bindings = solon::json::read(answer.as_bytes()).unwrap();
    let bindings = bindings.get("bindings").cloned();
    let errors = told["errors"].as_array().cloned().unwrap_or_default();
    let errors = errors.iter().map(|error| {
        let of = |name: &str, none: Json| match &error[name] {
            Json::Null => none,
            other => other.clone(),
        };
        vec![
            of("code", "".into()),
            of("message", "".into()),
            of("file", "".into()),
            of("row", 0.into()),
            of("col", 0.into()),
        ]
    });
    (bindings, errors.collect())
}

#[test]
fn recorded_programs_over_http() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/agreement");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "jsonl"));
    files.sort();
    let mut http = Http::new();
    let mut differ = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let case: std::collections::BTreeMap<&str, &serde_json::value::RawValue> =
                serde_json::from_str(line).unwrap();
            let request = case["request"].get();
            let native = essence(&Native::Plans.answer(request).unwrap());
            let answer = http.answer(request).unwrap();
            if essence(&answer) != native {
                differ.push(format!("{}: {native:?}\n  {answer}", case["case"]));
            }
        }
    }
    assert!(
        differ.is_empty(),
        "{} of {}:\n{}",
        differ.len(),
        http.asked,
        differ.join("\n")
    );
    assert!(http.asked >= 2_000, "{}", http.asked);
}
