//! Lookups in columns of the table by the operator term of an expression. Compares names without building them.

use solon_syntax::ast::{Expr, ExprKind, Term};

use super::registry::FAMILIES;
use super::{Builtin, IndexTest, Observed};

/// Value of a column. `None` for most built-ins.
type IndexTestCell = Option<IndexTest>;

/// A column of the table without its empty cells, in the order of the table.
struct TableColumn<const ROWS: usize> {
    rows: [(&'static str, IndexTestCell); ROWS],
    /// Lengths of its names modulo 64, as bits: a precheck that excludes most operators.
    lengths: u64,
}

static SILENT: TableColumn<{ rows(Which::Silent) }> = column(Which::Silent);
static OBSERVABLE: TableColumn<{ rows(Which::Observable) }> = column(Which::Observable);
static TESTS: TableColumn<{ rows(Which::Tests) }> = column(Which::Tests);

const fn length_bit(length: usize) -> u64 {
    1 << (length % 64)
}

#[derive(Clone, Copy)]
enum Which {
    Silent,
    Observable,
    Tests,
}

impl Which {
    const fn has(self, builtin: &Builtin) -> bool {
        match self {
            Self::Silent => builtin.silent,
            Self::Observable => {
                matches!(builtin.observed, Some(Observed::Print | Observed::TestCase))
            }
            Self::Tests => builtin.test.is_some(),
        }
    }
}

/// Counts the rows of a column. Evaluated at compile time.
#[expect(
    clippy::indexing_slicing,
    reason = "a place beyond the end would not compile"
)]
const fn rows(which: Which) -> usize {
    let (mut family, mut rows) = (0, 0);
    while family < FAMILIES.len() {
        let mut index = 0;
        while index < FAMILIES[family].len() {
            rows += which.has(&FAMILIES[family][index]) as usize;
            index += 1;
        }
        family += 1;
    }
    rows
}

#[expect(
    clippy::indexing_slicing,
    reason = "a place beyond the end would not compile"
)]
const fn column<const ROWS: usize>(which: Which) -> TableColumn<ROWS> {
    let mut column = TableColumn {
        rows: [("", None); ROWS],
        lengths: 0,
    };
    let (mut family, mut row) = (0, 0);
    while family < FAMILIES.len() {
        let mut index = 0;
        while index < FAMILIES[family].len() {
            let builtin = &FAMILIES[family][index];
            if which.has(builtin) {
                column.rows[row] = (builtin.name, builtin.test);
                column.lengths |= length_bit(builtin.name.len());
                row += 1;
            }
            index += 1;
        }
        family += 1;
    }
    column
}

#[inline]
fn find<const ROWS: usize>(column: &TableColumn<ROWS>, operator: &Term) -> Option<IndexTestCell> {
    let length = operator.operator_len()?;
    if column.lengths & length_bit(length) == 0 {
        return None;
    }
    let mut rows = column.rows.iter();
    rows.find(|(name, _)| name.len() == length && operator.is_operator(name))
        .map(|(_, cell)| *cell)
}

/// Returns `true` if an operator cannot fail and has no observable effect, whatever its operands are.
#[inline]
pub fn is_silent(operator: &Term) -> bool {
    find(&SILENT, operator).is_some()
}

/// Returns `true` if calls of an operator are observable: it prints, or names a test case.
#[inline]
pub fn is_observable(operator: &Term) -> bool {
    find(&OBSERVABLE, operator).is_some()
}

/// Returns the test of a rule index that replaces calls of an operator, or `None` if there is none.
#[inline]
pub fn index_test(operator: &Term) -> Option<IndexTest> {
    find(&TESTS, operator).flatten()
}

/// Returns the operands of a call if OPA's rule index has conditions for it. Equality is not included.
pub fn opa_index_test(expr: &Expr) -> Option<&[Term]> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    let (operator, operands) = terms.split_first()?;
    let test = index_test(operator)?;
    test.is_in_opa_index().then_some(operands)
}
