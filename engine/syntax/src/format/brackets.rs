//! Rows of closing brackets, as OPA's formatter finds them: it counts brackets in the text, including those in strings
//! and comments, and ignores line breaks outside of the brackets. If the resulting row is too small, a comment before
//! the closing bracket moves after it.

/// Returns how many rows below the start of `text` its first bracket closes, or `None` if `text` has none.
pub(super) fn closing_row(text: &str, open: u8, close: u8) -> Option<u32> {
    let mut scan = Scan::new(text);
    scan.pass(open, close)?;
    Some(scan.rows)
}

/// Returns how many rows below the start of `text` its second pair of brackets closes: the braces of a body after the
/// arguments or the key of its head.
pub(super) fn closing_row_after(text: &str, skip: (u8, u8), open: u8, close: u8) -> Option<u32> {
    let mut scan = Scan::new(text);
    scan.pass(skip.0, skip.1)?;
    scan.pass(open, close)?;
    Some(scan.rows)
}

struct Scan<'t> {
    bytes: std::slice::Iter<'t, u8>,
    rows: u32,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes().iter(),
            rows: 0,
        }
    }

    /// Skips the next pair of brackets and counts the line breaks between the two.
    fn pass(&mut self, open: u8, close: u8) -> Option<()> {
        self.bytes.find(|byte| **byte == open)?;
        let mut depth = 1_u32;
        while depth > 0 {
            match *self.bytes.next()? {
                byte if byte == open => depth += 1,
                byte if byte == close => depth -= 1,
                b'\n' => self.rows += 1,
                _ => {}
            }
        }
        Some(())
    }
}
