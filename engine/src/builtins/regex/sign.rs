//! Punctuation that a match must contain, such as the `@` of addresses or the `=` of assignments. Searching for one
//! byte is much faster than running an automaton that has to start at each character.

use regex_syntax::hir::{Hir, HirKind};

/// Returns the rarest punctuation character that every match contains, or `None` if none is known.
pub(super) fn rarest_sign(hir: &Hir) -> Option<u8> {
    required_signs(hir).min_by_key(|sign| commonness(*sign))
}

/// Ranks a character by frequency. Letters and digits are too frequent to be selective.
fn commonness(sign: u8) -> u8 {
    match sign {
        b'@' | b'=' | b'#' | b'$' | b'{' | b'}' | b'<' | b'>' | b'%' | b'!' | b'?' => 0,
        b'/' | b'_' | b',' | b';' | b'(' | b')' | b'"' | b'\'' => 1,
        _ => 2,
    }
}

/// Returns the punctuation characters that every match contains.
fn required_signs(hir: &Hir) -> Box<dyn Iterator<Item = u8> + '_> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let bytes = literal.0.iter().copied();
            Box::new(bytes.filter(u8::is_ascii_punctuation))
        }
        HirKind::Concat(parts) => Box::new(parts.iter().flat_map(required_signs)),
        HirKind::Capture(group) => required_signs(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => required_signs(&repeated.sub),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::Syntax;
    use super::rarest_sign;

    #[test]
    fn the_rarest_sign_is_extracted() {
        for (pattern, expected) in [
            (r"[a-z.]+@[a-z]+\.[a-z]{2,}", Some(b'@')),
            (r"(?i)(password|token)=\S+", Some(b'=')),
            (r"\b\d{1,3}(\.\d{1,3}){3}\b", Some(b'.')),
            (r"(?:\d{4}[ -]?){3}\d{4}", None),
            (r"(x@)?y", None),
            (r"a@|b@", None),
            (r"(x@)*y", None),
            (r"[@]b", Some(b'@')),
            ("abc", None),
        ] {
            let sign = Syntax::parse(pattern).map(|syntax| rarest_sign(&syntax.hir));
            assert!(sign.is_ok_and(|sign| sign == expected), "{pattern}");
        }
    }
}
