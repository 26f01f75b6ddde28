//! Transformation of a fetched document by a query.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use solon::bundle::{Loader, MemoryFiles};
use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon::{Cancel, Engine, Host, Limits, OfflineHost, Request, Value, Version, json};
use solon_syntax::ParseOptions;

use crate::model::Compat;
use crate::sync::FetchOptions;
use crate::tree::{Content, Tree};

/// A transformation of a document.
pub struct Transform {
    pub query: String,
    pub input: Content,
    /// Policies and documents that the query may refer to.
    pub trees: Vec<Tree>,
    pub options: FetchOptions,
}

/// Ends an evaluation if nothing waits for its result.
struct CancelOnDrop(Arc<Cancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A host without network and files, which remembers that the query needed them.
#[derive(Default)]
struct TransformHost {
    was_called: AtomicBool,
}

impl Host for TransformHost {
    fn now_ns(&self) -> i64 {
        OfflineHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        OfflineHost.fill_random(buffer)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        self.was_called.store(true, Ordering::Release);
        OfflineHost.send(request, wait)
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<std::net::IpAddr>, LookupError> {
        self.was_called.store(true, Ordering::Release);
        OfflineHost.addresses(name, wait)
    }
}

impl Transform {
    /// Returns the JSON text of the result: the value of the query, or an array of them if the query has several solutions.
    ///
    /// # Errors
    /// A message: the document is not JSON, the query is invalid or undefined, exceeds a limit, or needs the network.
    pub async fn run(self) -> Result<Bytes, String> {
        let cancel = Arc::new(Cancel::default());
        let _guard = CancelOnDrop(cancel.clone());
        let evaluating = tokio::task::spawn_blocking(move || self.evaluate(&cancel));
        evaluating.await.map_err(|error| error.to_string())?
    }

    fn evaluate(&self, cancel: &Cancel) -> Result<Bytes, String> {
        let bytes = self.input.read().map_err(|error| error.to_string())?;
        let input = json::read(&bytes).map_err(|_| {
            format!(
                "failed to unmarshal content: {}",
                json::error_message(&bytes)
            )
        })?;
        let versions = match self.options.compat {
            Compat::Ocp => [Version::V0, Version::V1],
            Compat::Strict => [Version::V1, Version::V0],
        };
        let mut first = None;
        for version in versions {
            let host = Arc::new(TransformHost::default());
            match self.engine(version, host.clone()) {
                Ok(engine) => match engine.prepare_query(&self.query) {
                    Ok(query) => return self.solve(&query, &input, &host, cancel),
                    Err(error) => first = first.or(Some(error.to_string())),
                },
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_default())
    }

    fn engine(&self, version: Version, host: Arc<TransformHost>) -> Result<Engine, String> {
        let limits = Limits::default()
            .time(Some(self.options.transform_timeout))
            .memory(Some(self.options.transform_memory));
        let engine = Engine::builder()
            .version(version)
            .limits(limits)
            .host(host)
            // messages have the paths of the source, without the number of the tree
            .file_name(|name| name.split_once('/').map_or(name, |(_, path)| path))
            .build();
        let mut files = MemoryFiles::default();
        let mut folders = Vec::new();
        for (number, tree) in self.trees.iter().enumerate() {
            if tree.is_empty() {
                continue;
            }
            folders.push(number.to_string());
            for (path, content) in tree.files() {
                let bytes = content.read().map_err(|error| error.to_string())?;
                files.insert(format!("{number}/{path}"), bytes.to_vec());
            }
        }
        if folders.is_empty() {
            return Ok(engine);
        }
        let loader = Loader::new(&files).parse_options(ParseOptions::from_version(version));
        let loaded = loader.load(&folders).map_err(|errors| errors.to_string())?;
        let modules = loaded.modules.iter();
        let modules = modules.map(|(name, text)| (name.as_str(), text.as_str()));
        engine
            .put("data", loaded.documents.clone())
            .and_then(|()| engine.set_modules(modules))
            .map_err(|error| error.to_string())?;
        Ok(engine)
    }

    fn solve(
        &self,
        query: &solon::PreparedQuery,
        input: &Value,
        host: &TransformHost,
        cancel: &Cancel,
    ) -> Result<Bytes, String> {
        let print = |line: &str| tracing::debug!(line, "print of a transformation");
        let request = Request::new().input(input).cancel(cancel).print(&print);
        let solutions = query.solutions(&request);
        if host.was_called.load(Ordering::Acquire) {
            return Err("the query needs the network, which transformations cannot use".to_owned());
        }
        let solutions = solutions.map_err(|error| error.to_string())?;
        let mut values = Vec::new();
        for solution in solutions {
            match <[Value; 1]>::try_from(solution.values) {
                Ok([value]) => values.push(value),
                Err(_) => return Err("the query has more than one expression".to_owned()),
            }
        }
        let value = match <[Value; 1]>::try_from(values) {
            Ok([value]) => value,
            Err(values) if values.is_empty() && self.options.compat == Compat::Strict => {
                return Err("the result is undefined".to_owned());
            }
            Err(values) => Value::array(values),
        };
        let mut text = Vec::new();
        json::write(value.borrow(), &mut text);
        if text.len() > self.options.max_datasource_bytes {
            let max = self.options.max_datasource_bytes;
            return Err(format!("the result exceeds the limit of {max} bytes"));
        }
        Ok(text.into())
    }
}
