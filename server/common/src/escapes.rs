//! Percent escapes of URLs.

use percent_encoding::percent_decode_str;

/// Returns the bytes of the first broken escape, up to three: a percent sign without two hexadecimal digits. Decoders of URLs
/// keep broken escapes as they are.
pub fn first_invalid(text: &str) -> Option<&[u8]> {
    let mut escapes = text.match_indices('%').map(|(offset, _)| {
        let rest = text.as_bytes().get(offset..).unwrap_or_default();
        rest.get(..3).unwrap_or(rest)
    });
    escapes.find(|escape| !matches!(escape, [_, one, two] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit()))
}

/// Returns `true` if two hexadecimal digits follow each percent sign.
pub fn are_valid(text: &str) -> bool {
    first_invalid(text).is_none()
}

/// Decodes percent escapes, once. Returns `None` if one is broken or the bytes are not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    are_valid(text).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_decoded_once() {
        for (text, decoded) in [
            ("", Some("")),
            ("a b+c", Some("a b+c")),
            ("a%2Fb", Some("a/b")),
            ("a%252fb", Some("a%2fb")),
            ("%C3%a9", Some("é")),
            ("é", Some("é")),
            ("%", None),
            ("a%2", None),
            ("%2x", None),
            ("%x2", None),
            ("%+1", None),
            ("%é1", None),
            ("%FF", None),
        ] {
            assert_eq!(decode(text).as_deref(), decoded, "{text}");
        }
    }
}
