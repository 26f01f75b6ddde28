//! Text and byte encodings.

mod base64;
mod hex;

use super::Builtin;

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "base64.decode",
        "x: string => string",
        "The bytes that a base64 text stands for.",
        base64::decode,
    ),
    Builtin::new(
        "base64.encode",
        "x: string => string",
        "A string's bytes in base64.",
        base64::encode,
    ),
    Builtin::new(
        "base64.is_valid",
        "x: string => boolean",
        "Tells whether a string is base64.",
        base64::is_valid,
    ),
    Builtin::new(
        "base64url.decode",
        "x: string => string",
        "The bytes that a base64 text for URLs stands for, with or without padding.",
        base64::url_decode,
    ),
    Builtin::new(
        "base64url.encode",
        "x: string => string",
        "A string's bytes in base64 for URLs.",
        base64::url_encode,
    ),
    Builtin::new(
        "base64url.encode_no_pad",
        "x: string => string",
        "A string's bytes in base64 for URLs, without padding.",
        base64::url_encode_no_pad,
    ),
    Builtin::new(
        "hex.decode",
        "x: string => string",
        "The bytes that a hexadecimal text stands for.",
        hex::decode,
    ),
    Builtin::new(
        "hex.encode",
        "x: string => string",
        "A string's bytes in hexadecimal digits.",
        hex::encode,
    ),
];
