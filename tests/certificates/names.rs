//! Generates irregular names of subjects and issuers, alternative names, and name constraints.

use crate::asn1::{SET, element, oid, sequence};
use crate::plan::{Extension, Plan, common_name, named};
use crate::random::Random;

/// Domain names, some of them invalid.
pub const DOMAINS: &[&str] = &[
    "example.com",
    "host.example.com",
    "HOST.Example.com",
    "a.host.example.com",
    "example.org",
    "notexample.com",
    "*.example.com",
    "*.host.example.com",
    "h*.example.com",
    "*",
    "*.*.example.com",
    "com",
    ".example.com",
    ".com",
    ".",
    "",
    "..",
    "a..example.com",
    "host.example.com.",
    "host_1.example.com",
    "-host.example.com",
    "host example.com",
    "xn--bcher-kva.example.com",
    "b\u{fc}cher.example.com",
    "host.example.com\0",
    "192.0.2.1",
    "1.2.3",
    "[::1]",
];

const MAILBOXES: &[&str] = &[
    "someone@example.com",
    "SOMEONE@Example.com",
    "someone@host.example.com",
    "other@example.org",
    "someone@",
    "@",
    "@example.com",
    "\"some one\"@example.com",
    "\"some\\\"one\"@example.com",
    "some.one@example.com",
    ".some@example.com",
    "some..one@example.com",
    "some\\@one@example.com",
    "a@b@example.com",
    "someone@.example.com",
    "someone@[192.0.2.1]",
    "someone@example.com.",
    "someone",
    "example.com",
    ".example.com",
    "",
    "s\u{f6}@example.com",
    "<someone@example.com>",
    "someone@host_1.example.com",
];

const URIS: &[&str] = &[
    "https://example.com/a",
    "https://host.example.com:8443/?q#f",
    "https://user:pass@host.example.com/",
    "HTTPS://HOST.EXAMPLE.COM",
    "urn:uuid:1234",
    "spiffe://example.org/workload",
    "https://192.0.2.1/",
    "https://[2001:db8::1]:443/",
    "https://[fe80::1%25en0]/",
    "/relative",
    "https:///nohost",
    "http://a b/",
    "https://example.com:port/",
    "https://%zz/",
    "https://ex%41mple.com/",
    "",
    ":",
    "https://.example.com/",
    "https://example..com/",
    "https://example.com/%2f%zz",
    "https://b\u{fc}cher.example.com/",
    "mailto:a@example.com",
    "https://host_1.example.com",
    "https://example.com./",
    "//example.com/x",
];

const URI_DOMAINS: &[&str] = &[
    "example.com",
    ".example.com",
    "host.example.com",
    "example.org",
    "",
    ".",
    "192.0.2.1",
    "2001:db8::1",
    "[2001:db8::1]",
    "EXAMPLE.COM",
    "*.example.com",
    "a..b",
    "https://example.com",
];

const ADDRESSES: &[&[u8]] = &[
    &[192, 0, 2, 1],
    &[192, 0, 2, 129],
    &[10, 0, 0, 1],
    &[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1],
    &[],
    &[1, 2, 3],
    &[1, 2, 3, 4, 5],
];

const RANGES: &[&[u8]] = &[
    &[192, 0, 2, 0, 255, 255, 255, 0],
    &[192, 0, 2, 128, 255, 255, 255, 128],
    &[10, 0, 0, 0, 255, 0, 0, 0],
    &[0, 0, 0, 0, 0, 0, 0, 0],
    &[192, 0, 2, 77, 255, 255, 255, 0],
    &[192, 0, 2, 0, 255, 0, 255, 0],
    &[192, 0, 2, 0, 255, 255, 255, 1],
    &[192, 0, 2, 0],
    &[],
    &[
        0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0,
    ],
    &[
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 0, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255, 0,
    ],
];

/// Returns a name for alternative names and constraints.
fn general_name(random: &mut Random, constraint: bool) -> Vec<u8> {
    let directory = || element(0xa4, &common_name("x"));
    match random.less_than(20) {
        0..=7 => element(0x82, random.pick(DOMAINS).as_bytes()),
        8..=10 => element(0x81, random.pick(MAILBOXES).as_bytes()),
        11..=13 => {
            let texts = if constraint && random.chance(80) {
                URI_DOMAINS
            } else {
                URIS
            };
            element(0x86, random.pick(texts).as_bytes())
        }
        14..=16 => {
            let other = random.chance(90) != constraint;
            element(0x87, *random.pick(if other { ADDRESSES } else { RANGES }))
        }
        17 => directory(),
        18 => {
            let label = "a".repeat(*random.pick(&[63, 64]));
            let count = *random.pick(&[1, 3, 4, 5]);
            element(0x82, vec![&*label; count].join(".").as_bytes())
        }
        _ => match random.less_than(6) {
            0 => element(0xa0, &sequence(&[oid("1.2.3.4"), element(0xa0, &[5, 0])])),
            1 => element(0x88, &[0x2a, 3]),
            2 => element(0x82, &[0xff, 0xfe]),
            3 => element(
                *random.pick(&[0x83, 0x85, 0xa3, 0x89, 7, 12, 22]),
                b"host.example.com",
            ),
            4 => element(0xa2, b"host.example.com"),
            _ => element(0x81, &[b'a', b'@', 0x80]),
        },
    }
}

