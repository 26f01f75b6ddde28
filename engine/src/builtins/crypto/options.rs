//! Options of certificate verification.

use super::certificate::extensions::KEY_USAGES;
use super::chain::VerifyOptions;
use crate::builtins::operands::plain_int;
use crate::builtins::{BuiltinContext, BuiltinError, Members};
use crate::value::{ObjectView, TextView, ValueRef};

/// Parses the options, in the order of their names.
pub fn read<'e>(
    call: &BuiltinContext<'e>,
    options_object: ObjectView<'e>,
) -> Result<VerifyOptions<'e>, BuiltinError> {
    let mut options = VerifyOptions::for_servers_at(call.now_ns());
    for (name, value) in options_object.iter() {
        let key = name.as_text();
        match key.as_ref().map(TextView::as_bytes) {
            Some(b"CurrentTime") => {
                options.now_ns = value
                    .as_number()
                    .ok_or_else(|| BuiltinError::error("'CurrentTime' should be a number"))
                    .and_then(|number| {
                        plain_int(number).ok_or_else(|| {
                            BuiltinError::error("'CurrentTime' should be a valid int64 number")
                        })
                    })?;
            }
            Some(b"DNSName") => {
                let host = value
                    .as_text()
                    .ok_or_else(|| BuiltinError::error("'DNSName' should be a string"))?;
                options.host = call.arena.bump().alloc_str(&host.to_str());
            }
            Some(b"KeyUsages") => options.uses = uses(value)?,
            Some(b"MaxConstraintComparisons") => {
                let number = value.as_number().ok_or_else(|| {
                    BuiltinError::error("'MaxConstraintComparisons' should be a number")
                })?;
                // Go no longer applies this limit
                plain_int(number).ok_or_else(|| {
                    BuiltinError::error("'MaxConstraintComparisons' should be a valid number")
                })?;
            }
            Some(_) => return Err(BuiltinError::error("invalid key option")),
            None => {}
        }
    }
    Ok(options)
}

/// Returns the numbers of the named usages.
fn uses(value: ValueRef<'_>) -> Result<Vec<i64>, BuiltinError> {
    let names = Members::from_value(value)
        .ok_or_else(|| BuiltinError::error("'KeyUsages' should be an Array or Set"))?;
    let (mut uses, mut invalid) = (Vec::new(), Vec::new());
    // values that are not strings are ignored
    for name in names.iter().filter_map(|value| value.as_text()) {
        let position = KEY_USAGES
            .iter()
            .position(|(_, usage_name)| usage_name.as_bytes() == name.as_bytes());
        match position.and_then(|index| i64::try_from(index).ok()) {
            Some(number) => uses.push(number),
            None => invalid.push(name.to_str().into_owned()),
        }
    }
    if !invalid.is_empty() {
        return Err(BuiltinError::error(format!(
            "invalid entries for 'KeyUsages' found: [{}]",
            invalid.join(" ")
        )));
    }
    Ok(uses)
}
