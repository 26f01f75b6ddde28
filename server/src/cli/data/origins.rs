//! Origins of policies and documents: `solon data origins`, `solon data release`, and the origins of an export.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use solon::Value;
use solon::store::{
    Claim, ClaimKind, Claims, Contents, HiddenModule, Origin, Path, Store as _, StoredOrigins,
};

use super::{existing, message};
use crate::api::policy_id;
use crate::cli::report::Report;
use crate::cli::terminal::print;
use crate::http::segments;

#[derive(clap::Args)]
pub struct Args {
    /// The file, or the folder that `--data-dir` names.
    #[arg(value_name = "STORE")]
    store: PathBuf,
}

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("released").required(true).multiple(true).args(["paths", "policy"])))]
pub struct ReleaseArgs {
    /// The file, or the folder that `--data-dir` names.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Paths of documents, as `solon data origins` prints them.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Names of policies, as `solon data origins` prints them.
    #[arg(short, long, value_name = "NAME")]
    policy: Vec<String>,
}

/// Prints the origin of each policy, and of the largest parts of documents that have a single origin.
pub fn list(args: &Args) -> Result<ExitCode, Report> {
    let contents = existing(&args.store)?.load().map_err(message)?;
    let mut lines = Vec::new();
    for module in &contents.modules {
        let origin = origin_name(module.origin).unwrap_or("unknown");
        lines.push(format!("policy\t{origin}\t{}\n", module.name));
    }
    for hidden_module in &contents.origins.hidden {
        lines.push(format!(
            "policy\tfiles, not in force\t{}\n",
            hidden_module.name
        ));
    }
    let mut listing = Listing {
        claims: &contents.origins.claims,
        lines,
    };
    listing.document(&contents.documents);
    print(listing.lines.concat());
    Ok(ExitCode::SUCCESS)
}

struct Listing<'c> {
    claims: &'c Claims,
    lines: Vec<String>,
}

/// A document to list.
struct Node<'v> {
    path: Vec<String>,
    value: Option<&'v Value>,
    /// `true` if the origin of a containing document is unknown.
    is_unknown: bool,
}

impl Listing<'_> {
    /// Lists the parts of a document in order. They may be nested too deeply for recursion.
    fn document(&mut self, root: &Value) {
        let mut stack = vec![Node {
            path: Vec::new(),
            value: Some(root),
            is_unknown: false,
        }];
        while let Some(node) = stack.pop() {
            self.node(node, &mut stack);
        }
    }

    /// Lists a document that has one origin. Otherwise pushes its members in reverse order.
    fn node<'v>(&mut self, node: Node<'v>, stack: &mut Vec<Node<'v>>) {
        let Node {
            path,
            value,
            is_unknown,
        } = node;
        let claim = self.claims.get(&path).map(|claim| claim.kind);
        let is_unknown = is_unknown || claim == Some(ClaimKind::Unknown);
        let claims_below = self.claims.iter_below(&path);
        let keys: BTreeSet<String> = claims_below
            .filter_map(|(claim_path, _)| claim_path.get(path.len()).cloned())
            .collect();
        let object = value.and_then(Value::as_object);
        let origin = match (claim, value) {
            (Some(ClaimKind::Whole), Some(_)) => "client",
            (Some(ClaimKind::Whole), None) => "client, removed",
            _ if !keys.is_empty() => {
                let own_keys = object.into_iter().flat_map(solon::Object::iter);
                let own_keys = own_keys.filter_map(|(key, _)| key.as_str().map(str::to_owned));
                let keys: BTreeSet<String> = own_keys.chain(keys).collect();
                stack.extend(keys.into_iter().rev().map(|key| Node {
                    value: object.and_then(|object| object.get_str(&key)),
                    path: path.iter().cloned().chain([key]).collect(),
                    is_unknown,
                }));
                return;
            }
            (_, None) => return,
            (Some(ClaimKind::Object), _) if object.is_some_and(solon::Object::is_empty) => "client",
            _ if is_unknown => "unknown",
            _ => "files",
        };
        let path = Path::new(path);
        self.lines.push(format!("document\t{origin}\t{path}\n"));
    }
}

