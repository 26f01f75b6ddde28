//! Generates certificate chains with irregularities.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::asn1;
use crate::cases::{change, pem};
use crate::fixtures::{FIXTURES, Signer};
use crate::names::DOMAINS;
use crate::plan::{Extension, Plan, authority};
use crate::random::Random;

/// Certificates in the given order, and options to verify them with.
pub struct Chain {
    pub certificates: Vec<Vec<u8>>,
    pub options: Json,
    pub text: String,
    /// `true` if the text contains only the certificates.
    pub plain: bool,
}

/// Returns a generated or a stored chain.
pub fn draw(random: &mut Random) -> Chain {
    let mut certificates = if random.chance(12) {
        stored(random)
    } else {
        planned(random)
    };
    rearrange(random, &mut certificates);
    let options = options(random);
    let (text, plain) = text(random, &certificates);
    Chain {
        certificates,
        options,
        text,
        plain,
    }
}

/// Encodes certificates. Also returns whether the text is regular.
fn text(random: &mut Random, certificates: &[Vec<u8>]) -> (String, bool) {
    if random.chance(8) {
        return (STANDARD.encode(certificates.concat()), true);
    }
    let plain: String = certificates
        .iter()
        .map(|bytes| pem("CERTIFICATE", bytes))
        .collect();
    let odd = match random.less_than(40) {
        0 => format!("# comment\n{plain}"),
        1 => plain.replace('\n', "\r\n"),
        2 => plain.replacen("-----END", "----END", 1),
        3 => plain.clone() + "after",
        4 => plain.replacen(
            "CERTIFICATE",
            *random.pick(&["TRUSTED CERTIFICATE", "X"]),
            2,
        ),
        _ => return (plain, true),
    };
    (odd, false)
}

fn stored(random: &mut Random) -> Vec<Vec<u8>> {
    let chains: Vec<_> = FIXTURES.chains.values().collect();
    let mut chain: Vec<Vec<u8>> = random
        .pick(&chains)
        .iter()
        .map(|bytes| bytes.0.clone())
        .collect();
    if random.chance(40) {
        let at = random.less_than(chain.len());
        chain[at] = asn1::spoil(random, &chain[at], 1);
    }
    chain
}

fn planned(random: &mut Random) -> Vec<Vec<u8>> {
    let between = *random.pick(&[0, 1, 1, 1, 2, 2, 3]);
    let signers: Vec<Signer> = (0..=between).map(|_| *random.pick(&Signer::ALL)).collect();
    let mut plans = Vec::new();
    for place in 0..between + 2 {
        let above = if place == 0 { 0 } else { place - 1 };
        let key = match signers.get(place) {
            Some(signer) => signer.public(),
            None => Signer::Ed25519("ed25519").public(),
        };
        let mut plan = Plan::new(
            &format!("name {above}"),
            &format!("name {place}"),
            key,
            signers[above],
        );
        if place <= between {
            plan.extensions.push(authority(None));
        } else {
            let name = asn1::sequence(&[asn1::element(0x82, b"host.example.com")]);
            plan.extensions
                .push(Extension::new("2.5.29.17", false, name));
        }
        plans.push(plan);
    }
    // Irregularities are mostly in one certificate, because two of them hide each other.
    for _ in 0..*random.pick(&[0, 1, 1, 1, 1, 2, 2, 3]) {
        let at = random.less_than(plans.len());
        change(random, &mut plans[at]);
    }
    // Policies must match in each certificate.
    if random.chance(6) {
        for plan in plans.iter_mut().skip(1) {
            if random.chance(85) {
                let policy = asn1::sequence(&[asn1::oid(*random.pick(&[
                    "1.2.3.1",
                    "1.2.3.1",
                    "1.2.3.2",
                    "2.5.29.32.0",
                ]))]);
                plan.put(
                    Extension::new("2.5.29.32", false, asn1::sequence(&[policy])),
                    false,
                );
            }
        }
        let at = random.less_than(plans.len());
        crate::extensions::policies(random, &mut plans[at]);
    }
    // So must names and name constraints.
    if random.chance(10) {
        let at = random.less_than(between + 1);
        crate::names::constraints(random, &mut plans[at]);
        crate::names::alternative_names(random, plans.last_mut().unwrap());
    }
    let mut certificates: Vec<Vec<u8>> =
        plans.iter().map(|plan| plan.certificate(random)).collect();
    // Another certificate for the same key and name, which may be the better one.
    if random.chance(8) {
        let at = random.less_than(between + 1);
        let mut again = plans[at].clone();
        change(random, &mut again);
        certificates.insert(1.min(at + 1), again.certificate(random));
    }
    certificates
}

fn rearrange(random: &mut Random, certificates: &mut Vec<Vec<u8>>) {
    let at = random.less_than(certificates.len());
    match random.less_than(40) {
        0 => drop(certificates.remove(at)),
        1 => certificates.insert(at, certificates[at].clone()),
        2 => certificates.push(certificates[at].clone()),
        3 => certificates.swap(0, at),
        4 => certificates.reverse(),
        5 => certificates.truncate(1),
        6 => certificates[at].push(0),
        7 => certificates[at].truncate(40),
        _ => {}
    }
}

fn options(random: &mut Random) -> Json {
    const USES: &[&str] = &[
        "KeyUsageAny",
        "KeyUsageServerAuth",
        "KeyUsageServerAuth",
        "KeyUsageClientAuth",
        "KeyUsageCodeSigning",
        "KeyUsageEmailProtection",
        "KeyUsageTimeStamping",
        "KeyUsageOCSPSigning",
        "KeyUsageMicrosoftKernelCodeSigning",
    ];
    let mut options = json!({});
    if random.chance(60) {
        // Around the generated validity limits.
        const SECONDS: &[i64] = &[
            1_704_067_200,
            1_704_067_199,
            1_735_689_600,
            1_735_689_601,
            946_684_800,
            3_786_912_000,
            0,
            -631_152_000,
            1_704_063_600,
            1_704_072_600,
            1_800_000_000,
            1_800_000_000,
            1_800_000_000,
            1_800_000_000,
        ];
        let seconds = *random.pick(SECONDS);
        let rest = *random.pick(&[0, 0, 1, -1]);
        options["CurrentTime"] = json!(seconds * 1_000_000_000 + rest);
    }
    if random.chance(50) {
        let usual = random.chance(60);
        options["DNSName"] = json!(if usual {
            "host.example.com"
        } else {
            *random.pick(DOMAINS)
        });
    }
    if random.chance(45) {
        let count = random.less_than(3);
        let uses: Vec<&str> = (0..count).map(|_| *random.pick(USES)).collect();
        options["KeyUsages"] = json!(uses);
    }
    if random.chance(5) {
        options["MaxConstraintComparisons"] = json!(5);
    }
    match random.less_than(60) {
        0 => options["CurrentTime"] = json!("now"),
        1 => options["CurrentTime"] = json!(1.5),
        2 => options["KeyUsages"] = json!(["KeyUsageNone", "KeyUsageAny"]),
        3 => options["Other"] = json!(1),
        4 => options["DNSName"] = json!("[2001:db8::1]"),
        5 => options["DNSName"] = json!(null),
        _ => {}
    }
    options
}
