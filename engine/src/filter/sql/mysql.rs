//! MySQL and MariaDB.

use std::ops::RangeInclusive;

use super::dialect::{Dialect, inexact, plain};
use super::names::{SqlKeywords, quote_name, sorted_keywords};
use crate::filter::column_functions::Ends;
use crate::filter::condition::SubstringPosition;
use crate::filter::decimal::Decimal;

/// Dialect of MySQL and MariaDB.
pub struct Mysql;

/// Maximum digits of a decimal literal in total, and after its decimal point.
const DIGITS: u64 = 65;
const SCALE: u64 = 30;

/// Reserved words that must be quoted as table names. After a dot no word is reserved.
static KEYWORDS: SqlKeywords = SqlKeywords::new(|| {
    sorted_keywords(
        "ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY \
         CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT \
         CREATE CROSS CUBE CUME_DIST CURRENT_DATE CURRENT_ROLE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER \
         CURSOR DATABASE DATABASES DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE \
         DEFAULT DELAYED DELETE DENSE_RANK DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV \
         DO_DOMAIN_IDS DOUBLE DROP DUAL EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS EXIT EXPLAIN \
         FALSE FETCH FIRST_VALUE FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERAL \
         GENERATED GET GRANT GROUP GROUPING GROUPS HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE \
         HOUR_SECOND IF IGNORE IGNORE_DOMAIN_IDS IGNORE_SERVER_IDS IN INDEX INFILE INNER INOUT INSENSITIVE \
         INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTERVAL INTO IO_AFTER_GTIDS IO_BEFORE_GTIDS \
         IS ITERATE JOIN JSON_TABLE KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT \
         LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY \
         MASTER_BIND MASTER_HEARTBEAT_PERIOD MASTER_SSL_VERIFY_SERVER_CERT MATCH MAXVALUE MEDIUMBLOB \
         MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND MOD MODIFIES NATURAL NOT \
         NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NUMERIC OF OFFSET ON OPTIMIZE OPTIMIZER_COSTS OPTION \
         OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER PAGE_CHECKSUM PARALLEL PARSE_VCOL_EXPR PARTITION \
         PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE QUALIFY RANGE RANK READ READS READ_WRITE REAL \
         RECURSIVE REFERENCES REF_SYSTEM_ID REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL RESTRICT \
         RETURN RETURNING REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SECOND_MICROSECOND SELECT \
         SENSITIVE SEPARATOR SET SHOW SIGNAL SLOW SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE \
         SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING STATS_AUTO_RECALC \
         STATS_PERSISTENT STATS_SAMPLE_PAGES STORED STRAIGHT_JOIN SYSTEM TABLE TABLESAMPLE TERMINATED THEN \
         TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE UNLOCK UNSIGNED UPDATE USAGE \
         USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR VARCHARACTER VARYING VIRTUAL \
         WHEN WHERE WHILE WINDOW WITH WRITE XOR YEAR_MONTH ZEROFILL",
    )
});

impl Dialect for Mysql {
    fn text(&self, text: &str) -> Result<String, String> {
        let mut literal = String::with_capacity(text.len() + 2);
        literal.push('\'');
        for character in text.chars() {
            match character {
                '\\' | '\'' | '"' => literal.extend(['\\', character]),
                '\0' => literal.push_str("\\0"),
                '\n' => literal.push_str("\\n"),
                '\r' => literal.push_str("\\r"),
                '\t' => literal.push_str("\\t"),
                '\u{8}' => literal.push_str("\\b"),
                '\u{1a}' => literal.push_str("\\Z"),
                _ => literal.push(character),
            }
        }
        literal.push('\'');
        Ok(literal)
    }

    /// In a list, texts and decimal columns would be compared as floats.
    fn number(&self, text: &str, in_list: bool) -> Result<String, String> {
        let decimal = Decimal::read(text)
            .filter(is_exact)
            .ok_or_else(|| inexact(text, "SQL (mysql)"))?;
        Ok(if in_list {
            decimal.plain()
        } else {
            format!("'{text}'")
        })
    }

    /// From `BIGINT` to `BIGINT UNSIGNED`.
    fn integers(&self) -> RangeInclusive<i128> {
        i128::from(i64::MIN)..=i128::from(u64::MAX)
    }

    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "TRUE" } else { "FALSE" }
    }

    fn name(&self, name: &str, segment: usize) -> String {
        quote_name(name, '`', (segment == 0).then(|| KEYWORDS.as_slice()))
    }

    fn exact_number(&self, text: &str) -> Result<String, String> {
        plain(text, "SQL (mysql)", is_exact)
    }

    /// Binary strings are compared without padding, and the byte order of UTF-8 is the order of code points.
    fn exact_sides(&self, column: &str, other: &str) -> (String, String) {
        let bytes = |text: &str| format!("CAST(CONVERT({text} USING utf8mb4) AS BINARY)");
        (bytes(column), bytes(other))
    }

    fn bytes(&self, column: &str) -> String {
        format!("CAST(CONVERT({column} USING utf8mb4) AS BINARY)")
    }

    fn trim_text(&self, text: &str, ends: Ends, set: &str) -> Option<String> {
        let ends = match ends {
            Ends::Both => "BOTH",
            Ends::Left => "LEADING",
            Ends::Right => "TRAILING",
        };
        Some(format!("TRIM({ends} {set} FROM {text})"))
    }

    fn char_count(&self, text: &str) -> Option<String> {
        Some(format!("CHAR_LENGTH(CONVERT({text} USING utf8mb4))"))
    }

    fn substring_test(&self, affix: SubstringPosition, text: &str, part: &str) -> Option<String> {
        let (text, part) = (self.bytes(text), self.bytes(part));
        Some(match affix {
            SubstringPosition::Start => format!("INSTR({text}, {part}) = 1"),
            SubstringPosition::Within => format!("INSTR({text}, {part}) > 0"),
            SubstringPosition::End => format!("RIGHT({text}, LENGTH({part})) = {part}"),
        })
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }
}

fn is_exact(decimal: &Decimal) -> bool {
    decimal.width() <= DIGITS && decimal.scale() <= SCALE
}
