//! Costs of a control plane with 1,000 bundles of 20 sources each: the first build, checks without a change, the bundles that a
//! change builds again, and policy servers that wait for new revisions.

mod downloads;
mod fixture;
mod plane;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use downloads::Downloads;
use fixture::{BUNDLES, Fixture, SHARED, SOURCES, bundle, bundles_with};
use plane::{Attempts, Plane};

/// Pause between two requests of metrics, which cost the measured process some milliseconds each.
const PAUSE: Duration = Duration::from_secs(2);

/// Interval between two checks of a bundle.
const INTERVAL: Duration = Duration::from_secs(30);

/// Numbers of the shared sources that change: a folder and a repository.
const CHANGED: [(&str, usize); 2] = [("folder", 7), ("repository", 100)];

/// Upper bounds of the figures.
const FIRST_BUILD_SECONDS: f64 = 120.0;
const CHECK_SECONDS: f64 = 2.0;
const RESIDENT_MEGABYTES: f64 = 300.0;
const WAITING_MEGABYTES: f64 = 100.0;

/// Prints processor time and memory. It takes about six minutes.
///
/// # Errors
/// The control plane does not start, a bundle is not built, or a change builds other bundles than those that contain it.
#[expect(clippy::cast_precision_loss, reason = "counts of attempts, for people")]
pub fn print() -> Result<(), String> {
    let fixture = Fixture::new()?;
    let start = Instant::now();
    let plane = Plane::start(fixture.path())?;
    println!(
        "{BUNDLES} bundles of {SOURCES} sources each, {} sources ({SHARED} shared folders and repositories), SQLite",
        SHARED + BUNDLES
    );
    println!("{:<44} {:>9} {:>9} {:>7}", "figure", "cold", "warm", "bar");
    plane.wait_for_attempts("each bundle is built", PAUSE, |attempts| {
        attempts.len() == BUNDLES
    })?;
    let seconds = start.elapsed().as_secs_f64();
    line("first build of all, s", &[seconds], FIRST_BUILD_SECONDS);
    let processor = plane.processor_seconds();
    println!("{:<44} {processor:>9.2}", "  its processor time, s");
    let resident = [plane.resident()];
    line(
        "  resident memory after it, MB",
        &resident,
        RESIDENT_MEGABYTES,
    );
    println!(
        "{:<44} {:>9.1}",
        "  peak of the resident memory, MB",
        plane.peak()
    );

    let first = check(&plane, 1)?;
    std::thread::sleep(2 * INTERVAL);
    let warm = check(&plane, 2)?;
    line(
        "check of all without a change, s of processor",
        &[first, warm],
        CHECK_SECONDS,
    );
    let warm_resident = plane.resident();
    plane.stop()?;

    let plane = Plane::start(fixture.path())?;
    let checked = plane.wait_for_attempts("each bundle is checked", PAUSE, |attempts| {
        attempts.len() == BUNDLES
    })?;
    let count: u64 = checked.values().sum();
    let processor = plane.processor_seconds() * BUNDLES as f64 / count as f64;
    line(
        "  the same with a start, s of processor",
        &[processor],
        f64::INFINITY,
    );
    let resident = [plane.resident(), warm_resident];
    line(
        "resident memory while nothing changes, MB",
        &resident,
        RESIDENT_MEGABYTES,
    );

    let before = plane.resident();
    let downloads = Downloads::begin(&plane)?;
    // the memory of the first downloads is released soon after them
    std::thread::sleep(Duration::from_secs(10));
    let taken = plane.resident() - before;
    line(
        "memory for 1,000 waiting downloads, MB",
        &[taken],
        WAITING_MEGABYTES,
    );
    if !downloads.updated()?.is_empty() {
        return Err("a download ended before a change".to_owned());
    }
    for (kind, source) in CHANGED {
        change(&plane, &fixture, &downloads, kind, source)?;
    }
    Ok(())
}

