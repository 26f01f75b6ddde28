//! Regular expressions, with the crate `regex`.

use std::sync::OnceLock;

use regex::{NoExpand, Regex};

use super::{Prepare, number, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("regex_find", || {
        let pattern = Regex::new("[0-9a-f]{8}|[0-9]+ms").ok()?;
        Some(Box::new(move |data, _| {
            let found = texts(data, "lines").map(|line| {
                let found: Vec<&str> = pattern
                    .find_iter(line)
                    .map(|found| found.as_str())
                    .collect();
                found.len()
            });
            number(found.sum())
        }))
    }),
    ("regex_groups", || {
        let pattern = Regex::new(r"(\w+)@(\w+)\.com").ok()?;
        Some(Box::new(move |data, _| {
            let found = texts(data, "lines").map(|line| {
                let found = pattern.captures_iter(line).take(1);
                let groups = found.map(|groups| {
                    let texts = groups.iter().flatten().map(|group| group.as_str());
                    texts.collect()
                });
                groups.collect::<Vec<Vec<&str>>>().len()
            });
            number(found.sum())
        }))
    }),
    ("regex_replace", || {
        let pattern = Regex::new(r"(\w+)@(\w+)\.com").ok()?;
        Some(Box::new(move |data, _| {
            let lengths = texts(data, "lines")
                .map(|line| pattern.replace_all(line, "$2: $1").chars().count());
            number(lengths.sum())
        }))
    }),
    ("scrub", || {
        let mail = Regex::new(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}").ok()?;
        let card = Regex::new(r"(?-u:\b)(?:[0-9]{4}[ -]?){3}[0-9]{4}(?-u:\b)").ok()?;
        let secret = Regex::new(r"(?i)(password|token|secret)=[^\t\n\f\r ]+").ok()?;
        let address = Regex::new(r"(?-u:\b)[0-9]{1,3}(\.[0-9]{1,3}){3}(?-u:\b)").ok()?;
        Some(Box::new(move |data, _| {
            let lengths = texts(data, "lines").map(|line| {
                let line = mail.replace_all(line, NoExpand("<mail>"));
                let line = card.replace_all(&line, NoExpand("<card>"));
                let line = secret.replace_all(&line, "$1=<hidden>");
                let line = address.replace_all(&line, NoExpand("<address>"));
                line.chars().count()
            });
            number(lengths.sum())
        }))
    }),
    ("scrub_data", || {
        let kept = OnceLock::new();
        Some(Box::new(move |data, _| {
            let compile = || texts(data, "patterns").map(Regex::new).collect();
            let patterns: &Result<Vec<Regex>, _> = kept.get_or_init(compile);
            let patterns = patterns.as_ref().ok()?;
            let tainted = texts(data, "lines").map(|line| {
                let found = patterns.iter().filter(|pattern| pattern.is_match(line));
                found.count()
            });
            number(tainted.sum())
        }))
    }),
];
