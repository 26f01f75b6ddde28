//! Generates a case, with its calls, from a number.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::asn1::{self, element, oid, sequence};
use crate::chains::{self, Chain};
use crate::fixtures::{FIXTURES, Signer};
use crate::plan::Plan;
use crate::random::Random;
use crate::{extensions, names, outlines};

/// A call of a function.
pub struct Call {
    pub function: &'static str,
    pub operands: Vec<Json>,
}

pub struct Case {
    pub calls: Vec<Call>,
    /// The verified chain, if any.
    pub chain: Option<Chain>,
}

/// Functions under test, and the queries that summarize their results.
pub const FUNCTIONS: &[&str] = &[
    "crypto.x509.parse_certificates",
    "crypto.x509.parse_and_verify_certificates",
    "crypto.x509.parse_and_verify_certificates_with_options",
    "crypto.x509.parse_certificate_request",
    "crypto.x509.parse_keypair",
    "crypto.parse_private_keys",
    "crypto.x509.parse_rsa_private_key",
    "io.jwt.verify_rs256",
    "io.jwt.verify_rs384",
    "io.jwt.verify_rs512",
    "io.jwt.verify_ps256",
    "io.jwt.verify_ps384",
    "io.jwt.verify_ps512",
    "io.jwt.verify_es256",
    "io.jwt.verify_es384",
    "io.jwt.verify_es512",
    "io.jwt.verify_eddsa",
];

/// Returns the query that summarizes the result of a function for the operands in the input.
pub fn query(function: &str) -> String {
    let two = ["_with_options", "keypair", "jwt"]
        .iter()
        .any(|part| function.contains(part));
    let call = format!(
        "{function}({})",
        if two {
            "input[0], input[1]"
        } else {
            "input[0]"
        }
    );
    let digest = |value: &str| format!("substring(crypto.sha256(json.marshal({value})), 0, 10)");
    if function.contains("jwt") {
        format!("x := sprintf(\"%v\", [{call}])")
    } else if function.contains("verify") {
        format!(
            "v := {call}; x := sprintf(\"%v %v\", [v[0], {}])",
            digest("v[1]")
        )
    } else {
        format!("v := {call}; x := {}", digest("v"))
    }
}

