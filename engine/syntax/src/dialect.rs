//! Options of the parser: Rego version, keywords and features.

use std::sync::Arc;

use crate::ast::Version;
use crate::source::{Code, Diagnostic, Diagnostics, Span};

/// A set of the words that are keywords only in some versions or after an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Keywords(u8);

impl Keywords {
    /// The empty set: no keyword is enabled.
    pub const NONE: Self = Self(0);
    /// `in`
    pub const IN: Self = Self(1);
    /// `every`
    pub const EVERY: Self = Self(1 << 1);
    /// `contains`
    pub const CONTAINS: Self = Self(1 << 2);
    /// `if`
    pub const IF: Self = Self(1 << 3);
    /// `not` with a composite operand
    pub const NOT: Self = Self(1 << 4);
    /// `and`
    pub const AND: Self = Self(1 << 5);
    /// `or`
    pub const OR: Self = Self(1 << 6);
    /// Keywords that v1 has without an import.
    pub const V1: Self = Self(0b000_1111);
    /// `not`, `and` and `or` as keywords, which v1 has only with an import.
    pub const LOGICAL: Self = Self(0b111_0000);
    /// All keywords, including those that need an import.
    pub const ALL: Self = Self(0b111_1111);

    const NAMES: [(&'static str, Self); 7] = [
        ("and", Self::AND),
        ("contains", Self::CONTAINS),
        ("every", Self::EVERY),
        ("if", Self::IF),
        ("in", Self::IN),
        ("not", Self::NOT),
        ("or", Self::OR),
    ];

    /// Returns the set with one keyword, or `None` if `name` is not one of these keywords.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(feature_name, _)| *feature_name == name)
            .map(|(_, features)| *features)
    }

    /// Returns `true` if all keywords of `other` are in this set. Every set contains the empty one.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns `true` if any keyword of `other` is in this set. Returns `false` for the empty set.
    #[must_use]
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of both sets. `every` adds `in`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let union = self.0 | other.0;
        Self(if union & Self::EVERY.0 == 0 {
            union
        } else {
            union | Self::IN.0
        })
    }

    /// Returns the names of the keywords, sorted.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .filter(move |(_, features)| self.contains(*features))
            .map(|(name, _)| name)
    }
}

/// Language features that capabilities may remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// Keywords as segments of references.
    pub keywords_in_refs: bool,
    /// Accepts the import `rego.v1`.
    pub rego_v1: bool,
    /// Accepts the import `rego.v2`.
    pub rego_v2_import: bool,
    /// Accepts template strings, `$"…"`.
    pub template_strings: bool,
}

impl Features {
    /// Returns the features of a version. v0 has template strings only if capabilities name them.
    #[must_use]
    pub fn from_version(version: Version) -> Self {
        Self {
            keywords_in_refs: true,
            rego_v1: true,
            rego_v2_import: true,
            template_strings: version == Version::V1,
        }
    }
}

/// Options of the parser. The default is v1 with annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// Version of modules that do not specify one.
    pub version: Version,
    /// Enables parsing of METADATA blocks.
    pub annotations: bool,
    /// Keywords that modules may import.
    pub importable: Keywords,
    /// Keywords that need no import, in addition to those of the version.
    pub imported: Keywords,
    /// Language features. `None` selects those of the version.
    pub features: Option<Features>,
    /// Maximum nesting depth of terms and bodies. Values above [`ParseOptions::NESTING`] have no effect.
    pub max_nesting: u32,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            version: Version::V1,
            annotations: true,
            importable: Keywords::ALL,
            imported: Keywords::NONE,
            features: None,
            max_nesting: Self::NESTING,
        }
    }
}

impl ParseOptions {
    /// Nesting depth that every pass over a tree can process on a small thread stack.
    pub const NESTING: u32 = 400;

    /// Maximum length of a chain of operators (`a + b + …`). Each operator is nested in the left operand of the next.
    pub const CHAIN: u32 = 10_000;

    /// Maximum length of a source text in bytes. Its tokens take up to fifty times as much memory. Offsets have 32
    /// bits.
    pub const LENGTH: usize = 64 << 20;

    /// Returns the default options of a version, with annotations.
    #[must_use]
    pub fn from_version(version: Version) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// Removes everything that the capabilities do not name. Fails if the version needs a feature that they do not name.
    pub fn restricted<'a>(
        self,
        future_keywords: impl IntoIterator<Item = &'a str>,
        features: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Diagnostics> {
        let reject = |message: String| {
            Diagnostics::from(Diagnostic::new(
                Code::Parse,
                Arc::from(""),
                Span::default(),
                message,
            ))
        };
        let mut restricted = Features {
            keywords_in_refs: false,
            rego_v1: false,
            rego_v2_import: false,
            template_strings: false,
        };
        let mut v1_modules = false;
        for feature in features {
            match feature {
                "keywords_in_refs" => restricted.keywords_in_refs = true,
                "rego_v1" => (v1_modules, restricted.rego_v1) = (true, true),
                "rego_v1_import" => restricted.rego_v1 = true,
                "rego_v2" => (restricted.rego_v1, restricted.rego_v2_import) = (true, true),
                "rego_v2_import" => restricted.rego_v2_import = true,
                "template_strings" => restricted.template_strings = true,
                _ => {}
            }
        }
        if self.version == Version::V1 && !v1_modules {
            return Err(reject(
                "illegal capabilities: rego_v1 feature required for parsing v1 Rego".to_owned(),
            ));
        }
        let mut importable = if v1_modules {
            Keywords::V1
        } else {
            Keywords::NONE
        };
        for name in future_keywords {
            let Some(keyword) = Keywords::from_name(name) else {
                return Err(reject(format!(
                    "illegal capabilities: unknown keyword: {name}"
                )));
            };
            importable = importable.with(keyword);
        }
        Ok(Self {
            features: Some(restricted),
            importable,
            ..self
        })
    }

