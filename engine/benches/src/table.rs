//! The table of results.

use crate::counts::Counts;
use crate::oracle::Timing;
use crate::timing::Figure;

/// A row.
pub struct Row {
    /// Workload name.
    pub name: String,
    /// `true` if Solon's result is the expected one.
    pub correct: bool,
    /// Figures of [`Engine::ALL`](crate::engines::Engine::ALL) with parsed input; `None` for an engine that cannot run the
    /// workload.
    pub eval: Figures,
    /// Figures from input text to result text.
    pub json: Figures,
    /// Timings of OPA.
    pub oracle: Option<Timing>,
    /// Allocation counts of Solon.
    pub counts: Counts,
    /// Allocations of the faster regorus mode.
    pub peer_allocs: f64,
    /// Time to load the documents, in milliseconds.
    pub load_ms: f64,
    /// Time to compile and prepare, in milliseconds.
    pub prepare_ms: f64,
}

/// Figures of all engines.
pub type Figures = [Option<Figure>; 4];

impl Row {
    /// Returns the speedup over the faster of regorus's modes: with parsed input, and from text to text.
    pub fn ratios(&self) -> (Option<f64>, Option<f64>) {
        (ratio(&self.eval), ratio(&self.json))
    }

    /// Returns the slowdown relative to handwritten Rust.
    pub fn limit(&self) -> Option<f64> {
        let [own, .., written] = self.eval;
        Some(own?.median / written?.median)
    }

    /// Returns the speedup over OPA.
    pub fn oracle_ratios(&self) -> (Option<f64>, Option<f64>) {
        let of = |own: Option<Figure>, other: f64| own.map(|own| other / own.median);
        let Some(oracle) = self.oracle else {
            return (None, None);
        };
        let [eval, ..] = self.eval;
        let [json, ..] = self.json;
        (
            of(eval, oracle.eval_ns),
            oracle.json_ns.and_then(|other| of(json, other)),
        )
    }
}

fn ratio(figures: &Figures) -> Option<f64> {
    let [own, interpreter, vm, _] = figures;
    let best = [interpreter, vm]
        .into_iter()
        .flatten()
        .map(|figure| figure.median)
        .reduce(f64::min)?;
    Some(best / own.as_ref()?.median)
}

/// Prints the table header.
pub fn head() {
    println!(
        "{:<18} {:>11} {:>9} {:>11} {:>11} {:>11} {:>7} {:>7} {:>11} {:>11} {:>7} {:>7} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "workload",
        "solon ns",
        "± ns",
        "regorus",
        "regorus-vm",
        "opa",
        "x reg",
        "x opa",
        "json ns",
        "reg json",
        "x reg",
        "x opa",
        "allocs",
        "reg all",
        "peak MiB",
        "load ms",
        "prep ms",
        "rust ns",
        "x rust"
    );
}

/// Prints a row.
pub fn row(row: &Row) {
    let number = |figure: Option<Figure>| {
        figure.map_or_else(|| "-".to_owned(), |figure| format!("{:.1}", figure.median))
    };
    let times =
        |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}"));
    let [own, interpreter, vm, written] = row.eval;
    let [own_json, interpreter_json, vm_json, _] = row.json;
    let peer_json = [interpreter_json, vm_json]
        .into_iter()
        .flatten()
        .min_by(|a, b| a.median.total_cmp(&b.median));
    let (eval, json) = row.ratios();
    let (eval_opa, json_opa) = row.oracle_ratios();
    println!(
        "{:<18} {:>11} {:>9} {:>11} {:>11} {:>11} {:>7} {:>7} {:>11} {:>11} {:>7} {:>7} {:>8.1} {:>8.1} {:>9.1} {:>9.2} {:>9.2} {:>9} {:>7}{}",
        row.name,
        number(own),
        own.map_or_else(String::new, |own| format!("{:.1}", own.spread)),
        number(interpreter),
        number(vm),
        row.oracle
            .map_or_else(|| "-".to_owned(), |oracle| format!("{:.0}", oracle.eval_ns)),
        times(eval),
        times(eval_opa),
        number(own_json),
        number(peer_json),
        times(json),
        times(json_opa),
        row.counts.allocs,
        row.peer_allocs,
        row.counts.peak_mib,
        row.load_ms,
        row.prepare_ms,
        number(written),
        times(row.limit()),
        if row.correct { "" } else { "  WRONG" },
    );
}

/// Returns the geometric mean.
pub fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0.0), |(sum, count), ratio| {
        (sum + ratio.ln(), count + 1.0)
    });
    if count == 0.0 {
        0.0
    } else {
        (sum / count).exp()
    }
}
