//! Test results as annotations of GitHub Actions.

use solon::testing::Verdict;

use super::{OutcomeCounts, TestReport, error_text};

/// Writes an annotation for each test that did not pass, then the counts.
#[derive(Default)]
pub struct Github {
    counts: OutcomeCounts,
}

impl Github {
    /// Adds a result. Returns its annotations.
    pub fn add(&mut self, item: &TestReport<'_>) -> String {
        self.counts.add(&item.result);
        let test = item.test;
        let title = format!("{}.{}", test.package, test.name);
        match &item.result.verdict {
            Verdict::Pass => String::new(),
            Verdict::Skip => annotation("notice", (&test.file, test.row), &title, "skipped"),
            Verdict::Error(error) => {
                annotation("error", (&test.file, test.row), &title, &error_text(error))
            }
            Verdict::Fail if item.details.is_empty() => {
                let message = "the test is not true";
                annotation("error", (&test.file, test.row), &title, message)
            }
            Verdict::Fail => {
                let details = item.details.iter().map(|detail| {
                    let expression = &detail.expression;
                    annotation(
                        "error",
                        (&expression.file, expression.row),
                        &title,
                        &detail.text(),
                    )
                });
                details.collect()
            }
        }
    }

    /// Returns the counts.
    pub fn finish(self) -> String {
        self.counts.lines()
    }
}

/// Returns a workflow command.
fn annotation(kind: &str, (file, row): (&str, u32), title: &str, message: &str) -> String {
    let data = |text: &str| {
        let text = text.replace('%', "%25");
        text.replace('\r', "%0D").replace('\n', "%0A")
    };
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let (file, title) = (property(file), property(title));
    let message = data(message.trim_end());
    format!("::{kind} file={file},line={row},title={title}::{message}\n")
}
