//! A control plane for tests, and requests to it.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::Value;
use solon_control::model::Role;
use solon_control::secrets::KeySource;
use solon_control::{ControlPlane, Options};

use crate::databases::{Folder, On};
use crate::waiting::{PAUSE, Waiting};

/// Principals of tests: name and role.
pub const PRINCIPALS: [(&str, Role); 6] = [
    ("admin", Role::Administrator),
    ("viewer", Role::Viewer),
    ("owner1", Role::Owner),
    ("owner2", Role::Owner),
    ("stack1", Role::StackOwner),
    ("stack2", Role::StackOwner),
];

/// A control plane with a key for each principal.
pub struct Plane {
    pub plane: ControlPlane,
    pub keys: BTreeMap<&'static str, String>,
    pub folder: Folder,
}

/// The options of a test.
pub fn options(folder: &Path) -> Options {
    std::fs::create_dir_all(folder).unwrap();
    let keys = folder.join("secrets.key");
    if !keys.exists() {
        let mut file = std::fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
        let mut file = file
            .write(true)
            .create(true)
            .truncate(true)
            .open(&keys)
            .unwrap();
        std::io::Write::write_all(&mut file, KEY.repeat(32).as_bytes()).unwrap();
    }
    Options {
        apply_migrations: true,
        keys: KeySource::File(keys),
        ..Options::in_folder(folder)
    }
}

/// Hexadecimal digits that are repeated to form the key for secrets.
const KEY: &str = "11";

impl Plane {
    /// Creates a control plane. Returns `None` if its database cannot be started on this machine.
    pub async fn new(on: On) -> Option<Self> {
        Self::with(on, |_| {}).await
    }

    /// Creates a control plane with changed options.
    pub async fn with(on: On, change: impl FnOnce(&mut Options)) -> Option<Self> {
        // responses omit the details of internal errors, but the log contains them; the first test of the process starts it
        let log = tracing_subscriber::fmt().with_max_level(tracing::Level::ERROR);
        let _ = log.with_test_writer().try_init();
        let folder = Folder::new();
        let mut options = options(&folder.0);
        options.database = Some(on.fresh(&folder.0).await?);
        change(&mut options);
        let plane = ControlPlane::open(&options).await.unwrap();
        let mut keys = BTreeMap::new();
        for (name, role) in PRINCIPALS {
            let key = plane.create_token(name, role, None).await.unwrap();
            keys.insert(name, key.to_string());
        }
        Some(Self {
            plane,
            keys,
            folder,
        })
    }

    /// Sends a request (`METHOD /target`) as a principal.
    pub async fn send(&self, who: &str, ask: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        self.send_with(who, ask, body, &BTreeMap::new()).await
    }

    /// Sends a request with headers.
    pub async fn send_with(
        &self,
        who: &str,
        ask: &str,
        body: impl Into<Bytes>,
        headers: &BTreeMap<String, String>,
    ) -> Response<Bytes> {
        let (method, target) = ask.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(target);
        if let Some(key) = self.keys.get(who) {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(body.into());
        let request = request.unwrap_or_else(|error| panic!("{ask}: {error}"));
        self.plane.service().handle(request).await
    }

    /// Sends a request, and returns the status and the response as JSON.
    pub async fn send_json(&self, who: &str, ask: &str, body: &str) -> (u16, Value) {
        let response = self.send(who, ask, body.to_owned()).await;
        (response.status().as_u16(), json(&response))
    }

    /// Sends a request that must succeed. Retries while the database is busy.
    pub async fn done(&self, who: &str, ask: &str, body: &str) {
        let (mut status, mut answer) = self.send_json(who, ask, body).await;
        let waiting = Waiting::until(ask);
        while status == 503 {
            pause(&waiting).await;
            (status, answer) = self.send_json(who, ask, body).await;
        }
        assert_eq!(status, 200, "{ask} {body}: {answer}");
    }
}

/// Pauses a task before the next check of a condition.
pub async fn pause(waiting: &Waiting<'_>) {
    waiting.check();
    tokio::time::sleep(PAUSE).await;
}

/// Returns the response as JSON, or as a JSON string if it is not JSON.
pub fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body())
        .unwrap_or_else(|_| String::from_utf8_lossy(response.body()).into_owned().into())
}
