//! Coverage of the record: every kind of plan occurs, and enough programs have informative results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::internal::compile::{
    Compiled, CompiledQuery, Optimisation, Options, Query, compile, compile_query, lower,
};
use solon::internal::program::{
    Callee, Collector, Comparison, Index, ModifierTarget, Plan, Program, RuleKind, RuleSet, Step,
    TextTest, dump, verify,
};
use solon_syntax::ast::Version;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

use crate::compare::{self, Answer};
use crate::engine;

/// Minimum number of programs in which a kind must occur.
const FEWEST: usize = 20;

/// Minimum percentage of programs whose results are defined and depend on input or data.
const TELLING: usize = 40;

/// Kinds that a request of the JSON lines protocol cannot produce: only a host adds functions.
const UNREACHABLE: &[&str] = &["step HostCall", "callee HostFunction"];

/// Counts over the record.
#[derive(Default)]
pub struct Census {
    /// Number of programs in which each kind occurs.
    kinds: BTreeMap<String, usize>,
    programs: usize,
    telling: usize,
}

/// The fields of a request that the census needs.
#[derive(Deserialize)]
struct CensusRequest {
    #[serde(default)]
    modules: BTreeMap<String, String>,
    query: String,
    #[serde(default)]
    v0: bool,
}

impl Census {
    /// Counts a program and its result.
    pub fn add(&mut self, request: &str, answer: &str) -> Result<(), String> {
        self.programs += 1;
        let asked: CensusRequest =
            serde_json::from_str(request).map_err(|error| error.to_string())?;
        if let Ok(found) = CompiledProgram::of_request(&asked) {
            let options = Options::default();
            let with_all = found.dump(&options);
            for kind in found.kinds(&options) {
                *self.kinds.entry(kind).or_default() += 1;
            }
            for optimisation in Optimisation::ALL {
                let count = self.kinds.entry(name_of(*optimisation)).or_default();
                // stop comparing once an optimisation has occurred often enough
                if *count < FEWEST && found.dump(&without(*optimisation)) != with_all {
                    *count += 1;
                }
            }
        }
        let parsed = Answer::parse(answer).map_err(|error| error.to_string())?;
        if parsed.errors.is_empty() && parsed.bindings.is_some() {
            let bare = engine::answer(&without_documents(request)?);
            self.telling += usize::from(compare::difference(answer, &bare).is_some());
        }
        Ok(())
    }

    /// Returns the counts that are too low.
    pub fn shortfalls(&self) -> Vec<String> {
        let rare = all_kinds().filter(|kind| !UNREACHABLE.contains(&kind.as_str()));
        let mut faults: Vec<String> = rare
            .map(|kind| (self.kinds.get(&kind).copied().unwrap_or(0), kind))
            .filter(|(count, _)| *count < FEWEST)
            .map(|(count, kind)| format!("{kind} occurs in {count} programs, fewer than {FEWEST}"))
            .collect();
        if self.telling * 100 < self.programs * TELLING {
            faults.push(format!(
                "{} of {} programs depend on input or data, less than {TELLING} %",
                self.telling, self.programs
            ));
        }
        faults
    }
}

fn all_kinds() -> impl Iterator<Item = String> {
    let groups = [
        ("step", Step::KINDS),
        ("comparison", Comparison::KINDS),
        ("collector", Collector::KINDS),
        ("target", ModifierTarget::KINDS),
        ("callee", Callee::KINDS),
        ("rule", RuleKind::KINDS),
        ("index", Index::KINDS),
        ("plan", &["plain"]),
        ("call", &["prepared", "quick"]),
        ("test", &["related", "prepared", "quick"]),
    ];
    let optimisations = Optimisation::ALL.iter().map(|one| name_of(*one));
    groups
        .into_iter()
        .flat_map(|(group, kinds)| kinds.iter().map(move |kind| format!("{group} {kind}")))
        .chain(optimisations)
}

fn name_of(optimisation: Optimisation) -> String {
    format!("optimisation {}", optimisation.name())
}

