//! Responses of OPA's server.

use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{Exchange, Want};
use crate::process::Folder;
use crate::waiting::Waiting;

/// Maximum length of a recorded response, in characters.
const LONGEST: usize = 300;

/// A running server.
pub struct Reference {
    child: Child,
    address: String,
    _folder: Folder,
}

impl Reference {
    /// Starts a server with the files of a case. Returns `None` without a program, or if it does not support the flags.
    pub fn start(flags: &[&str], files: &[(&str, &str)]) -> Option<Self> {
        let program = std::env::var_os("SOLON_REFERENCE_SERVER")?;
        let folder = Folder::with(files);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let paths = files.iter().map(|(name, _)| *name);
        let child = Command::new(program)
            .args(["run", "--server", "--addr", &address])
            .args(flags)
            .args(paths.filter(|name| *name != "c.yaml"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut started = Self {
            child,
            address,
            _folder: folder,
        };
        let waiting = Waiting::until("the reference server starts");
        while TcpStream::connect(&started.address).is_err() {
            if started.child.try_wait().unwrap().is_some() {
                return None;
            }
            waiting.pause();
        }
        Some(started)
    }

    /// Returns the response of OPA if it differs from the expected one.
    pub fn differs(&self, exchange: &Exchange, want: &Want) -> Option<String> {
        // OPA closes the connection when it panics
        let exchange = spelled(exchange);
        let asked = AssertUnwindSafe(|| exchange.send(&self.address));
        let Ok(got) = catch_unwind(asked) else {
            return Some("no answer".to_owned());
        };
        if in_order(&got) == in_order(&spelled_want(want)) {
            return None;
        }
        let body = match (&got.json, &got.text) {
            (Some(json), _) => json.to_string(),
            (None, Some(text)) => text.clone(),
            (None, None) => String::new(),
        };
        let mut text: String = body.chars().take(LONGEST).collect();
        if text.len() < body.len() {
            text.push('…');
        }
        Some(format!("{} {text}", got.status).trim_end().to_owned())
    }
}

/// Vendor prefixes of media types, in the specification's spelling and in OPA's.
const BRANDS: [&str; 2] = ["vnd.engine.", "vnd.opa."];

/// Returns the request with OPA's media types.
fn spelled(exchange: &Exchange) -> Exchange {
    let [ours, theirs] = BRANDS;
    let with = exchange.with.iter();
    Exchange {
        with: with
            .map(|(name, value)| (name.clone(), value.replace(ours, theirs)))
            .collect(),
        ..exchange.clone()
    }
}

/// Returns the response with the variables of events sorted, because their order is random in OPA.
fn in_order(want: &Want) -> Want {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(sort),
            Value::Object(fields) => {
                fields.values_mut().for_each(sort);
                if let Some(Value::Array(locals)) = fields.get_mut("locals") {
                    locals.sort_by_key(ToString::to_string);
                }
            }
            _ => {}
        }
    }
    let mut want = want.clone();
    want.json.iter_mut().for_each(sort);
    want
}

fn spelled_want(want: &Want) -> Want {
    let [ours, theirs] = BRANDS;
    let kind = want.kind.as_ref().map(|kind| kind.replace(ours, theirs));
    Want {
        kind,
        ..want.clone()
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
