//! The format `email`: one mailbox as in RFC 5322, with names, comments and groups.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns `true` if a text is a single address.
pub fn is_address(text: &str) -> bool {
    let mut reader = EmailParser { rest: text };
    reader.address(true) == Some(1) && reader.skip_comments().is_some() && reader.rest.is_empty()
}

/// A recursive descent parser. Each method returns `None` if the text does not match.
#[derive(Clone, Copy)]
struct EmailParser<'t> {
    rest: &'t str,
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

impl<'t> EmailParser<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn eat(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn take(&mut self, matches: impl Fn(char) -> bool) -> &'t str {
        let unmatched = self.rest.trim_start_matches(matches);
        let matched = self.rest.strip_suffix(unmatched).unwrap_or_default();
        self.rest = unmatched;
        matched
    }

    fn skip_blanks(&mut self) {
        self.take(is_blank);
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_blanks();
        while self.peek() == Some('(') {
            self.comment()?;
            self.skip_blanks();
        }
        Some(())
    }

    fn comment(&mut self) -> Option<&'t str> {
        self.eat('(')?;
        let start = self.rest;
        let mut depth = 1;
        let mut characters = start.char_indices();
        while let Some((offset, c)) = characters.next() {
            match c {
                '\\' => _ = characters.next(),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = characters.as_str();
                return start.get(..offset);
            }
        }
        None
    }

    /// Parses an address or a group. Returns the number of addresses.
    fn address(&mut self, may_be_group: bool) -> Option<usize> {
        self.skip_blanks();
        let mut ahead = *self;
        if ahead.plain().is_some() {
            *self = ahead;
            self.skip_blanks();
            if self.peek() == Some('(') {
                let comment_words = self.comment()?.split(is_blank);
                if comment_words.into_iter().any(is_foreign) {
                    return None;
                }
            }
            return Some(1);
        }
        if self.peek() != Some('<') {
            self.phrase()?;
        }
        self.skip_blanks();
        if may_be_group && self.eat(':').is_some() {
            return self.group();
        }
        self.eat('<')?;
        self.plain()?;
        self.eat('>')?;
        Some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_blanks();
        if self.eat(';').is_some() {
            self.skip_comments()?;
            return Some(0);
        }
        let mut members = 0;
        loop {
            self.skip_blanks();
            members += self.address(false)?;
            self.skip_comments()?;
            if self.eat(';').is_some() {
                self.skip_comments()?;
                return Some(members);
            }
            self.eat(',')?;
        }
    }

    /// Parses `local@domain`.
    fn plain(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.peek() == Some('"') {
            self.quoted_string().filter(|text| !text.is_empty())?;
        } else {
            dotted(self.atom()?)?;
        }
        self.eat('@')?;
        self.skip_blanks();
        if self.eat('[').is_some() {
            let address = self.take(|c| is_visible(c) && !"[]\\".contains(c));
            self.eat(']')?;
            return address.parse::<IpAddr>().ok().map(drop);
        }
        dotted(self.atom()?)
    }

    /// Parses the words before an address.
    fn phrase(&mut self) -> Option<()> {
        let mut some = false;
        loop {
            if some {
                self.skip_comments()?;
            }
            self.skip_blanks();
            let phrase_word = if self.peek() == Some('"') {
                self.quoted_string()
            } else {
                self.atom().filter(|atom| !is_foreign(atom))
            };
            match phrase_word {
                Some(_) => some = true,
                None => return some.then_some(()),
            }
        }
    }

    fn atom(&mut self) -> Option<&'t str> {
        let atom = self.take(|c| is_visible(c) && !"()<>[]:;@\\,\"".contains(c));
        (!atom.is_empty()).then_some(atom)
    }

    fn quoted_string(&mut self) -> Option<&'t str> {
        let start = self.rest.strip_prefix('"')?;
        let mut characters = start.char_indices();
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = characters.as_str();
                    return start.get(..offset);
                }
                '\\' => {
                    let (_, escaped) = characters.next()?;
                    (is_visible(escaped) || is_blank(escaped)).then_some(())?;
                }
                _ => (is_visible(c) || is_blank(c)).then_some(())?,
            }
        }
        None
    }
}

/// Checks that dots in an atom are neither at an end nor adjacent.
fn dotted(atom: &str) -> Option<()> {
    let wrong = atom.starts_with('.') || atom.ends_with('.') || atom.contains("..");
    (!wrong).then_some(())
}

/// Returns `true` if a word is encoded in an unsupported character set.
fn is_foreign(text: &str) -> bool {
    let encoded = || {
        let inner = text.strip_prefix("=?")?.strip_suffix("?=")?;
        let mut parts = inner.split('?');
        let (set, encoding, text) = (parts.next()?, parts.next()?, parts.next()?);
        let valid = match encoding {
            "q" | "Q" => is_quoted_printable(text),
            "b" | "B" => STANDARD.decode(text).is_ok(),
            _ => false,
        };
        let is_complete = parts.next().is_none() && !set.is_empty() && valid;
        is_complete.then_some(set)
    };
    encoded().is_some_and(|set| {
        let supported = ["utf-8", "iso-8859-1", "us-ascii"];
        !supported
            .iter()
            .any(|character_set| set.eq_ignore_ascii_case(character_set))
    })
}

fn is_quoted_printable(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let valid = match byte {
            b'=' => {
                let mut digit = || bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit());
                digit() && digit()
            }
            _ => byte.is_ascii_graphic() || b" \n\r\t".contains(&byte),
        };
        if !valid {
            return false;
        }
    }
    true
}