/// Removes the record that clients wrote policies and documents, or that their origin is unknown. The next load of files replaces
/// or removes them.
pub fn release(args: &ReleaseArgs) -> Result<ExitCode, Report> {
    let store = existing(&args.store)?;
    let mut contents = store.load().map_err(message)?;
    for path in &args.paths {
        let path = document_path(path)?;
        let claims = &mut contents.origins.claims;
        if claims.iter_below(path.segments()).next().is_none() {
            let text =
                format!("{path}: no client has written this document; see `solon data origins`");
            return Err(Report::message(text));
        }
        claims.remove(path.segments());
    }
    for name in &args.policy {
        release_module(&mut contents, name)?;
    }
    store.replace(&contents).map_err(message)?;
    print("The next start replaces what was released by what files give.\n");
    Ok(ExitCode::SUCCESS)
}

/// Parses the path of a document as [`list`] prints it, with or without the first slash.
fn document_path(text: &str) -> Result<Path, Report> {
    let segments = segments(text.strip_prefix('/').unwrap_or(text));
    let invalid = || Report::message(format!("{text}: invalid percent escape in a path"));
    segments.map(Path::new).ok_or_else(invalid)
}

fn release_module(contents: &mut Contents, name: &str) -> Result<(), Report> {
    let hidden_modules = &mut contents.origins.hidden;
    let count = hidden_modules.len();
    // the client's policy may be named by its id, and the file's by its absolute path
    let is_named = |other: &str| policy_id(other) == policy_id(name);
    hidden_modules.retain(|hidden_module| !is_named(&hidden_module.name));
    let mut is_known = hidden_modules.len() < count;
    for module in &mut contents.modules {
        if is_named(&module.name) && module.origin != Origin::Files {
            module.origin = Origin::Files;
            is_known = true;
        }
    }
    if is_known {
        return Ok(());
    }
    let text = format!("{name}: no client has written this policy; see `solon data origins`");
    Err(Report::message(text))
}

/// Returns the name of a policy's origin in an export, or `None` if it is unknown.
pub fn origin_name(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Files => Some("files"),
        Origin::Client => Some("client"),
        _ => None,
    }
}

/// Parses the origin in an export. Returns `None` for an unknown text.
pub fn origin_of(name: Option<&str>) -> Option<Origin> {
    match name {
        None => Some(Origin::Unknown),
        Some("files") => Some(Origin::Files),
        Some("client") => Some(Origin::Client),
        Some(_) => None,
    }
}

/// Form of [`StoredOrigins`] in an export.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Exported {
    documents: Vec<ExportedClaim>,
    hidden_modules: Vec<ExportedModule>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ExportedClaim {
    path: Vec<String>,
    kind: ExportedKind,
    made: usize,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum ExportedKind {
    Whole,
    Object,
    Unknown,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ExportedModule {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    sha256: String,
}

impl Exported {
    /// Converts origins for an export. Returns `None` if all are unknown, or if the store is empty.
    pub fn of_contents(contents: &Contents) -> Option<Self> {
        let origins = &contents.origins;
        let is_empty = contents.modules.is_empty() && *origins == StoredOrigins::default() && {
            let documents = contents.documents.as_object();
            documents.is_some_and(solon::Object::is_empty)
        };
        if is_empty || *origins == StoredOrigins::unknown() {
            return None;
        }
        let claims = origins.claims.iter().map(|(path, claim)| ExportedClaim {
            path: path.to_vec(),
            kind: match claim.kind {
                ClaimKind::Whole => ExportedKind::Whole,
                ClaimKind::Object => ExportedKind::Object,
                _ => ExportedKind::Unknown,
            },
            made: claim.created_depth,
        });
        let hidden_modules = origins.hidden.iter().map(|module| ExportedModule {
            name: module.name.clone(),
            location: module.location.clone(),
            sha256: module
                .digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        });
        Some(Self {
            documents: claims.collect(),
            hidden_modules: hidden_modules.collect(),
        })
    }

    /// Returns the origins of an export, or `None` if a digest is invalid.
    pub fn read(self) -> Option<StoredOrigins> {
        let mut claims = Claims::default();
        for claim in self.documents {
            let kind = match claim.kind {
                ExportedKind::Whole => ClaimKind::Whole,
                ExportedKind::Object => ClaimKind::Object,
                ExportedKind::Unknown => ClaimKind::Unknown,
            };
            claims.insert(claim.path, Claim::new(kind, claim.made));
        }
        let hidden_modules = self.hidden_modules.into_iter().map(|module| {
            let digest = read_digest(&module.sha256)?;
            Some(HiddenModule::new(module.name, module.location, digest))
        });
        Some(StoredOrigins::new(
            claims,
            hidden_modules.collect::<Option<_>>()?,
        ))
    }
}

fn read_digest(text: &str) -> Option<[u8; 32]> {
    let byte = |index: usize| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..32).map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok().filter(|_| text.len() == 64)
}
