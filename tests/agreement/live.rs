//! New programs against a running oracle, with a report of each difference.

use crate::compare::{self, Answer};
use crate::generate::{self, Request, Theme};
use crate::report::Report;
use crate::{Outcome, engine, expected_differences, traces};
use solon_lines::Process;

/// Compares the engine with the oracle on `count` programs drawn from `seed`.
pub fn run(oracle: &str, seed: u64, count: u64, filter: &str) -> Result<Outcome, String> {
    let mut oracle = Process::new(oracle);
    let mut outcome = Outcome::default();
    let mut report = Report::new(&format!("agreement-{seed}.txt"))?;
    let themes: Vec<Theme> = Theme::ALL
        .into_iter()
        .filter(|theme| theme.name().contains(filter))
        .collect();
    for number in 0..count {
        let per_theme = themes.len().max(1) as u64;
        let Some(&theme) = themes.get(usize::try_from(number % per_theme).unwrap_or(0)) else {
            break;
        };
        let index = number / per_theme;
        let request = generate::program(seed, theme, index);
        let Some((expected, actual)) = both(&mut oracle, &request) else {
            continue;
        };
        let difference = compare::difference(&expected, &actual);
        let line = request.json();
        let difference = difference.or_else(|| engine::disagreement(&line, &actual, &expected));
        let Some(difference) = difference.or_else(|| traces::difference(&mut oracle, &line)) else {
            outcome.passed += 1;
            continue;
        };
        // a result of the oracle that varies is not a difference
        let steady = (0..3).all(|_| {
            oracle
                .request(&request.json())
                .is_ok_and(|again| compare::difference(&expected, &again).is_none())
        });
        if !steady {
            continue;
        }
        let reduced = reduce(&mut oracle, request.clone(), difference);
        if expected_differences::is_expected(&reduced, difference, &expected, &actual) {
            continue;
        }
        outcome.failed += 1;
        if let Some((expected, actual)) = both(&mut oracle, &reduced) {
            let name = format!("{}/{index} of seed {seed}", theme.name());
            report.add(
                &name,
                difference,
                &reduced,
                &expected,
                &actual,
                &request.json(),
            )?;
        }
    }
    outcome.report = report.path();
    Ok(outcome)
}

/// Returns the results of oracle and engine; `None` if one of them has none.
fn both(oracle: &mut Process, request: &Request) -> Option<(String, String)> {
    let line = request.json();
    let expected = oracle.request(&line).ok()?;
    Some((expected, engine::answer(&line)))
}

/// Removes rules, lines and documents as long as the results still differ in the same respect.
fn reduce(oracle: &mut Process, mut request: Request, difference: &str) -> Request {
    let broken = |answer: &str| {
        Answer::parse(answer).is_ok_and(|answer| answer.has_error("rego_parse_error"))
    };
    let was_broken = oracle
        .request(&request.json())
        .is_ok_and(|answer| broken(&answer));
    let mut differs = |candidate: &Request| {
        let Some((expected, actual)) = both(oracle, candidate) else {
            return false;
        };
        if broken(&expected) != was_broken {
            return false;
        }
        let found = compare::difference(&expected, &actual);
        if difference == "traces" && found.is_none() {
            return traces::difference(oracle, &candidate.json()).is_some();
        }
        found == Some(difference)
    };
    loop {
        let smaller = request
            .smaller()
            .into_iter()
            .find(|candidate| differs(candidate));
        match smaller {
            Some(smaller) => request = smaller,
            None => return request,
        }
    }
}
