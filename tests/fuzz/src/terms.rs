//! Terms of a type, as text.

use solon::internal::types::Type;

use crate::Choices;

/// Maximum nesting of a term.
const LEVELS: usize = 4;

/// Texts that built-ins parse: complete ones, and pieces that make others invalid.
const TEXTS: &[&str] = &[
    "",
    "a",
    "ab c",
    "é\u{301}ß",
    "\u{0}",
    "\u{10ffff}",
    "a/b/c",
    "a.b.c",
    "/a/0/-/~1",
    "%s %d %v %5.3f %x %q %[2]*d %%",
    "-",
    "0",
    "-0",
    "007",
    "1e400",
    "0x1f",
    "1_000",
    "12345678901234567890123456789",
    "NaN",
    ".5",
    "true",
    "null",
    "[1, {\"a\": [null]}]",
    "{\"a\": 1e5}",
    "a: [1, &x {b: 2}]\nc: *x\n<<: {d: 1}",
    "- |\n  text\n- >-\n  more",
    "(a|b)*c+?[^d-f]{2,3}$",
    "(?i)^\\p{Greek}\\x{10FFFF}\\Q.\\E",
    "(a*)*(b|bb)*",
    "[[:alpha:]]",
    "(",
    "\\",
    "*",
    "**.a?[!b-d]{e,f*}",
    "{a,{b,*}}",
    "1.2.3-rc.1+build",
    "v1",
    "10.0.0.0/8",
    "10.1.2.3",
    "::ffff:1.2.3.4/96",
    "fe80::%1",
    "2006-01-02T15:04:05.999999999Z07:00",
    "2024-02-29T23:59:60Z",
    "9999-12-31T23:59:59+14:00",
    "Mon Jan _2 MST 2006",
    "America/New_York",
    "UTC",
    "Local",
    "1h2m3.5s",
    "-9223372036854775808ns",
    "100MiB",
    "1.5Ki",
    "10m",
    "1e3G",
    "aGVsbG8=",
    "_-8",
    "68656c6c6f",
    "a=1&b=%20&a=2",
    "%zz",
    "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "query q($x: [Int!] = [1]) { a(x: $x) { ...f @skip(if: true) } } fragment f on T { b }",
    "type Query { a(x: [Int!]): T } type T implements I { b: String! } interface I { b: String! } union U = T",
    "package p\nq := 1",
    "$.a",
    "-----BEGIN CERTIFICATE-----",
];

/// Edge values of numbers.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "3",
    "10",
    "0.5",
    "-0",
    "1.0",
    "0.1",
    "1e2",
    "64",
    "255",
    "1000000",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e19",
    "1e308",
    "1e400",
    "1e-400",
    "-1e99999",
    "123456789012345678901234567890.5",
    "1e100001",
];

/// Terms that refer to documents.
const NAMES: &[&str] = &[
    "input",
    "input.a",
    "input.b[0]",
    "data",
    "data.t",
    "data.base",
    "data.base.list",
    "data.t.r0",
    "data.t.r1",
    "r0",
    "r1",
    "r2",
    "r3",
    "x0",
    "x1",
    "x2",
    "_",
];

/// Returns a string literal.
fn string(choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    loop {
        match choices.byte() % 4 {
            0 | 1 => text.push_str(choices.pick(TEXTS)),
            2 => text.push_str(&choices.text()),
            _ => {
                let piece = choices.pick(TEXTS);
                let cut = piece
                    .char_indices()
                    .nth(choices.less_than(12))
                    .map_or(piece.len(), |(at, _)| at);
                text.push_str(&piece[..cut]);
            }
        }
        if !choices.rarely() || text.len() > 2000 {
            return serde_json::Value::String(text).to_string();
        }
    }
}

fn number(choices: &mut Choices<'_>) -> String {
    match choices.byte() % 4 {
        0..=2 => choices.pick(NUMBERS).to_owned(),
        _ => choices.integer().to_string(),
    }
}

/// Returns a term of a type, sometimes of another one.
pub fn term(choices: &mut Choices<'_>, of: &Type) -> String {
    typed(choices, of, LEVELS)
}

/// Returns a term of any type.
pub fn any(choices: &mut Choices<'_>) -> String {
    typed(choices, &Type::Any, LEVELS)
}

fn typed(choices: &mut Choices<'_>, of: &Type, levels: usize) -> String {
    if choices.rarely() {
        return choices.pick(NAMES).to_owned();
    }
    match of {
        Type::Null => "null".to_owned(),
        Type::Boolean => choices.pick(&["false", "true"]).to_owned(),
        Type::Number => number(choices),
        Type::String => string(choices),
        Type::Array(array) => {
            let fixed: Vec<_> = array
                .fixed()
                .iter()
                .map(|of| typed(choices, of, levels))
                .collect();
            format!(
                "[{}]",
                [fixed, several(choices, array.rest(), levels)]
                    .concat()
                    .join(", ")
            )
        }
        Type::Set(set) => match several(choices, Some(set.element()), levels) {
            none if none.is_empty() => "set()".to_owned(),
            some => format!("{{{}}}", some.join(", ")),
        },
        Type::Object(object) => {
            let mut pairs: Vec<_> = object
                .fixed()
                .iter()
                .map(|(key, of)| format!("{key}: {}", typed(choices, of, levels)))
                .collect();
            if let Some((key, of)) = object.rest() {
                for _ in 0..count(choices, levels) {
                    pairs.push(format!(
                        "{}: {}",
                        typed(choices, key, levels - 1),
                        typed(choices, of, levels - 1)
                    ));
                }
            }
            format!("{{{}}}", pairs.join(", "))
        }
        Type::Union(union) => {
            let members = union.members();
            let at = choices.less_than(members.len());
            typed(choices, &members[at], levels)
        }
        _ => untyped(choices, levels),
    }
}

fn untyped(choices: &mut Choices<'_>, levels: usize) -> String {
    let kinds = if levels == 0 { 4 } else { 8 };
    match choices.less_than(kinds) {
        0 => number(choices),
        1 => string(choices),
        2 => choices.pick(&["null", "true", "false"]).to_owned(),
        3 => choices.pick(NAMES).to_owned(),
        4 => format!(
            "[{}]",
            several(choices, Some(&Type::Any), levels).join(", ")
        ),
        5 => format!(
            "{{{}}}",
            several(choices, Some(&Type::Any), levels).join(", ")
        ),
        6 => {
            let pairs: Vec<_> = (0..count(choices, levels))
                .map(|_| {
                    format!(
                        "{}: {}",
                        untyped(choices, levels - 1),
                        untyped(choices, levels - 1)
                    )
                })
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        _ => crate::rules::composed(choices, levels - 1),
    }
}

/// Returns some members of a collection.
fn several(choices: &mut Choices<'_>, of: Option<&Type>, levels: usize) -> Vec<String> {
    let Some(of) = of else {
        return Vec::new();
    };
    (0..count(choices, levels))
        .map(|_| typed(choices, of, levels - 1))
        .collect()
}

fn count(choices: &mut Choices<'_>, levels: usize) -> usize {
    if levels == 0 || choices.is_empty() {
        0
    } else {
        choices.less_than(4)
    }
}
