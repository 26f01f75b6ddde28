//! Strings. Positions and lengths count characters, see [`super::runes`] for strings with invalid UTF-8.

mod affix;
mod case;
mod replace;
mod search;
mod split;
mod trim;

pub use affix::AffixCache;

use super::{Builtin, IndexTest, TextRelation};
pub use case::{simple_lower, simple_upper};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "concat",
        "delimiter: string, collection: any<array[string], set[string]> => output: string",
        "Joins strings, with a delimiter between them.",
        split::concat,
    ).listed(&["strings"]),
    Builtin::new(
        "contains",
        "haystack: string, needle: string => result: boolean",
        "Returns `true` if a string contains another.",
        search::contains,
    ).listed(&["strings"]).relating(TextRelation::Contains)
    .specialise(search::prepare_contains),
    Builtin::new(
        "endswith",
        "search: string, base: string => result: boolean",
        "Returns `true` if a string ends with another.",
        affix::endswith,
    ).listed(&["strings"]).testing(IndexTest::Suffix).relating(TextRelation::Ends),
    Builtin::new(
        "indexof",
        "haystack: string, needle: string => output: number",
        "Index of a string's first occurrence in another, -1 if there is none.",
        search::indexof,
    ).listed(&["strings"])
    .specialise(search::prepare_indexof),
    Builtin::new(
        "indexof_n",
        "haystack: string, needle: string => output: array[number]",
        "Indexes of all occurrences of a string in another, including overlapping ones.",
        search::indexof_n,
    ).listed(&["strings"]),
    Builtin::new(
        "lower",
        "x: string => y: string",
        "The string in lower case.",
        case::lower,
    ).listed(&["strings"]),
    Builtin::new(
        "replace",
        "x: string, old: string, new: string => y: string",
        "The string with every occurrence of one string replaced by another.",
        replace::replace,
    ).listed(&["strings"]),
    Builtin::new(
        "split",
        "x: string, delimiter: string => ys: array[string]",
        "The parts of a string between occurrences of a delimiter.",
        split::split,
    ).listed(&["strings"]).testing(IndexTest::Split),
    Builtin::new(
        "startswith",
        "search: string, base: string => result: boolean",
        "Returns `true` if a string starts with another.",
        affix::startswith,
    ).listed(&["strings"]).testing(IndexTest::Prefix).relating(TextRelation::Starts),
    Builtin::new(
        "strings.any_prefix_match",
        "search: any<string, array[string], set[string]>, base: any<string, array[string], set[string]> => result: boolean",
        "Returns `true` if any of some strings starts with any of some prefixes.",
        affix::any_prefix_match,
    ).listed(&["strings"]).testing(IndexTest::Prefix)
    .specialise(affix::prepare_any_prefix),
    Builtin::new(
        "strings.any_suffix_match",
        "search: any<string, array[string], set[string]>, base: any<string, array[string], set[string]> => result: boolean",
        "Returns `true` if any of some strings ends with any of some suffixes.",
        affix::any_suffix_match,
    ).listed(&["strings"]).testing(IndexTest::Suffix)
    .specialise(affix::prepare_any_suffix),
    Builtin::new(
        "strings.count",
        "search: string, substring: string => output: number",
        "The number of non-overlapping occurrences of a string in another.",
        search::count,
    ).listed(&["strings"]),
    Builtin::new(
        "strings.replace_n",
        "patterns: object[string: string], value: string => output: string",
        "The string with every occurrence of an object's keys replaced by their values.",
        replace::replace_n,
    ),
    Builtin::new(
        "strings.reverse",
        "x: string => y: string",
        "The characters of a string in reverse order.",
        case::reverse,
    ).listed(&["strings"]),
    Builtin::new(
        "strings.split_n",
        "x: string, delimiter: string, n: number => ys: array[string]",
        "The first or, for a negative number, the last parts of a string between occurrences of a delimiter.",
        split::split_n,
    ).listed(&["strings"]),
    Builtin::new(
        "substring",
        "value: string, offset: number, length: number => output: string",
        "The substring at an offset with a length, or to the end if the length is negative.",
        search::substring,
    ).listed(&["strings"]),
    Builtin::new(
        "trim",
        "value: string, cutset: string => output: string",
        "The string without any of the given characters at its ends.",
        trim::trim,
    ).listed(&["strings"]),
    Builtin::new(
        "trim_left",
        "value: string, cutset: string => output: string",
        "The string without any of the given characters at its start.",
        trim::trim_left,
    ).listed(&["strings"]),
    Builtin::new(
        "trim_prefix",
        "value: string, prefix: string => output: string",
        "The string without a prefix.",
        trim::trim_prefix,
    ).listed(&["strings"]),
    Builtin::new(
        "trim_right",
        "value: string, cutset: string => output: string",
        "The string without any of the given characters at its end.",
        trim::trim_right,
    ).listed(&["strings"]),
    Builtin::new(
        "trim_space",
        "value: string => output: string",
        "The string without white space at its ends.",
        trim::trim_space,
    ).listed(&["strings"]),
    Builtin::new(
        "trim_suffix",
        "value: string, suffix: string => output: string",
        "The string without a suffix.",
        trim::trim_suffix,
    ).listed(&["strings"]),
    Builtin::new(
        "upper",
        "x: string => y: string",
        "The string in upper case.",
        case::upper,
    ).listed(&["strings"]),
];
