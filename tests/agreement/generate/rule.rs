//! Rules as structures, and their text in each dialect.

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    V1,
    /// Version 1 with `import rego.v2`: `and`, `or`, and `not` before a body.
    V2,
    /// Version 0 without imports: braces, no `in`, no `every`.
    V0,
    /// Version 0 with `import future.keywords`.
    V0Keywords,
    /// Version 0 with `import rego.v1`.
    V0Rego1,
}

impl Dialect {
    pub fn is_v0(self) -> bool {
        matches!(self, Self::V0 | Self::V0Keywords | Self::V0Rego1)
    }

    /// Returns `true` if `in`, `every`, `if` and `contains` are keywords.
    pub fn has_keywords(self) -> bool {
        self != Self::V0
    }
}

/// Result of a rule.
#[derive(Clone)]
pub enum Outcome {
    /// An implicit `true`.
    True,
    Value(String),
    /// An element of a set.
    Member(String),
}

#[derive(Clone)]
pub struct Rule {
    pub default: bool,
    /// Name with brackets or arguments.
    pub head: String,
    pub outcome: Outcome,
    pub body: Vec<String>,
    /// `else` branches: value and body.
    pub otherwise: Vec<(String, Vec<String>)>,
    /// `true` if a body of one literal is written without braces.
    pub short: bool,
}

impl Rule {
    pub fn new(head: impl Into<String>, outcome: Outcome, body: Vec<String>) -> Self {
        Self {
            default: false,
            head: head.into(),
            outcome,
            body,
            otherwise: Vec::new(),
            short: false,
        }
    }

    pub fn value(head: impl Into<String>, value: impl Into<String>, body: Vec<String>) -> Self {
        Self::new(head, Outcome::Value(value.into()), body)
    }

    pub fn member(head: impl Into<String>, member: impl Into<String>, body: Vec<String>) -> Self {
        Self::new(head, Outcome::Member(member.into()), body)
    }

    pub fn default(head: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            default: true,
            ..Self::value(head, value, Vec::new())
        }
    }

    pub fn text(&self, dialect: Dialect) -> String {
        let plain = dialect == Dialect::V0;
        let assign = if plain { "=" } else { ":=" };
        let prefix = if self.default { "default " } else { "" };
        let outcome = match &self.outcome {
            Outcome::True => String::new(),
            Outcome::Value(value) => format!(" {assign} {value}"),
            Outcome::Member(member) if plain => format!("[{member}]"),
            Outcome::Member(member) => format!(" contains {member}"),
        };
        let mut text = format!(
            "{prefix}{}{outcome}{}",
            self.head,
            self.body_text(&self.body, dialect)
        );
        for (value, body) in &self.otherwise {
            text += &format!(" else {assign} {value}{}", self.body_text(body, dialect));
        }
        text
    }

    fn body_text(&self, body: &[String], dialect: Dialect) -> String {
        let keyword = if dialect == Dialect::V0 { "" } else { " if" };
        match body {
            [] => String::new(),
            [literal] if self.short && !keyword.is_empty() => format!("{keyword} {literal}"),
            [literal] if self.short => format!("{keyword} {{ {literal} }}"),
            _ => format!("{keyword} {{\n\t{}\n}}", body.join("\n\t")),
        }
    }
}
