//! Checks of Go's parser before parsing: invalid characters and unknown directives.

use super::error::YamlError;

/// Returns libyaml's error for bytes that are not UTF-8. `error` is the position.
pub fn octets(bytes: &[u8], error: std::str::Utf8Error) -> YamlError {
    let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
    YamlError::yaml(octet_problem(rest))
}

fn octet_problem(bytes: &[u8]) -> &'static str {
    let Some((first, rest)) = bytes.split_first() else {
        return "incomplete UTF-8 octet sequence";
    };
    let (width, bits) = match first {
        0x00..0x80 => (1, *first),
        0xc0..0xe0 => (2, first & 0x1f),
        0xe0..0xf0 => (3, first & 0x0f),
        0xf0..0xf8 => (4, first & 0x07),
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(rest) = rest.get(..width - 1) else {
        return "incomplete UTF-8 octet sequence";
    };
    let mut code = u32::from(bits);
    for byte in rest {
        if byte & 0xc0 != 0x80 {
            return "invalid trailing UTF-8 octet";
        }
        code = code << 6 | u32::from(byte & 0x3f);
    }
    let fits = match width {
        2 => code >= 0x80,
        3 => code >= 0x800,
        _ => code >= 0x1_0000,
    };
    if fits {
        "invalid Unicode character"
    } else {
        "invalid length of a UTF-8 sequence"
    }
}

/// Checks the directives before the first document.
pub fn directives(text: &str) -> Result<(), YamlError> {
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(directive) = line.strip_prefix('%') else {
            break;
        };
        if let Some(problem) = directive_problem(directive) {
            let prefix = match number {
                0 => String::new(),
                _ => format!("line {}: ", number + 1),
            };
            return Err(YamlError::yaml(format_args!("{prefix}{problem}")));
        }
    }
    Ok(())
}

/// Removes blanks after the last line end, if a block of literal or folded text ends there and is indented further than
/// they are. They are not part of the block, but with them the parser treats the line end before as missing.
pub fn without_last_blanks(text: &str) -> &str {
    let rest = text.trim_end_matches(' ');
    let blanks = text.len() - rest.len();
    if blanks == 0 || !rest.ends_with('\n') {
        return text;
    }
    let mut indentation = None;
    for line in rest.lines().rev() {
        let indented = line.trim_start_matches(' ');
        if indented.is_empty() {
            continue;
        }
        match indentation {
            Some(block_indentation) if begins_block(line) => {
                return if blanks < block_indentation {
                    rest
                } else {
                    text
                };
            }
            // no line of a block is indented less than its first one
            _ => indentation = Some(line.len() - indented.len()),
        }
        if indentation == Some(0) {
            break;
        }
    }
    text
}

/// Returns `true` if a block of text may start after a line.
fn begins_block(line: &str) -> bool {
    let line = line.split_once(" #").map_or(line, |(line, _)| line);
    let line = line.trim_end_matches([' ', '\t']);
    let style = line.trim_end_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    style.ends_with(['|', '>'])
}

fn directive_problem(directive: &str) -> Option<&'static str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = directive.find(|c| !is_name(c)).unwrap_or(directive.len());
    let (name, rest) = directive.split_at(end);
    match name {
        "" => Some("could not find expected directive name"),
        "YAML" => version_problem(rest.trim_start_matches([' ', '\t'])),
        "TAG" => None,
        _ if rest.starts_with(|c: char| !c.is_whitespace()) => {
            Some("found unexpected non-alphabetical character")
        }
        _ => Some("found unknown directive name"),
    }
}

fn version_problem(version: &str) -> Option<&'static str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = version.split_at_checked(digits(version))?;
    if major.is_empty() {
        return Some("did not find expected version number");
    }
    let Some(rest) = rest.strip_prefix('.') else {
        return Some("did not find expected digit or '.' character");
    };
    let (minor, _) = rest.split_at_checked(digits(rest))?;
    if minor.is_empty() {
        return Some("did not find expected version number");
    }
    (major != "1" || minor != "1").then_some("found incompatible YAML document")
}
