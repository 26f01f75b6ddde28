//! Generates irregular extensions: key usages, basic constraints, policies and others.

use crate::asn1::{NULL, OCTET_STRING, element, integer, oid, sequence};
use crate::plan::{Extension, Plan, TRUE};
use crate::random::Random;

const USES: &[&str] = &[
    "1.3.6.1.5.5.7.3.1",
    "1.3.6.1.5.5.7.3.2",
    "1.3.6.1.5.5.7.3.3",
    "1.3.6.1.5.5.7.3.4",
    "1.3.6.1.5.5.7.3.5",
    "1.3.6.1.5.5.7.3.6",
    "1.3.6.1.5.5.7.3.7",
    "1.3.6.1.5.5.7.3.8",
    "1.3.6.1.5.5.7.3.9",
    "2.5.29.37.0",
    "1.3.6.1.4.1.311.10.3.3",
    "2.16.840.1.113730.4.1",
    "1.3.6.1.4.1.311.2.1.22",
    "1.3.6.1.4.1.311.61.1.1",
    "1.2.3.4",
];

const POLICIES: &[&str] = &[
    "1.2.3.1",
    "1.2.3.2",
    "1.2.3.3",
    "2.5.29.32.0",
    "2.999.4294967295",
    "2.23.140.1.2.1",
];

/// Generates key usages, as bits and as names.
pub fn uses(random: &mut Random, plan: &mut Plan) {
    if random.chance(45) {
        const BITS: &[&[u8]] = &[
            &[3, 2, 5, 0xa0],
            &[3, 2, 2, 4],
            &[3, 2, 1, 6],
            &[3, 2, 7, 0x80],
            &[3, 3, 7, 0, 0x80],
            &[3, 3, 0, 0xff, 0xff],
            &[3, 1, 0],
            &[3, 2, 0, 0],
            &[3, 2, 0, 0x20],
            &[3, 2, 3, 4],
            &[3, 2, 8, 0],
            &[3, 1, 1],
            &[3, 0],
            &[3, 2, 2, 4, 5, 0],
            &[2, 1, 4],
        ];
        let value = random.pick(BITS).to_vec();
        let critical = random.chance(70);
        plan.put(
            Extension::new("2.5.29.15", critical, value),
            random.chance(3),
        );
        return;
    }
    let count = *random.pick(&[0, 1, 1, 1, 2, 3]);
    let named: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let near = random.chance(60);
            oid(if near {
                USES[random.less_than(2)]
            } else {
                *random.pick(USES)
            })
        })
        .collect();
    let mut value = sequence(&named);
    match random.less_than(20) {
        0 => value.extend(NULL),
        1 => value = sequence(&[integer(1)]),
        2 => value = oid(USES[0]),
        _ => {}
    }
    let critical = random.chance(30);
    plan.put(
        Extension::new("2.5.29.37", critical, value),
        random.chance(3),
    );
}

/// Generates basic constraints.
pub fn authority(random: &mut Random, plan: &mut Plan) {
    if random.chance(8) {
        plan.extensions
            .retain(|extension| extension.id != oid("2.5.29.19"));
        return;
    }
    const AUTHORITIES: &[&[u8]] = &[
        TRUE,
        TRUE,
        TRUE,
        TRUE,
        &[],
        &[1, 1, 0],
        &[1, 1, 1],
        &[1, 0],
        &[1, 2, 0xff, 0xff],
    ];
    let authority = *random.pick(AUTHORITIES);
    let length = match random.less_than(12) {
        0..=2 => Vec::new(),
        3 => integer(-1),
        4 => integer(i64::MAX),
        5 => element(2, &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        6 => element(2, &[0, 1]),
        7 => element(2, &[]),
        8 => integer(1),
        9 => integer(2),
        _ => integer(0),
    };
    let tail: &[u8] = if random.chance(6) { NULL } else { &[] };
    let mut value = sequence(&[authority, &length, tail]);
    if random.chance(4) {
        value.extend(NULL);
    }
    let critical = random.chance(70);
    plan.put(
        Extension::new("2.5.29.19", critical, value),
        random.chance(3),
    );
}

/// Generates policies, policy mappings and policy constraints.
pub fn policies(random: &mut Random, plan: &mut Plan) {
    let critical = random.chance(40);
    let policy = |random: &mut Random| oid(*random.pick(POLICIES));
    let (id, value) = match random.less_than(10) {
        0..=3 => {
            let count = random.less_than(4);
            let policies: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let qualifier: &[u8] = if random.chance(15) { &[0x30, 0] } else { &[] };
                    sequence(&[&*policy(random), qualifier])
                })
                .collect();
            ("2.5.29.32", sequence(&policies))
        }
        4 | 5 => {
            let count = random.less_than(3);
            let mappings: Vec<Vec<u8>> = (0..count)
                .map(|_| sequence(&[policy(random), policy(random)]))
                .collect();
            ("2.5.29.33", sequence(&mappings))
        }
        6..=8 => {
            const LIMITS: &[&[u8]] = &[
                &[0],
                &[0],
                &[1],
                &[2],
                &[5],
                &[0xff],
                &[],
                &[0, 1],
                &[0x7f; 9],
            ];
            let mut limits = Vec::new();
            for tag in [0x80, 0x81] {
                if random.chance(60) {
                    limits.push(element(tag, *random.pick(LIMITS)));
                }
            }
            ("2.5.29.36", sequence(&limits))
        }
        _ => {
            let limit = *random.pick(&[0, 0, 1, 2, -1, i64::MAX]);
            ("2.5.29.54", integer(limit))
        }
    };
    plan.put(Extension::new(id, critical, value), false);
}

