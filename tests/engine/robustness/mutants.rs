//! Tokens, keys and certificates with random mutations, and very long ones.

use std::fs;
use std::path::Path;

use solon::internal::value::json;
use solon::{Engine, Request};

use super::on_small_stack;

/// Number of mutations of recorded calls.
const MUTANTS: usize = 6_000;

/// The functions with their numbers of operands. Recorded calls supply the operands.
const FUNCTIONS: &[(&str, usize)] = &[
    ("io.jwt.decode", 1),
    ("io.jwt.decode_verify", 2),
    ("io.jwt.encode_sign", 3),
    ("io.jwt.encode_sign_raw", 3),
    ("io.jwt.verify_hs256", 2),
    ("io.jwt.verify_rs256", 2),
    ("io.jwt.verify_ps256", 2),
    ("io.jwt.verify_es256", 2),
    ("io.jwt.verify_es512", 2),
    ("io.jwt.verify_eddsa", 2),
    ("crypto.parse_private_keys", 1),
    ("crypto.x509.parse_and_verify_certificates", 1),
    ("crypto.x509.parse_and_verify_certificates_with_options", 2),
    ("crypto.x509.parse_certificate_request", 1),
    ("crypto.x509.parse_certificates", 1),
    ("crypto.x509.parse_keypair", 2),
    ("crypto.x509.parse_rsa_private_key", 1),
    ("providers.aws.sign_req", 3),
];

/// A generator of pseudo-random numbers with a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn less_than(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end.max(1)
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.less_than(items.len())]
    }
}

/// Returns an engine with a rule for each function, named by its position.
fn engine() -> Engine {
    let rules: String = FUNCTIONS
        .iter()
        .enumerate()
        .map(|(at, (name, operands))| {
            let operands: Vec<String> = (0..*operands).map(|at| format!("input[{at}]")).collect();
            format!("\nf{at} := {name}({})\n", operands.join(", "))
        })
        .collect();
    let engine = Engine::new();
    engine
        .set_module("t.rego", &format!("package t\n{rules}"))
        .unwrap();
    engine
}

/// Returns the operands of recorded calls of tested functions, by the functions' positions.
fn seeds() -> Vec<(usize, Vec<serde_json::Value>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/builtins");
    let mut seeds = Vec::new();
    for family in ["aws", "chains", "crypto", "jwt"] {
        let text = fs::read_to_string(folder.join(format!("{family}.json"))).unwrap();
        let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        for case in &cases {
            let call = case["call"].as_str().unwrap();
            let Some((name, rest)) = call.split_once('(') else {
                continue;
            };
            let Some(function) = FUNCTIONS.iter().position(|(own, _)| *own == name) else {
                continue;
            };
            let operands = rest.rsplit_once(')').map_or(rest, |(inside, _)| inside);
            // calls with sets and the like are not JSON, and there are enough without them
            if let Ok(operands) = serde_json::from_str(&format!("[{operands}]")) {
                seeds.push((function, operands));
            }
        }
    }
    seeds
}

/// Mutates a text.
fn mutate(random: &mut Random, text: &str) -> String {
    const ODD: &[char] = &[
        'A',
        'B',
        'M',
        'I',
        'w',
        '/',
        '+',
        '-',
        '_',
        '=',
        '.',
        '"',
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '0',
        '9',
        '\n',
        '\0',
        ' ',
        'é',
        '\u{10ffff}',
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.less_than(3) {
        let (at, other) = (random.less_than(chars.len()), random.less_than(chars.len()));
        let range = at.min(other)..at.max(other);
        match random.less_than(8) {
            _ if chars.is_empty() => chars.push(*random.pick(ODD)),
            0 => chars.truncate(at),
            1 => chars.insert(at, *random.pick(ODD)),
            2 => drop(chars.remove(at)),
            3 if range.len() < 100 => drop(chars.drain(range)),
            4 => {
                let part: Vec<char> = chars[range].iter().copied().take(100).collect();
                chars.splice(at..at, part);
            }
            _ => chars[at] = *random.pick(ODD),
        }
    }
    chars.into_iter().collect()
}

/// Mutates one of the texts of a value.
fn mutate_value(random: &mut Random, value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = mutate(random, text),
        serde_json::Value::Array(items) if !items.is_empty() => {
            let at = random.less_than(items.len());
            mutate_value(random, &mut items[at]);
        }
        serde_json::Value::Object(fields) if !fields.is_empty() => {
            let at = random.less_than(fields.len());
            if let Some((_, field)) = fields.iter_mut().nth(at) {
                mutate_value(random, field);
            }
        }
        other => *other = serde_json::Value::from(random.less_than(3)),
    }
}

fn run(engine: &Engine, function: usize, operands: &serde_json::Value) {
    let document = engine
        .prepare_document(&format!("data.t.f{function}"))
        .unwrap();
    let input = json::read(operands.to_string().as_bytes()).unwrap();
    // a result or an error: both are valid here
    let _ = document.evaluate(&Request::new().input(&input).strict_builtin_errors(true));
}

#[test]
fn mutated_tokens_keys_and_certificates_do_not_panic() {
    on_small_stack("mutants", || {
        let (engine, seeds) = (engine(), seeds());
        assert!(seeds.len() > 500, "{} seeds", seeds.len());
        let mut random = Random(0x5eed);
        for _ in 0..MUTANTS {
            let (function, operands) = random.pick(&seeds);
            let mut operands = operands.clone();
            for _ in 0..=random.less_than(2) {
                let at = random.less_than(operands.len());
                // sometimes a whole operand of another call
                if random.less_than(10) == 0 {
                    let (_, others) = random.pick(&seeds);
                    operands[at] = random.pick(others).clone();
                } else {
                    mutate_value(&mut random, &mut operands[at]);
                }
            }
            run(&engine, *function, &operands.into());
        }
    });
}

#[test]
fn long_tokens_keys_and_certificates_end_soon() {
    const MANY: usize = 50_000;
    let engine = engine();
    let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let texts = [
        ("begins", "-----BEGIN A-----\n".repeat(MANY)),
        (
            "begins and an end",
            format!("{}\n-----END A-----\n", "-----BEGIN A-----\n".repeat(MANY)),
        ),
        (
            "headers",
            format!(
                "-----BEGIN A: -----\n{}",
                "-----BEGIN B: -----\n".repeat(MANY)
            ),
        ),
        ("blocks", certificate.repeat(MANY)),
        ("periods", ".".repeat(MANY)),
        ("base64", "A".repeat(MANY * 20)),
        ("brackets", "[".repeat(MANY)),
        (
            "keys",
            format!(
                "{{\"keys\":[{}]}}",
                vec!["{\"kty\":\"oct\",\"k\":\"AA\"}"; MANY].join(",")
            ),
        ),
        (
            "a long number",
            format!(
                "{{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"{}\"}}",
                "_".repeat(MANY * 4)
            ),
        ),
    ];
    for (what, text) in &texts {
        on_small_stack(what, || {
            for (function, (_, operands)) in FUNCTIONS.iter().enumerate() {
                let token = "eyJhbGciOiJIUzI1NiJ9.e30.AA".to_owned();
                for operands in [vec![text.clone(); *operands], vec![token, text.clone()]] {
                    run(&engine, function, &operands.into());
                }
            }
        });
    }
}
