//! What filters are compiled for, and what each target can say.

use std::fmt;

use super::condition::Operator;

/// A target of filter compilation: a language of conditions, and its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FilterTarget {
    /// UCAST with everything that is published for it.
    UcastAll,
    /// UCAST with comparisons only.
    UcastMinimal,
    /// UCAST for LINQ: comparisons and `in`.
    UcastLinq,
    /// UCAST for Prisma: no comparison of two columns.
    UcastPrisma,
    /// SQL for PostgreSQL.
    Postgresql,
    /// SQL for MySQL and MariaDB.
    Mysql,
    /// SQL for SQL Server.
    Sqlserver,
    /// SQL for SQLite.
    Sqlite,
}

/// What only some targets have besides their built-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Negation.
    Not,
    /// Comparisons of two columns.
    FieldRef,
    /// Asking whether a column has a value.
    ExistenceRef,
}

impl Feature {
    /// The published word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::FieldRef => "field-ref",
            Self::ExistenceRef => "existence-ref",
        }
    }
}

impl FilterTarget {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::UcastAll,
        Self::UcastMinimal,
        Self::UcastLinq,
        Self::UcastPrisma,
        Self::Postgresql,
        Self::Mysql,
        Self::Sqlserver,
        Self::Sqlite,
    ];

    /// The target of a name like `sql+postgresql`.
    ///
    /// # Errors
    /// What is wrong with another name.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        if let Some(target) = all.find(|target| target.to_string() == name) {
            return Ok(target);
        }
        Err(match name.split_once('+') {
            None => format!("expected a target and a dialect like `sql+postgresql`, got `{name}`"),
            Some((language @ ("sql" | "ucast"), dialect)) => {
                format!("unsupported variant for {language}: {dialect}")
            }
            Some((language, dialect)) => {
                format!("unknown target/dialect combination: {language}/{dialect}")
            }
        })
    }

    /// The language: `sql` or `ucast`.
    pub fn language(self) -> &'static str {
        if self.is_sql() { "sql" } else { "ucast" }
    }

    /// Whether it is a dialect of SQL.
    pub fn is_sql(self) -> bool {
        matches!(
            self,
            Self::Postgresql | Self::Mysql | Self::Sqlserver | Self::Sqlite
        )
    }

    /// The dialect: `postgresql`, `all`, …
    pub fn dialect(self) -> &'static str {
        match self {
            Self::UcastAll => "all",
            Self::UcastMinimal => "minimal",
            Self::UcastLinq => "linq",
            Self::UcastPrisma => "prisma",
            Self::Postgresql => "postgresql",
            Self::Mysql => "mysql",
            Self::Sqlserver => "sqlserver",
            Self::Sqlite => "sqlite",
        }
    }

    /// The key of its result among those of several targets: the dialect of SQL, or `ucast`.
    pub fn key(self) -> &'static str {
        if self.is_sql() {
            self.dialect()
        } else {
            "ucast"
        }
    }

    /// How refusals call it.
    pub fn label(self) -> String {
        match self {
            Self::UcastAll | Self::UcastPrisma => format!("UCAST ({})", self.dialect()),
            Self::UcastLinq => "UCAST (LINQ)".to_owned(),
            Self::UcastMinimal => "UCAST".to_owned(),
            _ => format!("SQL ({})", self.dialect()),
        }
    }

    /// Whether it can say an operator; `extensions` where it may say more than is published.
    pub fn allows(self, operator: Operator, extensions: bool) -> bool {
        match operator {
            Operator::Compare(_) => true,
            Operator::In => self != Self::UcastMinimal,
            Operator::Affix(_) => match self {
                Self::UcastMinimal | Self::UcastLinq => false,
                Self::Sqlite => extensions,
                _ => true,
            },
        }
    }

    /// Whether it looks for texts that are columns.
    pub(crate) fn searches_columns(self) -> bool {
        matches!(self, Self::Postgresql | Self::Mysql | Self::Sqlite)
    }

    /// Whether it has a feature.
    pub fn has(self, feature: Feature) -> bool {
        match feature {
            Feature::Not => !matches!(self, Self::UcastMinimal | Self::UcastLinq),
            Feature::FieldRef => self.is_sql() || self == Self::UcastAll,
            Feature::ExistenceRef => self.is_sql() || self == Self::UcastPrisma,
        }
    }
}

impl fmt::Display for FilterTarget {
    /// The language and the dialect: `sql+postgresql`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.language(), self.dialect())
    }
}
