//! Tests of numbers: texts, values and OPA's recorded results.

use std::cmp::Ordering;

use super::{ArithmeticError, Number, NumberBuf, NumberError, Product, Sum};
use crate::value::Value;
use crate::value::order::hash;

fn number(text: &str) -> NumberBuf {
    NumberBuf::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn texts_survive() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "1.0",
        "0.10",
        "-0.10",
        "0.00",
        "1e2",
        "1E+2",
        "-12.345",
        "1e-30103",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "9.99e30102",
        "0.000000000000000001",
        "0.0000000000000000001",
        "1e-999999999",
        "0e99999999",
        "12345678901234567890.12345678901234567890",
        "922337203685477580.8",
        "1e30102",
    ] {
        assert_eq!(number(text).to_string(), text);
    }
}

#[test]
fn invalid_and_oversized_numbers() {
    use NumberError::{Exponent, Syntax, TooBig};
    for (text, error) in [
        ("", Syntax),
        ("-", Syntax),
        ("01", Syntax),
        ("-01", Syntax),
        ("1.", Syntax),
        (".5", Syntax),
        ("1e", Syntax),
        ("1e+", Syntax),
        ("+1", Syntax),
        ("1 ", Syntax),
        ("0x1", Syntax),
        ("1.5.5", Syntax),
        ("1e30103", TooBig),
        ("0.00001e30108", TooBig),
        ("1e-30104", TooBig),
        ("1e999999999", TooBig),
        ("1e9999999999", Exponent),
        ("1e-99999999999999999999", Exponent),
        ("0e99999999999999999999", Exponent),
    ] {
        assert_eq!(NumberBuf::read(text).err(), Some(error), "{text}");
    }
}

#[test]
fn order_equality_and_hash_go_by_value() {
    let ascending: &[&[&str]] = &[
        &["-1e400", "-10e399"],
        &["-9223372036854775809"],
        &["-9223372036854775808", "-9223372036854775808.0"],
        &["-1.5", "-1.50", "-15e-1"],
        &["0", "-0", "0.0", "-0.0", "0e5", "1e-999999999"],
        &["1e-30100", "0.1e-30099"],
        &["0.000000000000000001", "1e-18"],
        &["0.1", "0.10", "1e-1"],
        &["0.3"],
        &["0.30000000000000000000000000000000001"],
        &["1", "1.0", "1e0", "10e-1", "0.1e1"],
        &["1.5", "150e-2"],
        &["10", "10.0", "1e1"],
        &["922337203685477580.7", "9223372036854775807e-1"],
        &["9223372036854775807"],
        &[
            "9223372036854775808",
            "9223372036854775808.0",
            "9.223372036854775808e18",
        ],
        &["1e400", "10e399"],
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
                let order = number(a).as_number().compare(number(b).as_number());
                assert_eq!(order, i.cmp(&j), "{a} and {b}");
                if order == Ordering::Equal {
                    let (a, b) = (Value::number(number(a)), Value::number(number(b)));
                    assert_eq!(
                        hash(a.borrow()),
                        hash(b.borrow()),
                        "{a} and {b}",
                        a = a.rego_text()
                    );
                }
            }
        }
    }
}

#[test]
fn integers_in_any_notation() {
    for (text, index) in [
        ("1", 1),
        ("1.0", 1),
        ("1e0", 1),
        ("10e-1", 1),
        ("-0", 0),
        ("1.0e2", 100),
    ] {
        assert_eq!(number(text).as_number().as_index(), Some(index), "{text}");
    }
    for text in ["1.5", "-1", "1e-1", "1e30", "-1.0"] {
        assert_eq!(number(text).as_number().as_index(), None, "{text}");
    }
    let big = number("1.5e30")
        .as_number()
        .to_bigint()
        .map(|i| i.to_string());
    assert_eq!(big.as_deref(), Some("1500000000000000000000000000000"));
    assert_eq!(
        number("-9223372036854775808.0").as_number().to_i64(),
        Some(i64::MIN)
    );
    assert!(number("0.0").as_number().is_integer() && !number("0.5").as_number().is_integer());
    assert!(number("-0.5").as_number().to_bigint().is_none());
}