/// Generates key identifiers, URLs and unknown extensions.
pub fn others(random: &mut Random, plan: &mut Plan) {
    let critical = random.chance(15);
    let id = *random.pick(&[&[1_u8, 2, 3][..], &[4, 5, 6], &[], &[7; 200]]);
    let uri = |text: &str| element(0x86, text.as_bytes());
    let tail: &[u8] = if random.chance(10) { NULL } else { &[] };
    let extension = match random.less_than(10) {
        0 | 1 => Extension::new("2.5.29.14", critical, element(OCTET_STRING, id)),
        2 | 3 => {
            let issuer = [
                &element(0xa1, &element(0x82, b"x"))[..],
                &element(0x82, &[1]),
            ]
            .concat();
            let rest = if random.chance(30) {
                issuer
            } else {
                tail.to_vec()
            };
            let key = if random.chance(85) {
                element(0x80, id)
            } else {
                Vec::new()
            };
            Extension::new("2.5.29.35", critical, sequence(&[key, rest]))
        }
        4 => {
            let methods = [
                "1.3.6.1.5.5.7.48.1",
                "1.3.6.1.5.5.7.48.2",
                "1.3.6.1.5.5.7.48.3",
            ];
            let count = random.less_than(4);
            let places: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let place = if random.chance(80) {
                        uri("http://ocsp.example.com/\u{fc}")
                    } else {
                        element(0x82, b"x")
                    };
                    sequence(&[&*oid(*random.pick(&methods)), &place, tail])
                })
                .collect();
            Extension::new("1.3.6.1.5.5.7.1.1", critical, sequence(&places))
        }
        5 | 6 => {
            let count = random.less_than(3);
            let points: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let names = [
                        uri("http://crl.example.com/a"),
                        uri("ldap:///"),
                        element(0x82, b"x"),
                    ]
                    .concat();
                    let inner = *random.pick(&[0xa0, 0xa0, 0xa0, 0xa1]);
                    let point = element(0xa0, &element(inner, &names));
                    let reasons: &[u8] = if random.chance(20) {
                        &[0x81, 2, 6, 0x40]
                    } else {
                        tail
                    };
                    let point = if random.chance(85) { point } else { Vec::new() };
                    sequence(&[&*point, reasons])
                })
                .collect();
            Extension::new("2.5.29.31", critical, sequence(&points))
        }
        7 => Extension::new("1.2.3.4.5", random.chance(50), vec![1, 2, 3]),
        8 => {
            let mut extension = Extension::new("1.3.6.1.5.5.7.1.24", false, vec![0x30, 3, 2, 1, 5]);
            const CRITICAL: &[&[u8]] = &[
                &[1, 1, 0],
                &[1, 1, 1],
                &[1, 0],
                &[5, 0],
                &[1, 1, 0xff, 1, 1, 0xff],
            ];
            extension.critical = random.pick(CRITICAL).to_vec();
            extension
        }
        _ => {
            let mut extension = Extension::new("1.2.3.4.6", false, Vec::new());
            const IDS: &[&[u8]] = &[
                &[6, 0],
                &[6, 1, 0x2a],
                &[6, 1, 0x80],
                &[6, 2, 0x2a, 0x86],
                &[6, 2, 0x80, 1],
                &[6, 3, 0x2a, 0x80, 1],
                &[6, 6, 0x2a, 0x87, 0xff, 0xff, 0xff, 0x7f],
                &[6, 6, 0x2a, 0x88, 0x80, 0x80, 0x80, 0],
                &[6, 6, 0x2a, 0x8f, 0xff, 0xff, 0xff, 0x7f],
                &[6, 6, 0x8f, 0xff, 0xff, 0xff, 0x7f, 1],
                &[
                    6, 11, 0x2a, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81, 1,
                ],
                &[6, 1, 0x78],
            ];
            extension.id = if random.chance(20) {
                element(6, &[0x2a; 50])
            } else {
                random.pick(IDS).to_vec()
            };
            extension
        }
    };
    plan.put(extension, random.chance(10));
}

/// Applies irregularities to the list of extensions.
pub fn list(random: &mut Random, plan: &mut Plan) {
    let count = plan.extensions.len();
    if count == 0 {
        return;
    }
    let at = random.less_than(count);
    match random.less_than(6) {
        0 => drop(plan.extensions.remove(at)),
        1 => plan.extensions.push(plan.extensions[at].clone()),
        2 => plan.extensions[at].value.clear(),
        3 => plan.extensions[at].value.push(0),
        4 => plan.extensions[at].critical = TRUE.to_vec(),
        _ => plan.extensions.swap(at, 0),
    }
}
