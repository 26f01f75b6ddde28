//! Required contents of documentation pages.

#[test]
fn each_optimisation_has_a_line() {
    let text = |path: &str| std::fs::read_to_string(crate::root().join(path)).unwrap_or_default();
    let list = text("engine/src/compile/optimisations.rs");
    let page = text("docs/performance.md");
    let (_, names) = list
        .split_once("optimisations! {")
        .unwrap_or_else(|| panic!("optimisations are no longer listed in one place"));
    let (names, _) = names.split_once("\n}").unwrap_or((names, ""));
    let names = names
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"));
    let findings: Vec<String> = names
        .filter_map(|line| line.strip_suffix(','))
        .filter(|name| !page.contains(&format!("`{name}`")))
        .map(|name| format!("docs/performance.md does not describe {name}"))
        .collect();
    assert!(list.contains("IndexRules"), "no optimisation was read");
    crate::report("pages", &findings);
}

#[test]
fn each_dependency_has_a_line() {
    let text = |path: &str| std::fs::read_to_string(crate::root().join(path)).unwrap_or_default();
    let page = text("docs/dependencies.md");
    let mut findings = Vec::new();
    for crate_ in [
        "engine",
        "engine/syntax",
        "engine/host",
        "engine/tower",
        "engine/benches",
        "ffi",
        "python",
        "server",
        "server/common",
        "server/control",
        "server/outbound",
    ] {
        let manifest = text(&format!("{crate_}/Cargo.toml"));
        let mut depends = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                depends = line.ends_with("dependencies]");
                continue;
            }
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let own = name.is_empty()
                || name.starts_with('#')
                || line.contains("path =")
                || name.starts_with("solon");
            if depends && !own && !page.contains(&format!("`{name}`")) {
                findings.push(format!("docs/dependencies.md does not describe {name}"));
            }
        }
    }
    crate::report("pages", &findings);
}
