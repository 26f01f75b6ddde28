//! Details of a failed test: the expression, the values of its variables, and the differences between the sides of an equality.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

use solon::bundle::Loaded;
use solon::testing::{Cases, PolicyTest, TestOptions, TestResult, Verdict};
use solon::trace::FailedExpression;
use solon_syntax::ast::{Term, TermKind};

use super::args::{Args, Format, When};
use super::load;

/// Maximum number of listed differences.
const MOST: usize = 20;

/// Details of a failed test or of one of its cases.
pub struct Detail {
    /// Names of the case; empty for the test itself.
    pub case: Vec<String>,
    pub expression: FailedExpression,
}

/// Finds the details of failed tests. For this, the tests are compiled again after the first failure. The sides of equalities then
/// have names, which the plain report must not contain.
pub struct Explainer<'a> {
    args: &'a Args,
    loaded: &'a Loaded,
    is_on: bool,
    named: OnceLock<Vec<PolicyTest>>,
}

impl<'a> Explainer<'a> {
    /// Creates an explainer, which does nothing unless the flags select details.
    pub fn new(args: &'a Args, loaded: &'a Loaded) -> Self {
        let is_on = match (args.format, args.failure_report) {
            (_, When::Never) => false,
            (_, When::Always) | (Format::Junit | Format::Github, When::Auto) => true,
            (Format::Pretty, When::Auto) => {
                !args.is_verbose() && !args.var_values && std::io::stdout().is_terminal()
            }
            (Format::Json | Format::Gobench, When::Auto) => false,
        };
        Self {
            args,
            loaded,
            is_on,
            named: OnceLock::new(),
        }
    }

    /// Runs a failed test again and returns its details. Returns none if it passed.
    pub fn explain(&self, test: &PolicyTest, result: &TestResult) -> Vec<Detail> {
        if !self.is_on || !matches!(result.verdict, Verdict::Fail) {
            return Vec::new();
        }
        let named_tests = self.named.get_or_init(|| {
            let engine = load::compile(self.args, self.loaded, true);
            engine.map_or_else(|_| Vec::new(), |engine| engine.tests())
        });
        let mut candidates = named_tests.iter();
        let same_test =
            candidates.find(|other| other.path() == test.path() && other.file == test.file);
        let Some(same_test) = same_test else {
            return Vec::new();
        };
        let timeout = self.args.options().timeout;
        let options = TestOptions::default().failures(true).timeout(timeout);
        let result_of_rerun = same_test.run(&options);
        let mut details = Vec::new();
        collect(&result_of_rerun.cases, &mut Vec::new(), &mut details);
        if result_of_rerun.cases.is_empty()
            && let Some(expression) = result_of_rerun.failure
        {
            details.push(Detail {
                case: Vec::new(),
                expression,
            });
        }
        details
    }
}

fn collect(cases: &Cases, case_path: &mut Vec<String>, details: &mut Vec<Detail>) {
    for case in cases.values().filter(|case| case.failed) {
        case_path.push(case.name.clone());
        if let (true, Some(expression)) = (case.cases.is_empty(), &case.failure) {
            details.push(Detail {
                case: case_path.clone(),
                expression: expression.clone(),
            });
        }
        collect(&case.cases, case_path, details);
        case_path.pop();
    }
}

impl Detail {
    /// Returns the details as several lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.case.is_empty() {
            let _ = writeln!(text, "{}:", self.case.join("/"));
        }
        let expression = &self.expression;
        let _ = writeln!(text, "{}:{}:", expression.file, expression.row);
        for line in expression.rendered(true).lines() {
            let _ = writeln!(text, "  {line}");
        }
        let differences = self.differences();
        if !differences.is_empty() {
            text.push_str("difference:\n");
        }
        for line in differences {
            let _ = writeln!(text, "  {line}");
        }
        text
    }

    /// Returns the differences between the sides of the failed equality.
    fn differences(&self) -> Vec<String> {
        let Some((left, right)) = &self.expression.sides else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        compare(left, right, "", &mut lines);
        if lines.len() > MOST {
            let omitted = lines.len() - MOST;
            lines.truncate(MOST);
            lines.push(format!("and {omitted} more"));
        }
        lines
    }
}

/// Adds a line for each path at which two values differ.
fn compare(left: &Term, right: &Term, path: &str, lines: &mut Vec<String>) {
    if left == right {
        return;
    }
    let path_prefix = |path: &str| match path {
        "" => String::new(),
        path => format!("at {path}: "),
    };
    let mut add_line = |path: &str, side: &str, value: &Term| {
        lines.push(format!("{}only on the {side}: {value}", path_prefix(path)));
    };
    match (&left.kind, &right.kind) {
        (TermKind::Object(left), TermKind::Object(right)) => {
            for (key, value) in left {
                let path = format!("{path}[{key}]");
                match right.iter().find(|(other, _)| other == key) {
                    Some((_, other)) => compare(value, other, &path, lines),
                    None => lines.push(format!("{}only on the left: {value}", path_prefix(&path))),
                }
            }
            for (key, value) in right {
                if !left.iter().any(|(other, _)| other == key) {
                    let path = format!("{path}[{key}]");
                    lines.push(format!("{}only on the right: {value}", path_prefix(&path)));
                }
            }
        }
        (TermKind::Array(left), TermKind::Array(right)) => {
            for (index, (value, other)) in left.iter().zip(right.iter()).enumerate() {
                compare(value, other, &format!("{path}[{index}]"), lines);
            }
            let shared = left.len().min(right.len());
            for (side, items) in [("left", left), ("right", right)] {
                for (index, value) in items.iter().enumerate().skip(shared) {
                    lines.push(format!(
                        "{}only on the {side}: {value}",
                        path_prefix(&format!("{path}[{index}]"))
                    ));
                }
            }
        }
        (TermKind::Set(left), TermKind::Set(right)) => {
            for value in left
                .iter()
                .filter(|value| !right.iter().any(|other| other == *value))
            {
                add_line(path, "left", value);
            }
            for value in right
                .iter()
                .filter(|value| !left.iter().any(|other| other == *value))
            {
                add_line(path, "right", value);
            }
        }
        _ => lines.push(format!("{}left {left}, right {right}", path_prefix(path))),
    }
}
