//! Loading of documents: time and memory compared with serde_json, and one change in an object with a million keys.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use solon::internal::value::json;
use solon::{Engine, Request, Value};

use crate::counts;
use crate::generate::{documents, requests};
use crate::timing::{interleaved, median};

/// Builds a document with the given number of parts.
type Make = fn(usize) -> String;

/// Kinds of documents, and the number of parts per megabyte.
const SHAPES: [(&str, Make, usize); 4] = [
    ("users", documents::users, 3_600),
    ("items", documents::items, 11_200),
    ("graph", documents::graph, 19_500),
    ("review", requests::admission, 740),
];

/// Compared parsers.
const READERS: [&str; 2] = ["solon", "serde_json"];

/// Prints how long documents of `megabytes` take to load.
///
/// # Errors
/// Fails if a child process fails.
pub fn print(megabytes: usize, budget: Duration) -> Result<(), String> {
    println!(
        "{:<10} {:>8} {:>9} {:>9} {:>11} {:>7} {:>12} {:>12} {:>9}",
        "document",
        "MB",
        "solon ms",
        "MB/s",
        "serde_json",
        "x",
        "memory/text",
        "serde_json",
        "peak/text"
    );
    for (shape, make, parts) in SHAPES {
        let text = make(parts * megabytes);
        let size = mega(text.len());
        let calls: &mut [&mut dyn FnMut()] =
            &mut [&mut || drop(json::read(text.as_bytes())), &mut || {
                drop(serde_json::from_str::<serde_json::Value>(&text));
            }];
        let times: Vec<f64> = interleaved(calls, budget)
            .iter()
            .map(|figure| figure.median / 1e6)
            .collect();
        let [own, other] = times.as_slice() else {
            continue;
        };
        let file = std::env::temp_dir().join(format!("solon-bench-{}.json", std::process::id()));
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let [own_memory, other_memory] = READERS.map(|reader| resident(&file, reader));
        let _ = std::fs::remove_file(&file);
        let unknown = || format!("{shape} was not read in a process of its own");
        let (now, peak) = own_memory.ok_or_else(unknown)?;
        let (other_now, _) = other_memory.ok_or_else(unknown)?;
        println!(
            "{shape:<10} {size:>8.1} {own:>9.1} {:>9.0} {other:>11.1} {:>7.2} {:>12.2} {:>12.2} {:>9.2}",
            size / own * 1e3,
            other / own,
            now / size,
            other_now / size,
            peak / size
        );
    }
    change(1_000_000);
    Ok(())
}

fn mega(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}

/// Returns the megabytes that a file takes in a separate process: after it is read, and at the peak.
fn resident(file: &Path, reader: &str) -> Option<(f64, f64)> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program)
        .arg("--resident")
        .args([file.to_str()?, reader])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (now, peak) = text.trim().split_once(' ')?;
    Some((now.parse().ok()?, peak.parse().ok()?))
}

/// Prints by how many megabytes reading a file grows this process, for [`resident`]. The text itself is in memory before and after.
pub fn print_resident(file: &str, reader: &str) {
    let Ok(text) = std::fs::read(file) else {
        return;
    };
    let mib = 1.048_576;
    let before = counts::resident_mib() * mib;
    let (now, peak) = match reader {
        "solon" => {
            let value = json::read(&text);
            settle();
            let figures = (counts::resident_mib() * mib, counts::peak_mib() * mib);
            std::hint::black_box(&value);
            figures
        }
        _ => {
            let value = serde_json::from_slice::<serde_json::Value>(&text);
            settle();
            let figures = (counts::resident_mib() * mib, counts::peak_mib() * mib);
            std::hint::black_box(&value);
            figures
        }
    };
    println!("{} {}", now - before, peak - before);
}

/// Waits, so that the allocator returns free memory to the system.
fn settle() {
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(10));
        drop(std::hint::black_box(vec![0_u8; 1 << 16]));
    }
}

/// Prints the cost of one change in an object with `keys` keys, and how such changes slow down readers.
fn change(keys: usize) {
    let pairs = (0..keys).map(|key| {
        let key = format!("key-{key:07}");
        (
            Value::string(&key),
            Value::object(vec![("on".into(), true.into())]),
        )
    });
    let engine = Engine::new();
    let made = engine
        .put("data.large", Value::object(pairs.collect()))
        .and_then(|()| {
            engine.set_module("p.rego", "package p\n\nok if data.large[input.key].on\n")?;
            engine.prepare_document("data.p.ok")
        });
    let Ok(document) = made else {
        return;
    };
    let mut at = 0;
    let mut one = || {
        at = (at + 7_919) % keys;
        let start = Instant::now();
        let _ = engine.put(&format!("data.large[\"key-{at:07}\"].on"), true.into());
        start.elapsed().as_secs_f64() * 1e6
    };
    let changes: Vec<f64> = (0..500).map(|_| one()).collect();
    let slowest = changes.iter().copied().fold(0.0, f64::max);
    println!(
        "one change in an object of {keys} keys: {:.1} µs, at most {slowest:.1} µs",
        median(changes)
    );

    let input = Value::object(vec![("key".into(), "key-0500000".into())]);
    let request = Request::new().input(&input);
    let round = |changes: bool| {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let writer = || {
                for turn in 0_usize.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    if changes {
                        let key = (turn * 7_919) % keys;
                        let _ =
                            engine.put(&format!("data.large[\"key-{key:07}\"].on"), true.into());
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            };
            scope.spawn(writer);
            let start = Instant::now();
            let mut decisions = 0_u32;
            while start.elapsed() < Duration::from_millis(100) {
                for _ in 0..64 {
                    drop(std::hint::black_box(document.evaluate(&request)));
                }
                decisions += 64;
            }
            let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(decisions);
            stop.store(true, Ordering::Relaxed);
            each
        })
    };
    let (mut calm, mut changing) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        calm.push(round(false));
        changing.push(round(true));
    }
    let (calm, changing) = (median(calm), median(changing));
    println!(
        "a reader: {calm:.1} ns a decision alone, {changing:.1} ns during 100 changes a second ({:+.1} %)",
        100.0 * (changing / calm - 1.0)
    );
}
