//! Built-in libraries: those of the program, and those of the operator's folder.

use std::path::Path;

use bytes::Bytes;

use super::Budget;
use super::filter::Filter;
use super::folder;
use super::names::escaped;
use super::objects::Objects;
use crate::tree::{Content, Tree};

/// The files of the program's own libraries, in order of their paths.
static EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

/// Returns the files of a library: a folder below `builtins`, or else one of the program's own.
///
/// # Errors
/// The message for the status record, or `None` if the library does not exist.
pub fn read(
    name: &str,
    builtins: Option<&Path>,
    objects: &mut Objects,
    budget: Budget,
) -> Result<Tree, Option<String>> {
    if crate::model::leaves(name).is_some() {
        return Err(Some("not a relative path".to_owned()));
    }
    let path = escaped(name.trim_matches('/'));
    if let Some(builtins) = builtins {
        let everything = Filter::new(&[], &[])?;
        match folder::read(&builtins.join(&path), &everything, objects, budget) {
            Err(None) => {}
            found => return found,
        }
    }
    let below = format!("{path}/");
    let mut tree = Tree::default();
    for (file, bytes) in EMBEDDED {
        if let Some(file) = file.strip_prefix(&below) {
            tree.insert(file, Content::Inline(Bytes::from_static(bytes)));
        }
    }
    if tree.is_empty() { Err(None) } else { Ok(tree) }
}
