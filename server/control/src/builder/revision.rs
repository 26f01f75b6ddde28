//! Revision expressions: evaluated with facts about the sources.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::json;
use solon::host::{HostError, runtime_of};
use solon::{CompilerOptions, Engine, Host, Limits, OfflineHost, Request, Value};

use super::Input;
use super::assembly::Assembly;
use super::plan::build_failed;
use crate::limits;
use crate::model::Failure;
use crate::tree::Facts;

/// Evaluates the revision expression of a bundle. The revision is empty if the bundle has none.
pub fn evaluate(input: &Input<'_>, assembly: &Assembly) -> Result<String, Failure> {
    let text = &input.bundle.revision;
    if text.is_empty() {
        return Ok(String::new());
    }
    let failed =
        |problem: &str| build_failed(format!("revision: failed to resolve revision: {problem}"));
    // the hash reads every file
    let hash = text.contains("bundle").then(|| bundle_hash(assembly));
    let mut facts: Vec<(&str, Option<&Facts>)> = Vec::new();
    for (name, _) in input.plan.sources() {
        facts.push((name, input.sources.get(name).map(|fetched| &fetched.facts)));
    }
    let schemas = HashMap::from([(Vec::new(), schema(&facts))]);
    let host = RevisionHost {
        runtime: runtime_of(input.environment.clone()),
    };
    let engine = Engine::builder()
        .compiler(CompilerOptions::default().schemas(schemas))
        .limits(
            Limits::default()
                .steps(Some(limits::REVISION_STEPS))
                .time(Some(Duration::from_secs(limits::REVISION_SECONDS))),
        )
        .host(Arc::new(host))
        .build();
    let query = engine
        .prepare_query(text)
        .map_err(|error| failed(&error.to_string()))?;
    let document = document(&facts, hash.as_deref());
    let solutions = query
        .solutions(&Request::new().input(&document))
        .map_err(|error| failed(&error.to_string()))?;
    let value = solutions
        .first()
        .and_then(|solution| solution.values.first());
    let Some(value) = value else {
        return Err(failed("no results from Rego evaluation"));
    };
    let revision = text_of(value);
    if revision.len() > limits::BUNDLE_REVISION {
        return Err(build_failed(format!(
            "revision: resolved revision exceeds maximum length of {} characters (got {})",
            limits::BUNDLE_REVISION,
            revision.len()
        )));
    }
    Ok(revision)
}

/// A host without network and files, whose environment has only the exposed variables.
struct RevisionHost {
    runtime: Value,
}

impl Host for RevisionHost {
    fn now_ns(&self) -> i64 {
        OfflineHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        OfflineHost.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        self.runtime.clone()
    }
}

/// Returns the SHA-256 digest over the assembled files: each path, a zero byte and the content, in order of the paths.
fn bundle_hash(assembly: &Assembly) -> String {
    let mut files: Vec<(String, &[u8])> = Vec::new();
    for part in &assembly.subtrees {
        let path = |path: &str| format!("{}/{path}", part.folder);
        for policy in &part.policies {
            files.push((path(&policy.path), policy.text.as_bytes()));
        }
        for (name, bytes) in part.documents.iter().chain(&part.others) {
            files.push((path(name), bytes));
        }
    }
    files.sort();
    let mut context = Context::new(&SHA256);
    for (path, bytes) in files {
        context.update(path.as_bytes());
        context.update(&[0]);
        context.update(bytes);
    }
    hex::encode(context.finish())
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let members = members.into_iter();
    Value::object(
        members
            .map(|(name, value)| (Value::string(name), value))
            .collect(),
    )
}

/// Returns the input of the expression.
fn document(facts: &[(&str, Option<&Facts>)], hash: Option<&str>) -> Value {
    let hash_of = |digest: &str| object([("hash", Value::string(digest))]);
    let sources = facts.iter().filter_map(|(name, facts)| {
        let facts = (*facts)?;
        let mut members = Vec::new();
        if let Some(commit) = &facts.git_commit {
            members.push(("git", object([("commit", Value::string(commit))])));
        }
        if let Some(digest) = &facts.sql_digest {
            members.push(("sql", hash_of(digest)));
        }
        for (kind, digests) in [("http", &facts.http), ("s3", &facts.s3)] {
            if !digests.is_empty() {
                let digests = digests.iter();
                members.push((
                    kind,
                    object(digests.map(|(name, digest)| (name.as_str(), hash_of(digest)))),
                ));
            }
        }
        Some((*name, object(members)))
    });
    let mut members = vec![("sources", object(sources))];
    members.push((
        "bundle",
        object(hash.map(|hash| ("hash", Value::string(hash)))),
    ));
    object(members)
}

/// Returns the schema of the input, which names the facts that each source can have.
fn schema(facts: &[(&str, Option<&Facts>)]) -> serde_json::Value {
    let fields = |name: &str| {
        json!({"type": "object", "additionalProperties": false,
               "properties": {name: {"type": "string"}}})
    };
    let closed = |properties: serde_json::Map<String, serde_json::Value>| json!({"type": "object", "additionalProperties": false, "properties": properties});
    let mut sources = serde_json::Map::new();
    for (name, facts) in facts {
        let mut kinds = serde_json::Map::new();
        kinds.insert("git".to_owned(), fields("commit"));
        kinds.insert("sql".to_owned(), fields("hash"));
        if let Some(facts) = facts {
            for (kind, digests) in [("http", &facts.http), ("s3", &facts.s3)] {
                let datasources = digests.keys();
                let datasources = datasources.map(|name| (name.clone(), fields("hash")));
                if !digests.is_empty() {
                    kinds.insert(kind.to_owned(), closed(datasources.collect()));
                }
            }
        }
        sources.insert((*name).to_owned(), closed(kinds));
    }
    json!({"type": "object", "additionalProperties": false,
           "properties": {"sources": closed(sources), "bundle": fields("hash")}})
}

/// Returns a value as OCP prints it: a string as it is, other values as Go prints them.
fn text_of(value: &Value) -> String {
    let mut text = String::new();
    write_go(value, &mut text);
    text
}

fn write_go(value: &Value, out: &mut String) {
    if let Some(text) = value.as_str() {
        out.push_str(text);
    } else if let Some(object) = value.as_object() {
        out.push_str("map[");
        for (index, (key, value)) in object.iter().enumerate() {
            if index > 0 {
                out.push(' ');
            }
            write_go(key, out);
            out.push(':');
            write_go(value, out);
        }
        out.push(']');
    } else if let Some(items) = value.as_array() {
        write_list(items.iter(), out);
    } else if let Some(set) = value.as_set() {
        write_list(set.items().iter(), out);
    } else if value.is_null() {
        out.push_str("<nil>");
    } else {
        out.push_str(&value.to_json());
    }
}

fn write_list<'v>(items: impl Iterator<Item = &'v Value>, out: &mut String) {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(' ');
        }
        write_go(item, out);
    }
    out.push(']');
}