fn without(optimisation: Optimisation) -> Options {
    Options::default().skipped_passes(vec![optimisation.name().to_owned()])
}

/// A program and its query, compiled except for their plans.
struct CompiledProgram {
    compiled: Compiled,
    query: CompiledQuery,
}

impl CompiledProgram {
    fn of_request(asked: &CensusRequest) -> Result<Self, Diagnostics> {
        let parsing = ParseOptions {
            version: if asked.v0 { Version::V0 } else { Version::V1 },
            ..ParseOptions::default()
        };
        let options = Options::default();
        let sources = asked.modules.iter().zip(1..);
        let modules: Result<Vec<_>, _> = sources
            .map(|((name, text), id)| {
                let source = Source::new(SourceId(id), name.as_str(), text.as_str());
                parse_module(&source, &parsing)
            })
            .collect();
        let compiled = compile(modules?, &options, None, |_, _| {})?;
        let source = Source::new(SourceId(0), "", asked.query.as_str());
        let body = parse_body(&source, &parsing)?;
        let query = compile_query(&compiled, Query::new(source, body), &options, |_, _| {})?;
        Ok(Self { compiled, query })
    }

    fn plans(&self, options: &Options) -> (Program, Plan) {
        let program = lower::program(&self.compiled.modules, Vec::new(), options);
        let (body, originals) = (&self.query.body, &self.query.originals);
        let query = lower::query(&program, body, originals, options);
        verify::program(&program).expect("valid plans");
        verify::query(&program, &query.plan, query.constants.len()).expect("a valid plan");
        (program, query.plan)
    }

    /// Returns the kinds in both.
    fn kinds(&self, options: &Options) -> BTreeSet<String> {
        let (program, query) = self.plans(options);
        kinds_of(&program, &query)
    }

    /// Returns both as text.
    fn dump(&self, options: &Options) -> String {
        let (mut program, query) = self.plans(options);
        program.rules.push(Arc::new(RuleSet {
            default: Some(query),
            ..RuleSet::default()
        }));
        dump::program(&program)
    }
}

fn kinds_of(program: &Program, query: &Plan) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    let mut see = |group: &str, kind: &str| {
        kinds.insert(format!("{group} {kind}"));
    };
    for set in &program.rules {
        see("rule", set.kind.kind());
        see("index", set.index.kind());
    }
    let plans = program.rules.iter().flat_map(|set| set.plans());
    for plan in plans.chain([query]) {
        // decided by the fast path
        if plan.is_plain() && !plan.steps.is_empty() {
            see("plan", "plain");
        }
        plan.visit(&mut |step| {
            see("step", step.kind());
            match step {
                Step::Compare(comparison, _, _) => see("comparison", comparison.kind()),
                Step::Call { call, .. } => {
                    if call.prepared.is_some() {
                        see("call", "prepared");
                    }
                    if call.intrinsic.is_some() {
                        see("call", "quick");
                    }
                }
                Step::Test(test, _) => see(
                    "test",
                    match test {
                        TextTest::Related(_) => "related",
                        TextTest::Prepared => "prepared",
                        TextTest::Intrinsic => "quick",
                    },
                ),
                Step::Collect { into, .. } => see("collector", into.kind()),
                Step::With(with) => {
                    for modifier in &with.modifiers {
                        see("target", modifier.kind());
                        if let ModifierTarget::ByRule(callee, _)
                        | ModifierTarget::ByBuiltin(callee, _)
                        | ModifierTarget::ByValue(callee, _) = modifier
                        {
                            see("callee", callee.kind());
                        }
                    }
                }
                _ => {}
            }
        });
    }
    kinds
}

/// Returns the request without input and data.
fn without_documents(request: &str) -> Result<String, String> {
    let mut fields: BTreeMap<&str, &RawValue> =
        serde_json::from_str(request).map_err(|error| error.to_string())?;
    fields.remove("data");
    fields.remove("input");
    serde_json::to_string(&fields).map_err(|error| error.to_string())
}