/// Returns the processor time of one check of all bundles, as the mean over `rounds` checks.
#[expect(clippy::cast_precision_loss, reason = "counts of attempts, for people")]
fn check(plane: &Plane, rounds: u64) -> Result<f64, String> {
    let total = |attempts: &Attempts| attempts.values().sum::<u64>();
    let (before, processor) = (total(&plane.attempts()?), plane.processor_seconds());
    let enough = before + rounds * BUNDLES as u64;
    let reached = plane.wait_for_attempts("each bundle is checked", PAUSE, |attempts| {
        total(attempts) >= enough
    })?;
    let spent = plane.processor_seconds() - processor;
    Ok(spent * BUNDLES as f64 / (total(&reached) - before) as f64)
}

/// Changes one file of a source, and checks which bundles are built again and which downloads end.
fn change(
    plane: &Plane,
    fixture: &Fixture,
    downloads: &Downloads,
    kind: &str,
    source: usize,
) -> Result<(), String> {
    let expected = bundles_with(source);
    let builds = builds(plane)?;
    let known = downloads.updated()?;
    let before = plane.attempts()?;
    let (start, processor) = (Instant::now(), plane.processor_seconds());
    fixture.change(source, 200)?;
    // an attempt that has begun may have read the files before the change; the one after it has not
    plane.wait_for_attempts("each bundle is checked twice", PAUSE, |attempts| {
        let mut checked = before.iter();
        checked.all(|(name, count)| attempts.get(name).is_some_and(|now| now >= &(count + 2)))
    })?;
    let processor = plane.processor_seconds() - processor;
    let mut rebuilt = BTreeSet::new();
    for (name, count) in self::builds(plane)? {
        match count - builds.get(&name).copied().unwrap_or_default() {
            0 => {}
            1 => drop(rebuilt.insert(name)),
            more => return Err(format!("{name} was built {more} times after one change")),
        }
    }
    let updated = downloads.updated()?;
    let ended = updated
        .iter()
        .filter(|(name, _)| !known.contains_key(*name));
    let ended: BTreeMap<&String, &Instant> = ended.collect();
    let last = ended.values().map(|at| at.duration_since(start)).max();
    println!(
        "a change in a {kind}: {} of {} bundles with it built again, {} others; {} downloads ended, the last after {:.1} s; {processor:.2} s of processor",
        rebuilt.intersection(&expected).count(),
        expected.len(),
        rebuilt.difference(&expected).count(),
        ended.len(),
        last.unwrap_or_default().as_secs_f64(),
    );
    if rebuilt != expected {
        return Err("other bundles were built than those that contain the source".to_owned());
    }
    // a download that ended by an earlier change does not wait any more
    let waiting = expected.iter().filter(|name| !known.contains_key(*name));
    if !ended.keys().copied().eq(waiting) {
        return Err("other downloads ended than those of the bundles that were built".to_owned());
    }
    Ok(())
}

/// Returns the number of builds of each bundle in the history, which does not contain attempts that found nothing changed.
fn builds(plane: &Plane) -> Result<BTreeMap<String, usize>, String> {
    let mut builds = BTreeMap::new();
    for number in 0..BUNDLES {
        let name = bundle(number);
        let text = plane.get(&format!("/v1/bundles/{name}/builds"))?;
        let page: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let list = page.get("result").and_then(serde_json::Value::as_array);
        let list = list.ok_or_else(|| format!("not a list of builds: {text}"))?;
        builds.insert(name, list.len());
    }
    Ok(builds)
}

/// Prints figures, cold ones first, with their upper bound.
fn line(name: &str, figures: &[f64], bar: f64) {
    let shown = |at: usize| {
        let figure = figures.get(at);
        figure.map_or_else(String::new, |figure| format!("{figure:.2}"))
    };
    let verdict = if bar.is_infinite() {
        String::new()
    } else if figures.iter().all(|figure| *figure < bar) {
        format!("{bar:>7.0}  met")
    } else {
        format!("{bar:>7.0}  MISSED")
    };
    println!("{name:<44} {:>9} {:>9} {verdict}", shown(0), shown(1));
}
