//! UUIDs of version 4 from random numbers.

/// Returns the text of a random UUID. Six bits of `random` are replaced by version and variant.
pub fn of_random(random: u128) -> String {
    let number = random & !(0xf000 << 64) & !(0xc000 << 48) | 0x4000 << 64 | 0x8000 << 48;
    let mut text = [0_u8; 36];
    let mut shift = 128_u32;
    for (index, byte) in text.iter_mut().enumerate() {
        if matches!(index, 8 | 13 | 18 | 23) {
            *byte = b'-';
            continue;
        }
        shift = shift.saturating_sub(4);
        let digit = u8::try_from(number >> shift & 0xf).unwrap_or(0);
        *byte = if digit < 10 {
            b'0' + digit
        } else {
            b'a' + digit - 10
        };
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::of_random;

    #[test]
    fn version_and_variant_replace_bits() {
        assert_eq!(of_random(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(of_random(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(
            of_random(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef),
            "01234567-89ab-4def-8123-456789abcdef"
        );
    }
}
