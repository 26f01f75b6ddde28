//! Choices determined by bytes.

/// Remaining bytes. Without any, every choice is the first one, so that everything built from them is finite.
pub struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// Returns a number less than `count`, which is at most 65,536.
    pub fn less_than(&mut self, count: usize) -> usize {
        let high = if count > 256 {
            usize::from(self.byte()) << 8
        } else {
            0
        };
        (high | usize::from(self.byte())) % count.max(1)
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.less_than(list.len())]
    }

    /// Returns `true` for unusual cases.
    pub fn rarely(&mut self) -> bool {
        self.byte() % 8 == 7
    }

    pub fn integer(&mut self) -> i64 {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = self.byte();
        }
        i64::from_le_bytes(bytes)
    }

    /// Returns up to 15 bytes as text.
    pub fn text(&mut self) -> String {
        let length = self.less_than(16).min(self.bytes.len());
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}
