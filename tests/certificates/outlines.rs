//! Generates irregular certificates: versions, numbers, times, algorithms, keys and mutations.

use crate::asn1::{self, NULL, element, integer, oid, sequence};
use crate::fixtures::{FIXTURES, Signer};
use crate::plan::{Plan, time};
use crate::random::Random;

/// Times, some of them invalid.
const TIMES: &[&str] = &[
    "000101000000Z",
    "20900101000000Z",
    "491231235959Z",
    "500101000000Z",
    "990101000000Z",
    "240101000000Z",
    "250101000000Z",
    "20240101000000Z",
    "99991231235959Z",
    "00000101000000Z",
    "2401010000Z",
    "240101000000+0100",
    "240101000000-0130",
    "2401010000+0100",
    "240101000000+0000",
    "240101000000+2500",
    "240101000000+0060",
    "240101000000",
    "240101000060Z",
    "240101240000Z",
    "240101006000Z",
    "241301000000Z",
    "240001000000Z",
    "240230000000Z",
    "240229000000Z",
    "230229000000Z",
    "240132000000Z",
    "20240101000000+0100",
    "20240101000000.5Z",
    "202401010000Z",
    "20240101000000",
    " 40101000000Z",
    "24010100000Z",
    "2401010000000Z",
    "24010100000\u{661}Z",
    "",
    "Z",
    "20240101000000z",
    "240101000000Z ",
];

/// Generates validity times, with the matching ASN.1 type or the other one.
pub fn validity(random: &mut Random, plan: &mut Plan) {
    let one = |random: &mut Random, usual: &str| {
        let text = if random.chance(45) {
            usual
        } else {
            *random.pick(TIMES)
        };
        let mut written = time(text);
        if random.chance(8) {
            written[0] = *random.pick(&[23, 24, 22, 2]);
        }
        written
    };
    let (start, end) = (one(random, "000101000000Z"), one(random, "20900101000000Z"));
    let tail: &[u8] = if random.chance(5) { NULL } else { &[] };
    plan.validity = sequence(&[&*start, &end, tail]);
}

/// Generates the version, the serial number and the unique identifiers.
pub fn numbers(random: &mut Random, plan: &mut Plan) {
    match random.less_than(10) {
        0..=4 => {
            plan.version = match random.less_than(10) {
                0 => Vec::new(),
                1 | 2 => element(0xa0, &integer(0)),
                3 | 4 => element(0xa0, &integer(1)),
                5 => element(0xa0, &integer(3)),
                6 => element(0xa0, &integer(-1)),
                7 => element(0xa0, &[integer(2), integer(2)].concat()),
                8 => element(0xa0, &[2, 2, 0, 2]),
                _ => element(0xa0, &[]),
            };
            if random.chance(60) {
                plan.extensions.clear();
            }
        }
        5..=7 => {
            const SERIALS: &[&[u8]] = &[
                &[0],
                &[0xff],
                &[0x80],
                &[0x7f; 20],
                &[0x7f; 21],
                &[0, 0x80],
                &[0, 1],
                &[],
                &[0x7f; 300],
                &[0xff, 0x80],
            ];
            plan.serial = element(*random.pick(&[2, 2, 2, 2, 10]), *random.pick(SERIALS));
        }
        8 => {
            const IDS: &[&[u8]] = &[
                &[0x81, 2, 0, 1],
                &[0x82, 2, 0, 1],
                &[0x81, 2, 0, 1, 0x82, 2, 0, 1],
                &[0x82, 2, 0, 1, 0x81, 2, 0, 1],
                &[0x81, 0],
                &[0x81, 2, 9, 1],
                &[0xa1, 0],
            ];
            plan.ids = random.pick(IDS).to_vec();
        }
        _ => plan.tail = NULL.to_vec(),
    }
}

/// Generates signature algorithms.
pub fn algorithms(random: &mut Random, plan: &mut Plan) {
    const ALGORITHMS: &[&str] = &[
        "1.2.840.113549.1.1.1",
        "1.2.840.113549.1.1.4",
        "1.2.840.113549.1.1.5",
        "1.2.840.113549.1.1.10",
        "1.2.840.113549.1.1.11",
        "1.2.840.113549.1.1.12",
        "1.2.840.113549.1.1.13",
        "1.2.840.113549.1.1.14",
        "1.3.14.3.2.29",
        "1.2.840.10040.4.3",
        "2.16.840.1.101.3.4.3.2",
        "1.2.840.10045.4.1",
        "1.2.840.10045.4.3.2",
        "1.2.840.10045.4.3.3",
        "1.2.840.10045.4.3.4",
        "1.3.101.112",
        "1.3.101.113",
        "1.2.3.4",
    ];
    if random.chance(35) {
        // another signer, valid except for the key of the issuer
        plan.signer = *random.pick(&Signer::ALL);
        plan.algorithms = [plan.signer.algorithm(), plan.signer.algorithm()];
        return;
    }
    let algorithm = if random.chance(30) {
        pss(random)
    } else {
        let own = plan.signer.algorithm();
        let named = oid(*random.pick(ALGORITHMS));
        match random.less_than(8) {
            0 => sequence(&[named]),
            1 => sequence(&[&*named, NULL]),
            2 => sequence(&[&*named, &[4, 1, 7]]),
            3 => sequence(&[&*named, NULL, NULL]),
            4 => sequence(&[&*named, &[7, 0]]),
            5 => sequence(&[&*named, &[0x1f, 0x85, 1, 0]]),
            6 => sequence(&[&own[2..], NULL]),
            _ => own,
        }
    };
    match random.less_than(5) {
        0 => plan.algorithms[0] = algorithm,
        1 => plan.algorithms[1] = algorithm,
        _ => plan.algorithms = [algorithm.clone(), algorithm],
    }
}