/// Returns the result of a Rego operation as text.
fn apply(operation: &str, operands: &[NumberBuf]) -> String {
    let operands: Vec<Number<'_>> = operands.iter().map(NumberBuf::as_number).collect();
    let text = |outcome: Result<NumberBuf, ArithmeticError>| match outcome {
        Ok(number) => number.to_string(),
        Err(error) => error.to_string(),
    };
    match (operation, operands.as_slice()) {
        ("plus", [a, b]) => text(a.plus(*b)),
        ("minus", [a, b]) => text(a.minus(*b)),
        ("mul", [a, b]) => text(a.times(*b)),
        ("div", [a, b]) => text(a.divide(*b)),
        ("rem", [a, b]) => text(a.rem(*b)),
        ("abs", [a]) => a.abs().to_string(),
        ("round", [a]) => a.round().to_string(),
        ("ceil", [a]) => a.ceil().to_string(),
        ("floor", [a]) => a.floor().to_string(),
        ("compare", [a, b]) => (a.compare(*b) as i8).to_string(),
        ("bits.and", [a, b]) => a.bit_and(*b).map_or("undefined".into(), |n| n.to_string()),
        ("bits.or", [a, b]) => a.bit_or(*b).map_or("undefined".into(), |n| n.to_string()),
        ("bits.xor", [a, b]) => a.bit_xor(*b).map_or("undefined".into(), |n| n.to_string()),
        ("bits.negate", [a]) => a.bit_not().map_or("undefined".into(), |n| n.to_string()),
        ("sum", numbers) => {
            let mut sum = Sum::default();
            for n in numbers {
                sum.add(*n);
            }
            text(sum.finish())
        }
        ("product", numbers) => {
            let mut product = Product::default();
            let outcome = numbers.iter().try_for_each(|n| product.multiply(*n));
            text(outcome.and_then(|()| product.finish()))
        }
        _ => panic!("no such operation: {operation} of {}", operands.len()),
    }
}

/// Results recorded from OPA.
#[test]
fn arithmetic_is_that_of_opa() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/numbers");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let cases: Vec<(String, Vec<String>, String)> = serde_json::from_str(&text).unwrap();
        for (operation, operands, expected) in cases {
            let numbers: Vec<NumberBuf> = operands.iter().map(|text| number(text)).collect();
            let actual = apply(&operation, &numbers);
            count += 1;
            if actual != expected {
                wrong.push(format!(
                    "{operation}({}) is {actual}, want {expected}",
                    operands.join(", ")
                ));
            }
        }
    }
    assert!(count > 300);
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn decimals_behave_like_their_texts() {
    let coefficients = [
        0,
        1,
        5,
        10,
        12,
        100,
        125,
        1_000,
        250_000,
        999_999_999,
        1_000_000_007,
        9_007_199_254_740_993,
        123_456_789_012_345_678,
        1_000_000_000_000_000_000,
        i64::MAX,
    ];
    for coefficient in coefficients.into_iter().flat_map(|c| [c, -c]) {
        for scale in 1..=18_u8 {
            let decimal = Number::Decimal(scale, coefficient);
            let text = format!("{coefficient}e-{scale}");
            let text = Number::Text(&text);
            assert_eq!(decimal.is_integer(), text.is_integer(), "{decimal}");
            assert_eq!(decimal.to_i64(), text.to_i64(), "{decimal}");
            assert_eq!(decimal.to_bigint(), text.to_bigint(), "{decimal}");
            assert_eq!(
                decimal.to_f64().to_bits(),
                text.to_f64().to_bits(),
                "{decimal}"
            );
            assert_eq!(super::float::Float::from(decimal), text.into(), "{decimal}");
            let hash = |number: Number<'_>| hash(Value::number(NumberBuf::from(number)).borrow());
            assert_eq!(hash(decimal), hash(text), "{decimal}");
        }
    }
}