/// Generates alternative names of a subject.
pub fn alternative_names(random: &mut Random, plan: &mut Plan) {
    let count = random.less_than(4);
    let mut names: Vec<Vec<u8>> = (0..count).map(|_| general_name(random, false)).collect();
    if random.chance(60) {
        names.push(element(0x82, b"host.example.com"));
    }
    let mut value = sequence(&names);
    if random.chance(3) {
        value.extend([5, 0]);
    }
    let critical = random.chance(20);
    plan.put(
        Extension::new("2.5.29.17", critical, value),
        random.chance(3),
    );
}

/// Generates name constraints.
pub fn constraints(random: &mut Random, plan: &mut Plan) {
    let mut parts = Vec::new();
    for tag in [0xa0, 0xa1] {
        if random.chance(55) {
            let count = random.less_than(3) + usize::from(!random.chance(5));
            let trees: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let bounds: &[&[u8]] =
                        &[&[], &[0x80, 1, 0], &[0x80, 1, 2], &[0x81, 1, 2], &[5, 0]];
                    let bound = if random.chance(90) {
                        bounds[0]
                    } else {
                        *random.pick(bounds)
                    };
                    sequence(&[&*general_name(random, true), bound])
                })
                .collect();
            parts.push(element(tag, &trees.concat()));
        }
    }
    if random.chance(4) {
        parts.reverse();
    }
    let critical = random.chance(70);
    plan.put(
        Extension::new("2.5.29.30", critical, sequence(&parts)),
        false,
    );
}

/// Generates a subject or an issuer with irregular attributes.
pub fn distinguished(random: &mut Random, plan: &mut Plan) {
    const KINDS: &[&str] = &[
        "2.5.4.3",
        "2.5.4.5",
        "2.5.4.6",
        "2.5.4.7",
        "2.5.4.8",
        "2.5.4.9",
        "2.5.4.10",
        "2.5.4.11",
        "2.5.4.17",
        "2.5.4.12",
        "1.2.840.113549.1.9.1",
        "0.9.2342.19200300.100.1.25",
        "2.999.1",
        "2.16.840.1.113730.4294967295",
        "1.3.6.1.4.1.99999.2147483647",
    ];
    const TEXTS: &[(u8, &[u8])] = &[
        (12, b"utf8"),
        (12, "b\u{fc}cher".as_bytes()),
        (12, &[0xff]),
        (12, b""),
        (19, b"Printable (ok)"),
        (19, b"star*and&"),
        (19, b"at@not"),
        (19, &[0xe9]),
        (20, &[0xe9, 0x41]),
        (20, b"tele"),
        (22, b"ia5@example.com"),
        (22, &[0x80]),
        (18, b"12 34"),
        (18, b"12a"),
        (30, &[0, 0x41, 0, 0x42]),
        (30, &[0, 0x41, 0, 0]),
        (30, &[0, 0x41, 0]),
        (30, &[0xd8, 0x3d, 0xde, 0]),
        (30, &[0xd8, 0x3d]),
        (30, &[]),
        (28, &[0, 0, 0, 0x41]),
        (27, b"general"),
        (26, b"visible"),
        (21, b"videotex"),
        (3, &[0, 1, 2]),
        (4, b"octets"),
        (2, &[5]),
        (0x30, &[]),
        (0x2c, b"constructed"),
        (0x1f, b"high"),
    ];
    let count = random.less_than(5);
    let attributes: Vec<(&str, u8, &[u8])> = (0..count)
        .map(|_| {
            let (tag, text) = if random.chance(70) {
                TEXTS[random.less_than(2)]
            } else {
                *random.pick(TEXTS)
            };
            (*random.pick(KINDS), tag, text)
        })
        .collect();
    let name = match random.less_than(8) {
        // several in one set, in any order
        0 => {
            let pairs = attributes
                .iter()
                .map(|(kind, tag, text)| sequence(&[oid(kind), element(*tag, text)]));
            sequence(&[element(SET, &pairs.collect::<Vec<_>>().concat())])
        }
        1 => sequence(&[element(
            SET,
            &sequence(&[&*oid("2.5.4.3"), &[12, 1, 0x41], &[5, 0]]),
        )]),
        2 => sequence(&[element(SET, &[])]),
        _ => named(&attributes),
    };
    match random.less_than(6) {
        0 => plan.issuer = name,
        // the same text with another string type is another name
        1 => {
            if let Some(byte) = plan.issuer.iter_mut().find(|byte| **byte == 12) {
                *byte = 19;
            }
        }
        _ => plan.subject = name,
    }
}
