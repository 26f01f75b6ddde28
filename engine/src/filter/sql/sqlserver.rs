//! SQL Server: literals, patterns and quoted names.

use super::dialect::{Dialect, Pattern, affixed, double_quotes, escape_pattern, plain, untyped};
use super::names::{SqlKeywords, quote_name, sorted_keywords};
use crate::filter::condition::{ComparisonOperator, SubstringPosition};

pub struct Sqlserver;

/// Collation that compares by code point.
const COLLATION: &str = "Latin1_General_100_BIN2";

/// Maximum digits of a decimal literal.
const DIGITS: u64 = 38;

/// Reserved words that must be quoted as table and column names.
static KEYWORDS: SqlKeywords = SqlKeywords::new(|| {
    sorted_keywords(
        "ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY CASCADE CASE \
         CHECK CHECKPOINT CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS \
         CONTAINSTABLE CONTINUE CONVERT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP \
         CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE DECLARE DEFAULT DELETE DENY DESC DISK DISTINCT \
         DISTRIBUTED DOUBLE DROP DUMP ELSE END ERRLVL ESCAPE EXCEPT EXEC EXECUTE EXISTS EXIT EXTERNAL FETCH \
         FILE FILLFACTOR FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL FUNCTION GOTO GRANT GROUP HAVING \
         HOLDLOCK IDENTITY IDENTITYCOL IDENTITY_INSERT IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY \
         KILL LEFT LIKE LINENO LOAD MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF OFFSETS ON \
         OPEN OPENDATASOURCE OPENQUERY OPENROWSET OPENXML OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN \
         PRECISION PRIMARY PRINT PROC PROCEDURE PUBLIC RAISERROR READ READTEXT RECONFIGURE REFERENCES \
         REPLICATION RESTORE RESTRICT RETURN REVERT REVOKE RIGHT ROLLBACK ROWCOUNT ROWGUIDCOL RULE SAVE \
         SCHEMA SECURITYAUDIT SELECT SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE \
         SEMANTICSIMILARITYTABLE SESSION_USER SET SETUSER SHUTDOWN SOME STATISTICS SYSTEM_USER TABLE \
         TABLESAMPLE TEXTSIZE THEN TO TOP TRAN TRANSACTION TRIGGER TRUNCATE TRY_CONVERT TSEQUAL UNION \
         UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER VALUES VARYING VIEW WAITFOR WHEN WHERE WHILE WITH WITHIN \
         WRITETEXT",
    )
});

impl Dialect for Sqlserver {
    fn text(&self, text: &str) -> Result<String, String> {
        if text.contains('\0') {
            // the collation decides whether NUL is ignored
            return Err("text with a NUL character in SQL (sqlserver)".to_owned());
        }
        Ok(format!("N{}", double_quotes(text)))
    }

    fn number(&self, text: &str, _: bool) -> Result<String, String> {
        untyped(text, "SQL (sqlserver)", "N", DIGITS)
    }

    /// SQL Server has no boolean type, only `bit`.
    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "1" } else { "0" }
    }

    fn name(&self, name: &str, _: usize) -> String {
        quote_name(name, '"', Some(KEYWORDS.as_slice()))
    }

    fn exact_number(&self, text: &str) -> Result<String, String> {
        plain(text, "SQL (sqlserver)", |decimal| decimal.width() <= DIGITS)
    }

    /// `=` pads texts in every collation, so lengths are compared as well.
    fn exact_texts(
        &self,
        left: &str,
        comparison: ComparisonOperator,
        right: &str,
    ) -> Result<String, String> {
        let wide = |text: &str| format!("CAST({text} AS nvarchar(max))");
        let (left_text, right_text) = (wide(left), wide(right));
        let equal = format!("{left_text} COLLATE {COLLATION} = {right_text}");
        let long = format!("DATALENGTH({left_text}) = DATALENGTH({right_text})");
        match comparison {
            ComparisonOperator::Eq => Ok(format!("({equal} AND {long})")),
            ComparisonOperator::Ne => Ok(format!("NOT ({equal} AND {long})")),
            _ => Err("exact: SQL (sqlserver) pads texts before it orders them".to_owned()),
        }
    }

    fn exact_sides(&self, column: &str, other: &str) -> (String, String) {
        (format!("{column} COLLATE {COLLATION}"), other.to_owned())
    }

    fn placeholder(&self, number: usize) -> String {
        format!("@p{number}")
    }

    /// A backslash escapes only if `ESCAPE` declares it, and brackets are special, too.
    fn pattern(&self, affix: SubstringPosition, part: &str) -> Pattern {
        let text = escape_pattern(part, &['\\', '_', '%', '[']);
        Pattern {
            escape: if text == part { "" } else { " ESCAPE N'\\'" },
            text: affixed(affix, &text),
        }
    }
}