    pub(crate) fn features(&self) -> Features {
        self.features
            .unwrap_or_else(|| Features::from_version(self.version))
    }

    /// Returns the keywords in force at the start of a text.
    pub(crate) fn keywords(&self) -> Keywords {
        match self.version {
            Version::V0 | Version::V0CompatV1 => self.imported,
            Version::V1 => self.imported.with(Keywords::V1),
        }
    }

    /// Returns `true` if the word is reserved everywhere in this version.
    pub(crate) fn reserves(&self, word: &str) -> bool {
        match word {
            "package" | "import" | "as" | "default" | "else" | "not" | "some" | "with" | "null"
            | "true" | "false" => true,
            "in" | "every" | "contains" | "if" => self.version == Version::V1,
            _ => false,
        }
    }
}

/// Returns `true` if the language has a built-in with this dotted name, independent of capabilities.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Returns `true` if a call of the built-in has no result.
pub(crate) fn is_void_builtin(name: &str) -> bool {
    matches!(name, "print" | "internal.print" | "internal.test_case")
}

/// Names of the built-in functions, sorted.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    "abs", "all", "and", "any", "array.concat", "array.flatten", "array.reverse", "array.slice", "assign",
    "base64.decode", "base64.encode", "base64.is_valid", "base64url.decode", "base64url.encode",
    "base64url.encode_no_pad", "bits.and", "bits.lsh", "bits.negate", "bits.or", "bits.rsh", "bits.xor",
    "cast_array", "cast_boolean", "cast_null", "cast_object", "cast_set", "cast_string", "ceil", "concat",
    "contains", "count", "crypto.hmac.equal", "crypto.hmac.md5", "crypto.hmac.sha1", "crypto.hmac.sha256",
    "crypto.hmac.sha512", "crypto.md5", "crypto.parse_private_keys", "crypto.sha1", "crypto.sha256",
    "crypto.x509.parse_and_verify_certificates", "crypto.x509.parse_and_verify_certificates_with_options",
    "crypto.x509.parse_certificate_request", "crypto.x509.parse_certificates", "crypto.x509.parse_keypair",
    "crypto.x509.parse_rsa_private_key", "div", "endswith", "eq", "equal", "floor", "format_int", "glob.match",
    "glob.quote_meta", "graph.reachable", "graph.reachable_paths", "graphql.is_valid", "graphql.parse",
    "graphql.parse_and_verify", "graphql.parse_query", "graphql.parse_schema", "graphql.schema_is_valid", "gt",
    "gte", "hex.decode", "hex.encode", "http.send", "indexof", "indexof_n", "internal.member_2",
    "internal.member_3", "internal.print", "internal.template_string", "internal.test_case", "intersection",
    "io.jwt.decode", "io.jwt.decode_verify", "io.jwt.encode_sign", "io.jwt.encode_sign_raw", "io.jwt.verify_eddsa",
    "io.jwt.verify_es256", "io.jwt.verify_es384", "io.jwt.verify_es512", "io.jwt.verify_hs256",
    "io.jwt.verify_hs384", "io.jwt.verify_hs512", "io.jwt.verify_ps256", "io.jwt.verify_ps384",
    "io.jwt.verify_ps512", "io.jwt.verify_rs256", "io.jwt.verify_rs384", "io.jwt.verify_rs512", "is_array",
    "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string", "json.filter", "json.is_valid",
    "json.marshal", "json.marshal_with_options", "json.match_schema", "json.patch", "json.remove", "json.unmarshal",
    "json.verify_schema", "lower", "lt", "lte", "max", "min", "minus", "mul", "neq", "net.cidr_contains",
    "net.cidr_contains_matches", "net.cidr_expand", "net.cidr_intersects", "net.cidr_is_valid", "net.cidr_merge",
    "net.cidr_overlap", "net.lookup_ip_addr", "numbers.range", "numbers.range_step", "object.filter", "object.get",
    "object.keys", "object.remove", "object.subset", "object.union", "object.union_n", "opa.runtime", "or", "plus",
    "print", "product", "providers.aws.sign_req", "rand.intn", "re_match", "regex.find_all_string_submatch_n",
    "regex.find_n", "regex.globs_match", "regex.is_valid", "regex.match", "regex.replace", "regex.split",
    "regex.template_match", "rego.metadata.chain", "rego.metadata.rule", "rego.parse_module", "rem", "replace",
    "round", "semver.compare", "semver.is_valid", "set_diff", "sort", "split", "sprintf", "startswith",
    "strings.any_prefix_match", "strings.any_suffix_match", "strings.count", "strings.render_template",
    "strings.replace_n", "strings.reverse", "strings.split_n", "substring", "sum", "time.add_date", "time.clock",
    "time.date", "time.diff", "time.format", "time.now_ns", "time.parse_duration_ns", "time.parse_ns",
    "time.parse_rfc3339_ns", "time.weekday", "to_number", "trace", "trim", "trim_left", "trim_prefix", "trim_right",
    "trim_space", "trim_suffix", "type_name", "union", "units.parse", "units.parse_bytes", "upper", "uri.is_valid",
    "uri.parse", "urlquery.decode", "urlquery.decode_object", "urlquery.encode", "urlquery.encode_object",
    "uuid.parse", "uuid.rfc4122", "walk", "yaml.is_valid", "yaml.marshal", "yaml.unmarshal",
];
