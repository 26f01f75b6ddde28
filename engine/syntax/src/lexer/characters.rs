//! Characters of names and within lines.

/// Returns `true` for characters that names may start with: ASCII letters and underscores.
pub(super) fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Returns `true` if a byte is an ASCII character within a line, apart from NUL.
#[inline]
pub(super) fn is_plain(byte: u8) -> bool {
    !matches!(byte, 0 | b'\n' | 0x80..)
}

#[inline]
pub(super) fn is_plain_name(byte: u8) -> bool {
    static NAMES: [bool; 256] = {
        let mut names = [false; 256];
        let mut byte = 0_u8;
        while byte.is_ascii() {
            #[expect(clippy::indexing_slicing, reason = "one for each byte")]
            {
                names[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
            }
            byte += 1;
        }
        names
    };
    NAMES.get(usize::from(byte)) == Some(&true)
}

/// Returns `true` for decimal digits of any script, which names may contain.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && is_decimal_of_another_script(c))
}

fn is_decimal_of_another_script(c: char) -> bool {
    let code = u32::from(c);
    match ZEROS.binary_search(&code) {
        Ok(_) => true,
        Err(0) => false,
        Err(next) => ZEROS.get(next - 1).is_some_and(|zero| code - zero < 10),
    }
}

/// Zeros of the decimal digits in Unicode 15. The nine digits after each zero follow it.
#[rustfmt::skip]
const ZEROS: [u32; 67] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
    0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950, 0x1fbf0,
];
