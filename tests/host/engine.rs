//! The engine with the real host.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon::internal::value::json;
use solon::{Engine, Error, Host, Request};
use solon_host::SystemHost;

/// The system, with a few more variables in its environment.
#[derive(Default)]
pub struct TestHost {
    pub variables: HashMap<String, String>,
}

impl Host for TestHost {
    fn now_ns(&self) -> i64 {
        SystemHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        SystemHost.fill_random(buffer)
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        SystemHost.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        SystemHost.send(request, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let own = self.variables.get(name).cloned();
        own.or_else(|| SystemHost.variable(name))
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        SystemHost.file(path)
    }
}

/// An engine whose `data.t.p` is what an expression says.
pub fn engine(expression: &str) -> Engine {
    engine_with(TestHost::default(), expression)
}

/// Creates an engine with another host.
pub fn engine_with(host: impl Host + 'static, expression: &str) -> Engine {
    let engine = Engine::builder().host(Arc::new(host)).build();
    engine.set_module("t.rego", &module(expression)).unwrap();
    engine
}

/// The module with the query.
pub fn module(expression: &str) -> String {
    format!("package t\n\np := {expression}\n")
}

/// The JSON of `data.t.p`, or the code and the message of the error.
pub fn decide(engine: &Engine, request: &Request<'_>) -> Result<serde_json::Value, String> {
    let document = engine.prepare_document("data.t.p").unwrap();
    match document.evaluate(&request.strict_builtin_errors(true)) {
        Ok(Some(value)) => {
            let mut text = Vec::new();
            json::write(value.borrow(), &mut text);
            Ok(serde_json::from_slice(&text).unwrap())
        }
        Ok(None) => Err("undefined".into()),
        Err(Error::Eval(error)) => Err(format!("{}: {}", error.code.as_str(), error.message)),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the value or the error of an expression.
pub fn evaluate(expression: &str) -> Result<serde_json::Value, String> {
    let engine = Engine::builder()
        .host(Arc::new(TestHost::default()))
        .build();
    if let Err(error) = engine.set_module("t.rego", &module(expression)) {
        let entry = &error.entries()[0];
        return Err(format!("{}: {}", entry.code, entry.message));
    }
    decide(&engine, &Request::new())
}
