//! Encodings and digests, with common crates.

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use solon::Value;

use super::{Prepare, number, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("base64", || {
        Some(Box::new(|data, _| base64s(data, &STANDARD)))
    }),
    ("base64url", || {
        Some(Box::new(|data, _| base64s(data, &URL_SAFE_NO_PAD)))
    }),
    ("hex", || Some(Box::new(hexes))),
    ("sha256", || Some(Box::new(digests))),
    ("hmac_sha256", || Some(Box::new(codes))),
    ("urlquery", || Some(Box::new(components))),
];

fn base64s(data: &Value, engine: &GeneralPurpose) -> Option<Value> {
    let same = texts(data, "hex").filter(|text| {
        let decoded = engine.decode(engine.encode(text));
        decoded.is_ok_and(|decoded| decoded == text.as_bytes())
    });
    number(same.count())
}

fn hexes(data: &Value, _: &Value) -> Option<Value> {
    let same = texts(data, "hex").filter(|text| {
        let decoded = hex::decode(text).unwrap_or_default();
        hex::encode(decoded) == **text
    });
    number(same.count())
}

fn digests(data: &Value, _: &Value) -> Option<Value> {
    let lengths = texts(data, "hex").map(|text| hex::encode(Sha256::digest(text)).len());
    number(lengths.sum())
}

fn codes(data: &Value, _: &Value) -> Option<Value> {
    let code = |text: &str| {
        let mac = Hmac::<Sha256>::new_from_slice(b"key").ok()?;
        Some(hex::encode(mac.chain_update(text).finalize().into_bytes()).len())
    };
    number(texts(data, "hex").filter_map(code).sum())
}

fn components(data: &Value, _: &Value) -> Option<Value> {
    let same = texts(data, "json").filter(|text| {
        let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let mut pairs = form_urlencoded::parse(encoded.as_bytes());
        pairs.next().is_some_and(|(plain, _)| plain == *text)
    });
    number(same.count())
}
