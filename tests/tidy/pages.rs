//! What pages must tell.

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
        .map(|name| format!("docs/performance.md does not tell of {name}"))
        .collect();
    assert!(list.contains("IndexRules"), "no optimisation was read");
    crate::report("pages", &findings);
}
