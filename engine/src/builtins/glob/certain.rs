//! Necessary conditions of the strings that match a glob, used to exclude globs that cannot match.

use super::syntax::{Piece, parse};

/// Properties of all strings that match.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Certain {
    pub start: String,
    pub end: String,
    /// Segments between delimiters, as far as they are determined from the start. `None` matches anything.
    pub segments: Vec<Option<String>>,
    /// `true` if the list is complete.
    pub whole: bool,
}

impl Certain {
    /// Returns the properties for a glob with delimiters, or `None` if the pattern is invalid.
    pub fn from_pattern(pattern: &str, delimiters: &[char]) -> Option<Self> {
        let pieces = parse(pattern.as_bytes()).ok()?;
        let text = |piece: Option<&Piece>| match piece {
            // invalid UTF-8 is matched as if it were this character
            Some(Piece::Text(text)) if !text.contains('\u{FFFD}') => text.clone(),
            _ => String::new(),
        };
        let mut certain = Self {
            start: text(pieces.first()),
            end: text(pieces.last()),
            ..Self::default()
        };
        if !delimiters.is_empty() && !pattern.contains('\u{FFFD}') {
            certain.divide(&pieces, delimiters);
        }
        Some(certain)
    }

    fn divide(&mut self, pieces: &[Piece], delimiters: &[char]) {
        let mut segment = Some(String::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    for c in text.chars() {
                        if delimiters.contains(&c) {
                            self.segments.push(segment.take());
                            segment = Some(String::new());
                        } else if let Some(segment) = &mut segment {
                            segment.push(c);
                        }
                    }
                }
                Piece::One | Piece::Run => segment = None,
                // these match delimiters, too
                Piece::Everything | Piece::Class { .. } | Piece::Choice(_) => return,
            }
        }
        self.segments.push(segment);
        self.whole = true;
    }
}

#[cfg(test)]
mod tests {
    use super::Certain;

    fn certain(pattern: &str) -> (String, String, Vec<Option<String>>, bool) {
        let Certain {
            start,
            end,
            segments,
            whole,
        } = Certain::from_pattern(pattern, &['/']).unwrap_or_default();
        (start, end, segments, whole)
    }

    #[test]
    fn segments_end_at_the_first_part_that_matches_a_delimiter() {
        let text = |text: &str| Some(text.to_owned());
        let segments = vec![text(""), text("a"), None, text("b")];
        assert_eq!(
            certain("/a/*/b"),
            ("/a/".into(), "/b".into(), segments, true)
        );
        let segments = vec![text("a")];
        assert_eq!(
            certain("a/x**/b"),
            ("a/x".into(), "/b".into(), segments, false)
        );
        assert_eq!(
            certain("{a,b}/c"),
            (String::new(), "/c".into(), vec![], false)
        );
        assert_eq!(
            certain("?/[a-z]"),
            (String::new(), String::new(), vec![None], false)
        );
    }
}
