//! Comparison of all engines on one workload, and measurement of Solon alone.

use std::time::Duration;

use crate::counts::{self, Counts};
use crate::engines::{Contender, Engine};
use crate::manifest::Workload;
use crate::oracle::{self, Timing};
use crate::table::{self, Figures, Row};
use crate::timing::interleaved;

/// Prints a row for each workload, and the means.
///
/// # Errors
/// Fails if Solon cannot run a workload, or if OPA does not run.
pub fn print(workloads: &[Workload], budget: Duration) -> Result<(), String> {
    let oracle = oracle::binary();
    table::head();
    let mut rows = Vec::new();
    for workload in workloads {
        let timing = match &oracle {
            Some(binary) => Some(oracle::time(binary, workload, 0.4)?),
            None => None,
        };
        let row = compare(workload, timing, budget)?;
        table::row(&row);
        rows.push(row);
    }
    let eval = table::mean(rows.iter().filter_map(|row| row.ratios().0));
    let json = table::mean(rows.iter().filter_map(|row| row.ratios().1));
    println!(
        "geometric mean against the faster of regorus's modes: {eval:.1} parsed, {json:.1} text to text"
    );
    let eval = table::mean(rows.iter().filter_map(|row| row.oracle_ratios().0));
    let json = table::mean(rows.iter().filter_map(|row| row.oracle_ratios().1));
    if eval > 0.0 {
        println!("geometric mean against opa: {eval:.1} parsed, {json:.1} text to text");
    }
    Ok(())
}

fn is_correct(workload: &Workload, contender: &mut dyn Contender) -> bool {
    let answer = contender
        .decide_json()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    workload.expect.is_none() || answer == workload.expect
}

/// Measures Solon alone and prints one JSON line.
///
/// # Errors
/// Returns the error of the engine.
pub fn alone(workload: &Workload, budget: Duration) -> Result<(), String> {
    let contender = &mut *Engine::Solon.load(workload)?;
    let correct = is_correct(workload, contender);
    let (load_ms, prepare_ms) = (contender.load_ms(), contender.prepare_ms());
    let eval_ns = interleaved(&mut [&mut || contender.decide()], budget)
        .first()
        .map(|figure| figure.median);
    let json = &mut || drop(std::hint::black_box(contender.decide_json()));
    let json_ns = interleaved(&mut [json], budget)
        .first()
        .map(|figure| figure.median);
    let counts = counts::count(workload, Engine::Solon).unwrap_or_default();
    let line = serde_json::json!({
        "name": workload.name, "correct": correct, "eval_ns": eval_ns, "json_ns": json_ns,
        "load_ms": load_ms, "prepare_ms": prepare_ms, "allocs": counts.allocs, "peak_mib": counts.peak_mib,
    });
    println!("{line}");
    Ok(())
}

/// Measures all engines on one workload.
fn compare(workload: &Workload, oracle: Option<Timing>, budget: Duration) -> Result<Row, String> {
    let mut contenders: Vec<(usize, Box<dyn Contender>)> = Vec::new();
    for (column, engine) in Engine::ALL.into_iter().enumerate() {
        match engine.load(workload) {
            Ok(contender) => contenders.push((column, contender)),
            Err(message) if engine == Engine::Solon => {
                return Err(format!("{}: {message}", workload.name));
            }
            // the table has an empty cell
            Err(_) => {}
        }
    }
    // a peer that returns a different result is not timed
    contenders
        .retain_mut(|(column, contender)| *column == 0 || is_correct(workload, &mut **contender));
    let (mut correct, mut load_ms, mut prepare_ms) = (false, 0.0, 0.0);
    if let Some((_, own)) = contenders.first_mut() {
        correct = is_correct(workload, &mut **own);
        (load_ms, prepare_ms) = (own.load_ms(), own.prepare_ms());
    }
    let eval = measure(&mut contenders, budget, |contender| contender.decide());
    let json = measure(&mut contenders, budget, |contender| {
        drop(std::hint::black_box(contender.decide_json()));
    });
    let ran = |column: usize| contenders.iter().any(|(known, _)| *known == column);
    let count = |column: usize, engine| {
        let counted = ran(column).then(|| counts::count(workload, engine));
        counted.flatten()
    };
    let own: Counts = count(0, Engine::Solon).unwrap_or_default();
    let peers = [count(1, Engine::Interpreter), count(2, Engine::RegisterVm)];
    let peer_allocs = peers.into_iter().flatten().map(|counts| counts.allocs);
    Ok(Row {
        name: workload.name.clone(),
        correct,
        eval,
        json,
        oracle: oracle.filter(|timing| timing.correct != Some(false)),
        counts: own,
        peer_allocs: peer_allocs.reduce(f64::min).unwrap_or_default(),
        load_ms,
        prepare_ms,
    })
}

fn measure(
    contenders: &mut [(usize, Box<dyn Contender>)],
    budget: Duration,
    call: impl Fn(&mut dyn Contender) + Copy,
) -> Figures {
    let columns: Vec<usize> = contenders.iter().map(|(column, _)| *column).collect();
    let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for (_, contender) in contenders {
        calls.push(Box::new(move || call(&mut **contender)));
    }
    let mut calls: Vec<&mut dyn FnMut()> = calls
        .iter_mut()
        .map(|call| &mut **call as &mut dyn FnMut())
        .collect();
    let mut figures = [None; 4];
    for (column, figure) in columns.into_iter().zip(interleaved(&mut calls, budget)) {
        if let Some(place) = figures.get_mut(column) {
            *place = Some(figure);
        }
    }
    figures
}
