//! Text and byte encodings.

pub mod base64;
pub mod hex;
mod json;
mod urlquery;
#[cfg(feature = "formats")]
mod yaml;

use super::Builtin;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "base64.decode",
        "x: string => y: string",
        "The decoded bytes of a base64 text.",
        base64::decode,
    ).listed(&["encoding"]),
    Builtin::new(
        "base64.encode",
        "x: string => y: string",
        "A string's bytes in base64.",
        base64::encode,
    ).listed(&["encoding"]),
    Builtin::new(
        "base64.is_valid",
        "x: string => result: boolean",
        "Returns `true` if a string is base64.",
        base64::is_valid,
    ).listed(&["encoding"]),
    Builtin::new(
        "base64url.decode",
        "x: string => y: string",
        "The decoded bytes of a base64url text, with or without padding.",
        base64::url_decode,
    ).listed(&["encoding"]),
    Builtin::new(
        "base64url.encode",
        "x: string => y: string",
        "A string's bytes in base64url.",
        base64::url_encode,
    ).listed(&["encoding"]),
    Builtin::new(
        "base64url.encode_no_pad",
        "x: string => y: string",
        "A string's bytes in base64url, without padding.",
        base64::url_encode_no_pad,
    ).listed(&["encoding"]),
    Builtin::new(
        "hex.decode",
        "x: string => y: string",
        "The decoded bytes of a hexadecimal text.",
        hex::decode,
    ).listed(&["encoding"]),
    Builtin::new(
        "hex.encode",
        "x: string => y: string",
        "A string's bytes in hexadecimal digits.",
        hex::encode,
    ).listed(&["encoding"]),
    Builtin::new(
        "json.is_valid",
        "x: string => result: boolean",
        "Returns `true` if a string is JSON.",
        json::is_valid,
    ).listed(&["encoding"]),
    Builtin::new(
        "json.marshal",
        "x: any => y: string",
        "A value as JSON.",
        json::marshal,
    ).listed(&["encoding"]),
    Builtin::new(
        "json.marshal_with_options",
        "x: any, opts: object<indent: string, prefix: string, pretty: boolean>[string: any] => y: string",
        "A value as JSON on several lines.",
        json::marshal_with_options,
    ).listed(&["encoding"]),
    Builtin::new(
        "json.unmarshal",
        "x: string => y: any",
        "The value of a JSON text.",
        json::unmarshal,
    ).listed(&["encoding"]),
    Builtin::new(
        "urlquery.decode",
        "x: string => y: string",
        "The decoded string of a URL query component.",
        urlquery::decode,
    ).listed(&["encoding"]),
    Builtin::new(
        "urlquery.decode_object",
        "x: string => object: object[string: array[string]]",
        "The keys and values of a URL's query.",
        urlquery::decode_object,
    ).listed(&["encoding"]),
    Builtin::new(
        "urlquery.encode",
        "x: string => y: string",
        "A string, encoded as URL query component.",
        urlquery::encode,
    ).listed(&["encoding"]),
    Builtin::new(
        "urlquery.encode_object",
        "object: object[string: any<string, array[string], set[string]>] => y: string",
        "An object, encoded as URL query.",
        urlquery::encode_object,
    ).listed(&["encoding"]),
    #[cfg(feature = "formats")]
    Builtin::new(
        "yaml.is_valid",
        "x: string => result: boolean",
        "Returns `true` if a string is YAML.",
        yaml::is_valid,
    ).listed(&["encoding"]),
    #[cfg(feature = "formats")]
    Builtin::new(
        "yaml.marshal",
        "x: any => y: string",
        "A value as YAML.",
        yaml::marshal,
    ).listed(&["encoding"]),
    #[cfg(feature = "formats")]
    Builtin::new(
        "yaml.unmarshal",
        "x: string => y: any",
        "The value of a YAML text.",
        yaml::unmarshal,
    ).listed(&["encoding"]),
];
