//! Mapping between policy ids and the names of engine modules.
//!
//! The ids `abs` and `/abs` are different policies, and a file that was loaded from the path `/abs` has the id `abs`. The engine's
//! module for the id `/abs` is therefore named `//abs`.

use solon::Snapshot;

/// Returns the name of the engine's module with a policy id, which need not exist. Invariant: the module's [`policy_id`] is the id.
pub fn module_name(now: &Snapshot, id: &str) -> String {
    let absolute = format!("/{id}");
    let is_there = |name: &str| now.module(name).is_some();
    if id.starts_with('/') || (!is_there(id) && is_there(&absolute)) {
        absolute
    } else {
        id.to_owned()
    }
}

/// Returns the policy id of an engine module. A file that was loaded by an absolute path has that path without the first slash as
/// its id, as in OPA.
pub fn policy_id(module: &str) -> &str {
    module.strip_prefix('/').unwrap_or(module)
}

/// Returns the file name of an engine module in locations and messages. It is the policy id for a module that a client wrote under
/// an id with a leading slash, otherwise the module's name.
pub fn file_name(module: &str) -> &str {
    if module.starts_with("//") {
        policy_id(module)
    } else {
        module
    }
}
