//! `random SECONDS [SEED]`: calls of built-ins from random bytes, without a fuzzer and its compiler.
//!
//! It finds less than a coverage-guided fuzzer, but runs with any compiler. A failure is printed with the seed of its
//! bytes: `random 0 SEED` repeats it.

use std::time::{Duration, Instant};

use solon_fuzz::one_call;

/// Bytes for one call.
const LENGTH: usize = 400;

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let (Some(Ok(seconds)), seed) = (args.next(), args.next()) else {
        eprintln!("random SECONDS [SEED]");
        std::process::exit(2);
    };
    let first = seed.and_then(Result::ok).unwrap_or(1);
    let (start, length) = (Instant::now(), Duration::from_secs(seconds));
    let mut seed = first;
    loop {
        let bytes = bytes(seed);
        if let Err(panic) = std::panic::catch_unwind(|| one_call::check(&bytes)) {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
        seed += 1;
        if start.elapsed() >= length {
            break;
        }
    }
    println!("{} calls in {:.1?}", seed - first, start.elapsed());
}

/// Returns random bytes (SplitMix64).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    };
    (0..LENGTH / 8).flat_map(|_| word()).collect()
}
