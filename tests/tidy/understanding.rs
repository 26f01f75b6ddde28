//! The tasks of `tests/understanding`, for readers who find code by file names, name files that exist.

use std::collections::BTreeSet;

/// Number of tasks.
const TASKS: usize = 50;

#[test]
fn tasks_name_existing_files() {
    let root = crate::root();
    let text = std::fs::read_to_string(root.join("tests/understanding/tasks.tsv")).unwrap();
    let mut findings = Vec::new();
    let mut files = BTreeSet::new();
    let tasks: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for task in &tasks {
        let Some((_, file)) = task.split_once('\t') else {
            findings.push(format!("no tab: {task}"));
            continue;
        };
        if !root.join(file).is_file() {
            findings.push(format!("no file: {task}"));
        }
        if !files.insert(file) {
            findings.push(format!("again: {task}"));
        }
    }
    crate::report("tasks", &findings);
    assert_eq!(tasks.len(), TASKS);
}
