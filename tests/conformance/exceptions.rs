//! Cases that may fail, each with a reason.

/// A case that may fail.
pub struct Exception {
    pub note: String,
}

/// Reads the list; every line is a note, a tab and a reason.
pub fn read() -> Vec<Exception> {
    include_str!("exceptions.tsv")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (note, reason) = line
                .split_once('\t')
                .expect("an exception has a note and a reason");
            assert!(
                !reason.trim().is_empty(),
                "the exception {note} has no reason"
            );
            Exception {
                note: note.to_owned(),
            }
        })
        .collect()
}