/// Encodes PEM.
pub fn pem(label: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

/// Returns the case with a number.
pub fn case(seed: u64, number: u64) -> Case {
    let mut random = Random::new(seed.wrapping_mul(0x1_0000_0000) ^ number);
    // the first numbers of similar seeds are similar
    random.next();
    match random.less_than(100) {
        0..=59 => chain(&mut random),
        60..=69 => request(&mut random),
        70..=77 => keypair(&mut random),
        78..=87 => private_keys(&mut random),
        _ => token(&mut random),
    }
}

fn chain(random: &mut Random) -> Case {
    let chain = chains::draw(random);
    let text = &chain.text;
    let call = |function, operands| Call { function, operands };
    let calls = vec![
        call(FUNCTIONS[0], vec![json!(text)]),
        call(FUNCTIONS[1], vec![json!(text)]),
        call(FUNCTIONS[2], vec![json!(text), chain.options.clone()]),
    ];
    Case {
        calls,
        chain: Some(chain),
    }
}

/// Applies a random change to a certificate or request.
pub fn change(random: &mut Random, plan: &mut Plan) {
    match random.less_than(20) {
        0..=3 => names::alternative_names(random, plan),
        4..=5 => names::constraints(random, plan),
        6 => names::distinguished(random, plan),
        7..=8 => extensions::uses(random, plan),
        9..=10 => extensions::authority(random, plan),
        11..=12 => extensions::policies(random, plan),
        13 => extensions::others(random, plan),
        14 => extensions::list(random, plan),
        15 => outlines::validity(random, plan),
        16 => outlines::numbers(random, plan),
        17 => outlines::algorithms(random, plan),
        18 => outlines::keys(random, plan),
        _ => outlines::mistakes(random, plan),
    }
}

fn request(random: &mut Random) -> Case {
    let signer = *random.pick(&Signer::ALL);
    let mut plan = Plan::new("", "someone", signer.public(), signer);
    for _ in 0..random.between(1, 3) {
        change(random, &mut plan);
    }
    if random.chance(30) {
        plan.mistakes[random.less_than(2)] += 1;
    }
    let mut attributes = Vec::new();
    for _ in 0..random.less_than(3) {
        let pair = |random: &mut Random| {
            const VALUES: &[&[u8]] = &[
                &[12, 1, 0x41],
                &[19, 1, 0x42],
                &[2, 1, 5],
                &[1, 1, 0xff],
                &[4, 2, 1, 2],
                &[6, 2, 0x2a, 3],
                &[5, 0],
                &[0x30, 0],
                &[22, 1, 0x80],
                &[12, 1, 0xff],
                &[3, 2, 0, 1],
                &[30, 2, 0, 0x41],
                &[2, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9],
                &[23, 13, 48, 48, 48, 49, 48, 49, 48, 48, 48, 48, 48, 48, 90],
                &[18, 1, 0x31],
                &[20, 1, 0xe9],
                &[10, 1, 1],
            ];
            sequence(&[&*oid("2.5.4.3"), *random.pick(VALUES)])
        };
        let list = sequence(&[pair(random), pair(random)]);
        let values = match random.less_than(4) {
            0 => pair(random),
            1 => element(12, b"secret"),
            _ => list,
        };
        attributes.push(sequence(&[
            oid("1.2.840.113549.1.9.7"),
            element(0x31, &values),
        ]));
    }
    let bytes = plan.request(random, &attributes);
    let text = match random.less_than(12) {
        0 => STANDARD.encode(&bytes),
        1 => pem(
            *random.pick(&[
                "CERTIFICATE",
                "NEW CERTIFICATE REQUEST",
                "certificate request",
            ]),
            &bytes,
        ),
        2 => format!("before\n{}", pem("CERTIFICATE REQUEST", &bytes)),
        _ => pem("CERTIFICATE REQUEST", &bytes),
    };
    let calls = vec![Call {
        function: FUNCTIONS[3],
        operands: vec![json!(text)],
    }];
    Case { calls, chain: None }
}

/// Returns a private key in one of its encodings, often with mutations, and the PEM label.
fn private_key(random: &mut Random, names: &[&str]) -> (String, Vec<u8>) {
    let name = *random.pick(names);
    let key = FIXTURES.key(name);
    let own = key.own.as_ref().filter(|_| random.chance(50));
    let (label, bytes) = match own {
        Some(own) if name.starts_with("rsa") => ("RSA PRIVATE KEY", &own.0),
        Some(own) if name == "dsa" => ("DSA PRIVATE KEY", &own.0),
        Some(own) => ("EC PRIVATE KEY", &own.0),
        None => ("PRIVATE KEY", &key.pkcs8.0),
    };
    let mistakes = if random.chance(65) {
        random.between(1, 2)
    } else {
        0
    };
    let label = match random.less_than(12) {
        0 => *random.pick(&[
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "PUBLIC KEY",
        ]),
        _ => label,
    };
    (label.to_owned(), asn1::spoil(random, bytes, mistakes))
}

const PRIVATE: &[&str] = &[
    "rsa",
    "rsa_other",
    "rsa_short",
    "rsa_odd",
    "p224",
    "p256",
    "p256",
    "p384",
    "p521",
    "k256",
    "ed25519",
    "ed25519",
    "x25519",
    "dsa",
    "ed448",
];

fn private_keys(random: &mut Random) -> Case {
    let count = *random.pick(&[1, 1, 1, 2, 0]);
    let mut text = String::new();
    for _ in 0..count {
        let (label, bytes) = private_key(random, PRIVATE);
        text += &pem(&label, &bytes);
    }
    if random.chance(15) {
        text = STANDARD.encode(text);
    }
    let call = |function| Call {
        function,
        operands: vec![json!(text)],
    };
    Case {
        calls: vec![call(FUNCTIONS[5]), call(FUNCTIONS[6])],
        chain: None,
    }
}

fn keypair(random: &mut Random) -> Case {
    let (name, signer) = (*random.pick(PRIVATE), *random.pick(&Signer::ALL));
    let mut plan = Plan::new(
        "someone",
        "someone",
        FIXTURES.key(name).public.0.clone(),
        signer,
    );
    if random.chance(45) {
        change(random, &mut plan);
    }
    let mut certificates = pem("CERTIFICATE", &plan.certificate(random));
    if random.chance(15) {
        certificates += &certificates.clone();
    }
    let (label, key) = match random.less_than(10) {
        0 => private_key(random, PRIVATE),
        _ => private_key(random, &[name]),
    };
    let mut key = pem(&label, &key);
    match random.less_than(12) {
        0 => key = format!("{certificates}{key}"),
        1 => certificates = format!("{}{certificates}", pem("SOMETHING", b"else")),
        2 => std::mem::swap(&mut key, &mut certificates),
        _ => {}
    }
    let calls = vec![Call {
        function: FUNCTIONS[4],
        operands: vec![json!(certificates), json!(key)],
    }];
    Case { calls, chain: None }
}

fn token(random: &mut Random) -> Case {
    let names: Vec<&String> = FIXTURES.tokens.keys().collect();
    let name = *random.pick(&names);
    let right = match &**name {
        "ES256" => "p256",
        "ES384" => "p384",
        "ES512" => "p521",
        "EdDSA" => "ed25519",
        _ => "rsa",
    };
    let key = if random.chance(85) {
        right
    } else {
        *random.pick(PRIVATE)
    };
    let signer = *random.pick(&Signer::ALL);
    let mut plan = Plan::new(
        "issuer",
        "someone",
        FIXTURES.key(key).public.0.clone(),
        signer,
    );
    for _ in 0..random.less_than(3) {
        change(random, &mut plan);
    }
    let text = if random.chance(25) {
        let mistakes = random.less_than(3);
        pem("PUBLIC KEY", &asn1::spoil(random, &plan.key, mistakes))
    } else {
        pem("CERTIFICATE", &plan.certificate(random))
    };
    let mut token = FIXTURES.tokens[name].clone();
    if random.chance(5) {
        // another last character of the signature
        let last = if token.ends_with('A') { 'Q' } else { 'A' };
        token.pop();
        token.push(last);
    }
    let function = FUNCTIONS
        .iter()
        .find(|function| function.ends_with(&name.to_lowercase()));
    let calls = vec![Call {
        function: function.unwrap(),
        operands: vec![json!(token), json!(text)],
    }];
    Case { calls, chain: None }
}
