//! Targets of filter compilation and their supported operators.

use std::fmt;

use super::condition::Operator;

/// A target of filter compilation: a condition language and its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FilterTarget {
    /// UCAST with all operators of OPA.
    UcastAll,
    /// UCAST with comparisons only, without negation.
    UcastMinimal,
    /// UCAST for LINQ: comparisons and `in`, without negation.
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

/// Features that only some targets have, in addition to their built-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFeature {
    Not,
    /// Comparison of two columns.
    FieldRef,
    /// Test that a column has a value.
    ExistenceRef,
}

impl TargetFeature {
    /// Returns OPA's name of the feature.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::FieldRef => "field-ref",
            Self::ExistenceRef => "existence-ref",
        }
    }
}

impl FilterTarget {
    /// All targets.
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

    /// Returns the target with a name like `sql+postgresql`.
    ///
    /// # Errors
    ///
    /// A message about an invalid name.
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
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

    /// Returns the language: `sql` or `ucast`.
    pub fn language(self) -> &'static str {
        if self.is_sql() { "sql" } else { "ucast" }
    }

    /// Returns `true` for a dialect of SQL, `false` for UCAST.
    pub fn is_sql(self) -> bool {
        matches!(
            self,
            Self::Postgresql | Self::Mysql | Self::Sqlserver | Self::Sqlite
        )
    }

    /// Returns the dialect, such as `postgresql` or `all`.
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

    /// Key of the target's result among those of several targets: the dialect of SQL, or `ucast`.
    pub fn key(self) -> &'static str {
        if self.is_sql() {
            self.dialect()
        } else {
            "ucast"
        }
    }

    /// Returns the name used in rejections.
    pub fn label(self) -> String {
        match self {
            Self::UcastAll | Self::UcastPrisma => format!("UCAST ({})", self.dialect()),
            Self::UcastLinq => "UCAST (LINQ)".to_owned(),
            Self::UcastMinimal => "UCAST".to_owned(),
            _ => format!("SQL ({})", self.dialect()),
        }
    }

    /// Returns `true` if the target supports an operator; `extensions` allows more operators than OPA.
    pub(crate) fn allows(self, operator: Operator, extensions: bool) -> bool {
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

    /// Returns `true` if the target supports substring tests with columns.
    pub(crate) fn searches_columns(self) -> bool {
        matches!(self, Self::Postgresql | Self::Mysql | Self::Sqlite)
    }

    /// Returns `true` if the target has a feature. Otherwise conditions that need it are rejected.
    pub(crate) fn has(self, feature: TargetFeature) -> bool {
        match feature {
            TargetFeature::Not => !matches!(self, Self::UcastMinimal | Self::UcastLinq),
            TargetFeature::FieldRef => self.is_sql() || self == Self::UcastAll,
            TargetFeature::ExistenceRef => self.is_sql() || self == Self::UcastPrisma,
        }
    }
}

impl fmt::Display for FilterTarget {
    /// Writes the language and the dialect: `sql+postgresql`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.language(), self.dialect())
    }
}