/// Returns parameters of PSS, mostly valid.
fn pss(random: &mut Random) -> Vec<u8> {
    let hash = |random: &mut Random| {
        let last = if random.chance(70) {
            1
        } else {
            *random.pick(&[2, 3, 4])
        };
        let named = oid(&format!("2.16.840.1.101.3.4.2.{last}"));
        let parameters: &[u8] = if random.chance(80) {
            NULL
        } else {
            *random.pick(&[&[][..], &[4, 0], &[5, 1, 0]])
        };
        sequence(&[&*named, parameters])
    };
    let mut parts = Vec::new();
    if random.chance(95) {
        parts.push(element(0xa0, &hash(random)));
    }
    if random.chance(95) {
        let mask = if random.chance(95) {
            "1.2.840.113549.1.1.8"
        } else {
            "1.2.840.113549.1.1.9"
        };
        parts.push(element(0xa1, &sequence(&[oid(mask), hash(random)])));
    }
    if random.chance(95) {
        let salt = *random.pick(&[32, 32, 32, 48, 64, 20, 0]);
        parts.push(element(0xa2, &integer(salt)));
    }
    if random.chance(25) {
        parts.push(element(0xa3, &integer(*random.pick(&[1, 1, 2]))));
    }
    sequence(&[oid("1.2.840.113549.1.1.10"), sequence(&parts)])
}

/// Generates another key, or an irregular one.
pub fn keys(random: &mut Random, plan: &mut Plan) {
    let names: Vec<&String> = FIXTURES.keys.keys().collect();
    plan.key = if random.chance(40) {
        FIXTURES.key(*random.pick(&names)).public.0.clone()
    } else {
        odd_key(random)
    };
    if random.chance(25) {
        let mistakes = random.between(1, 2);
        plan.key = asn1::spoil(random, &plan.key, mistakes);
    }
}

fn odd_key(random: &mut Random) -> Vec<u8> {
    let rsa = |n: &[u8], e: &[u8], parameters: &[u8]| {
        let numbers = sequence(&[element(2, n), element(2, e)]);
        let algorithm = sequence(&[&*oid("1.2.840.113549.1.1.1"), parameters]);
        sequence(&[algorithm, asn1::bits(&numbers)])
    };
    let plain = |algorithm: &str, parameters: &[u8], key: &[u8]| {
        sequence(&[sequence(&[&*oid(algorithm), parameters]), asn1::bits(key)])
    };
    let modulus = &[&[0x40][..], &[0x55; 127]].concat();
    match random.less_than(8) {
        0 | 1 => {
            const EXPONENTS: &[&[u8]] = &[
                &[3],
                &[1, 0, 1],
                &[1],
                &[0],
                &[0x80],
                &[2],
                &[0x7f; 4],
                &[0x7f; 8],
                &[1; 9],
                &[],
            ];
            rsa(modulus, *random.pick(EXPONENTS), NULL)
        }
        2 => {
            const MODULI: &[&[u8]] = &[&[0], &[0xff], &[1], &[15], &[0, 0x80], &[0, 1], &[]];
            rsa(*random.pick(MODULI), &[3], NULL)
        }
        3 => rsa(
            modulus,
            &[3],
            *random.pick(&[&[][..], &[5, 1, 0], &[4, 0], &[5, 0, 5, 0]]),
        ),
        4 | 5 => {
            let curve = *random.pick(&[
                "1.2.840.10045.3.1.7",
                "1.3.132.0.33",
                "1.3.132.0.34",
                "1.3.132.0.35",
                "1.3.132.0.10",
                "1.2.3",
            ]);
            let stored = *random.pick(&["p224", "p256", "p384", "p521"]);
            let stored = &FIXTURES.key(stored).public.0;
            // the point is at the end
            let length = *random.pick(&[57, 65, 97, 133]);
            let start = stored.len().saturating_sub(length);
            let mut point = stored[start..].to_vec();
            match random.less_than(6) {
                0 => point[0] = 2,
                1 => drop(point.pop()),
                2 => point = vec![0],
                3 => point.clear(),
                4 => *point.last_mut().unwrap() ^= 1,
                _ => {}
            }
            let parameters = if random.chance(85) {
                oid(curve)
            } else {
                NULL.to_vec()
            };
            plain("1.2.840.10045.2.1", &parameters, &point)
        }
        6 => {
            let kind = *random.pick(&["1.3.101.110", "1.3.101.112", "1.3.101.113", "1.3.101.111"]);
            let parameters: &[u8] = if random.chance(20) { NULL } else { &[] };
            let length = *random.pick(&[32, 32, 31, 33, 0]);
            plain(kind, parameters, &vec![9; length])
        }
        _ => {
            let number = |random: &mut Random| {
                element(
                    2,
                    *random.pick(&[&[7][..], &[5], &[0], &[0xff], &[0, 0xff]]),
                )
            };
            let parameters = sequence(&[number(random), number(random), number(random)]);
            let y = number(random);
            plain("1.2.840.10040.4.1", &parameters, &y)
        }
    }
}

/// Generates mutations.
pub fn mistakes(random: &mut Random, plan: &mut Plan) {
    let place = usize::from(random.chance(30));
    plan.mistakes[place] += random.between(1, 2);
}
