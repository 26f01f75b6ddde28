//! Checks the consistency of RSA keys, in Go's order and with Go's messages.

use num_bigint::BigUint;

use super::rsa::RsaPrivate;

/// Number of bits of an arithmetic word.
const LIMB: u64 = 64;

impl RsaPrivate {
    /// Returns the error of an inconsistent key, or `None` if the key is consistent.
    pub fn inconsistency(&self) -> Option<&'static str> {
        self.check().err()
    }

    #[expect(clippy::many_single_char_names, reason = "the letters of RSA")]
    fn check(&self) -> Result<(), &'static str> {
        let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
        let one = BigUint::from(1_u8);
        let (n, d) = (number(&self.public.n), number(&self.d));
        let [p, q] = self.primes.each_ref().map(|prime| number(prime));
        if [&n, &p, &q].iter().any(|modulus| **modulus <= one) {
            return Err("modulus must be > 1");
        }
        check_below_modulus(&d, &n)?;
        let (p_1, q_1) = (&p - &one, &q - &one);
        let (dp, dq, inverse) = match &self.shortcuts {
            [Some(dp), Some(dq), Some(inverse)] => {
                let inverse = number(inverse);
                check_below_modulus(&inverse, &p)?;
                (number(dp), number(dq), inverse)
            }
            _ => {
                if p_1 == one || q_1 == one {
                    return Err("modulus must be > 1");
                }
                if !p.bit(0) {
                    return Err("crypto/rsa: p is even");
                }
                // a factor without an inverse is not a factor, which the last check reports
                let inverse = q.modinv(&p).unwrap_or_default();
                (&d % &p_1, &d % &q_1, inverse)
            }
        };
        self.check_public(&n)?;
        if p >= n || q >= n {
            return Err("crypto/rsa: invalid prime");
        }
        if &p * &q % &n != BigUint::ZERO {
            return Err("crypto/rsa: p * q != n");
        }
        let e = number(&self.public.e);
        for (exponent, order) in [(&dp, &p_1), (&dq, &q_1)] {
            if *order <= one {
                return Err("crypto/rsa: invalid prime");
            }
            if exponent >= order || exponent * &e % order != one {
                return Err("crypto/rsa: invalid CRT exponent");
            }
        }
        if &q * &inverse % &p != one {
            return Err("crypto/rsa: invalid CRT coefficient");
        }
        if &d % &p_1 != dp {
            return Err("crypto/rsa: d does not match dP");
        }
        if &d % &q_1 != dq {
            return Err("crypto/rsa: d does not match dQ");
        }
        check_sizes(&n, &d, &p, &q)
    }

    fn check_public(&self, n: &BigUint) -> Result<(), &'static str> {
        const LARGEST: u32 = i32::MAX.cast_unsigned();
        if !n.bit(0) {
            return Err("crypto/rsa: public modulus is even");
        }
        let e = BigUint::from_bytes_be(&self.public.e);
        if e < BigUint::from(2_u8) {
            return Err("crypto/rsa: public exponent too small or negative");
        }
        if !e.bit(0) {
            return Err("crypto/rsa: public exponent is even");
        }
        if e > BigUint::from(LARGEST) {
            return Err("crypto/rsa: public exponent too large");
        }
        Ok(())
    }
}

/// Checks the sizes: factors that are close to each other and small exponents make a key insecure.
fn check_sizes(n: &BigUint, d: &BigUint, p: &BigUint, q: &BigUint) -> Result<(), &'static str> {
    const DISTANCE: u64 = 100;
    if p == q {
        return Err("crypto/rsa: p == q");
    }
    let difference = if p > q { p - q } else { q - p };
    let half = n.bits() / 2;
    if difference.bits().saturating_add(DISTANCE) <= half {
        return Err("crypto/rsa: |p - q| too small");
    }
    if d.bits() <= half {
        return Err("crypto/rsa: d too small");
    }
    Ok(())
}

/// Checks that a number is less than a modulus. The error is Go's message.
fn check_below_modulus(number: &BigUint, modulus: &BigUint) -> Result<(), &'static str> {
    if number.bits().div_ceil(LIMB) > modulus.bits().div_ceil(LIMB) {
        return Err("input overflows the modulus size");
    }
    if number >= modulus {
        return Err("input overflows the modulus");
    }
    Ok(())
}
