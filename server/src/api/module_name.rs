//! Policy ids and file names of the engine's modules.
//!
//! Ids `abs` and `/abs` are two policies, and a file that was loaded from the path `/abs` has the id `abs`. The engine's module of the
//! id `/abs` is therefore called `//abs`.

/// Policy id of an engine module. A file that was loaded by an absolute path has its path without the first slash as its
/// id, as in OPA.
pub fn policy_id(module: &str) -> &str {
    module.strip_prefix('/').unwrap_or(module)
}

/// File name of an engine module in locations and messages: the policy id of a module that a client put under an id with a leading
/// slash, and the module's own name otherwise.
pub fn file_name(module: &str) -> &str {
    if module.starts_with("//") {
        policy_id(module)
    } else {
        module
    }
}
