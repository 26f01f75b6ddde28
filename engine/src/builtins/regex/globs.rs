//! `regex.globs_match`: tests whether two simple patterns (characters, `.`, `[…]`, each optionally with `*` or `+`)
//! match a common string. Uses OPA's algorithm, where an element with a flag consumes elements of the other pattern one
//! by one, whatever their flags are.

use crate::bug::Within;
use crate::builtins::{BuiltinContext, BuiltinError};

struct PatternElement {
    chars: Chars,
    flag: Flag,
}

#[derive(PartialEq, Eq)]
enum Chars {
    One(char),
    Any,
    Ranges(Vec<(char, char)>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    None,
    Plus,
    Star,
}

impl PatternElement {
    fn meets(&self, other: &Self) -> bool {
        let is_in_ranges = |c: char, ranges: &[(char, char)]| {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&c))
        };
        match (&self.chars, &other.chars) {
            (Chars::Any, _) | (_, Chars::Any) => true,
            (Chars::One(a), Chars::One(b)) => a == b,
            (Chars::One(c), Chars::Ranges(ranges)) | (Chars::Ranges(ranges), Chars::One(c)) => {
                is_in_ranges(*c, ranges)
            }
            (Chars::Ranges(a), Chars::Ranges(b)) => a.iter().any(|(low, high)| {
                b.iter()
                    .any(|(other_low, other_high)| low <= other_high && other_low <= high)
            }),
        }
    }

    fn is_plain(&self) -> bool {
        self.flag == Flag::None
    }
}

/// Returns `true` if the patterns match a common string.
pub fn meet(call: &mut BuiltinContext<'_>, left: &str, right: &str) -> Result<bool, BuiltinError> {
    let (left, right) = (tokens(left)?, tokens(right)?);
    let (mut left, mut right) = (left.as_slice(), right.as_slice());
    // plain elements at the ends of both patterns must match pairwise; one pair is left on each side
    let plain = |pair: &(&PatternElement, &PatternElement)| pair.0.is_plain() && pair.1.is_plain();
    let front = left.iter().zip(right).take_while(plain).count();
    if !left.iter().zip(right).take(front).all(|(a, b)| a.meets(b)) {
        return Ok(false);
    }
    let front = front.saturating_sub(1);
    left = left.within(front..);
    right = right.within(front..);
    let backwards = || left.iter().rev().zip(right.iter().rev());
    let back = backwards().take_while(plain).count();
    if !backwards().take(back).all(|(a, b)| a.meets(b)) {
        return Ok(false);
    }
    let back = back.saturating_sub(1);
    left = left.within(..left.len() - back);
    right = right.within(..right.len() - back);

    let cells = (left.len() + 1).saturating_mul(right.len() + 1);
    call.budget
        .reserve(cells.saturating_mul(2 * size_of::<PrefixCell>()))?;
    let mut table = MatchTable {
        sides: [left, right],
        cells: [
            vec![PrefixCell::default(); cells],
            vec![PrefixCell::default(); cells],
        ],
    };
    for i in (0..=left.len()).rev() {
        call.budget.spend_len(right.len())?;
        for j in (0..=right.len()).rev() {
            for fill in [MatchTable::fill_taken, MatchTable::fill_meets] {
                fill(&mut table, 0, i, j);
                fill(&mut table, 1, j, i);
            }
        }
    }
    Ok(table.get(0, 0, 0).meets)
}

/// Result for the suffixes of both patterns from a pair of positions.
#[derive(Clone, Copy, Default)]
struct PrefixCell {
    /// The suffixes match.
    meets: bool,
    /// The suffixes match if the first token of the leading pattern may consume tokens of the other.
    taken: bool,
}

/// Dynamic programming table: results for each pair of positions, with either pattern leading. Filled from the end.
struct MatchTable<'t> {
    sides: [&'t [PatternElement]; 2],
    cells: [Vec<PrefixCell>; 2],
}

impl MatchTable<'_> {
    /// Returns the index of the cell where pattern `lead` (0 or 1) leads from position `lead_position`, and the other pattern
    /// continues from `follow_position`.
    fn index(&self, lead: usize, lead_position: usize, follow_position: usize) -> usize {
        let width = self.sides.get(1).map_or(0, |right| right.len() + 1);
        let (row, column) = if lead == 0 {
            (lead_position, follow_position)
        } else {
            (follow_position, lead_position)
        };
        row * width + column
    }

    fn get(&self, lead: usize, lead_position: usize, follow_position: usize) -> PrefixCell {
        let index = self.index(lead, lead_position, follow_position);
        let cells = self.cells.get(lead);
        cells
            .and_then(|cells| cells.get(index))
            .copied()
            .unwrap_or_default()
    }

    fn cell_mut(
        &mut self,
        lead: usize,
        lead_position: usize,
        follow_position: usize,
    ) -> Option<&mut PrefixCell> {
        let index = self.index(lead, lead_position, follow_position);
        self.cells.get_mut(lead)?.get_mut(index)
    }

    fn token(&self, side: usize, position: usize) -> Option<&PatternElement> {
        self.sides.get(side)?.get(position)
    }

    fn fill_taken(&mut self, lead: usize, lead_position: usize, follow_position: usize) {
        let Some(first) = self.token(lead, lead_position) else {
            return;
        };
        let next = self.token(lead, lead_position + 1);
        let is_taken = match self.token(1 - lead, follow_position) {
            None => next.is_none(),
            Some(against) => {
                let left_to_next = next.is_some_and(|next| next.meets(against))
                    && self.get(lead, lead_position + 1, follow_position).meets;
                let matches_first = first.meets(against)
                    && self.get(lead, lead_position, follow_position + 1).taken;
                left_to_next || matches_first
            }
        };
        if let Some(cell) = self.cell_mut(lead, lead_position, follow_position) {
            cell.taken = is_taken;
        }
    }

    fn fill_meets(&mut self, lead: usize, lead_position: usize, follow_position: usize) {
        let follow = 1 - lead;
        let can_meet = match (
            self.token(lead, lead_position),
            self.token(follow, follow_position),
        ) {
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
            (Some(first), Some(against)) => match (first.flag, against.flag) {
                (Flag::Star, _) => self.get(lead, lead_position, follow_position).taken,
                (Flag::Plus, _) => {
                    let takes = self.get(lead, lead_position, follow_position + 1).taken;
                    let is_taken = !against.is_plain()
                        && self.get(lead, lead_position + 1, follow_position).meets;
                    first.meets(against) && (takes || is_taken)
                }
                (Flag::None, Flag::None) => {
                    first.meets(against)
                        && self.get(lead, lead_position + 1, follow_position + 1).meets
                }
                (Flag::None, Flag::Star) => self.get(follow, follow_position, lead_position).taken,
                (Flag::None, Flag::Plus) => {
                    first.meets(against)
                        && self.get(follow, follow_position, lead_position + 1).taken
                }
            },
        };
        if let Some(cell) = self.cell_mut(lead, lead_position, follow_position) {
            cell.meets = can_meet;
        }
    }
}

/// Parses a pattern. Returns an error if brackets are not balanced, or another part is malformed.
fn tokens(pattern: &str) -> Result<Vec<PatternElement>, BuiltinError> {
    let mut reader = PatternReader {
        pattern,
        chars: pattern.chars().collect(),
        at: 0,
    };
    let mut tokens = Vec::new();
    while let Some((c, escaped)) = reader.next()? {
        let chars = match c {
            _ if escaped => Chars::One(c),
            '.' => Chars::Any,
            '[' => reader.set()?,
            ']' => return Err(reader.reject("set-close ']' with no preceding '['")),
            '*' | '+' => {
                return Err(reader.reject(&format!("flag '{c}' must be preceded by a non-flag")));
            }
            _ => Chars::One(c),
        };
        let flag = match reader.chars.get(reader.at) {
            Some('*') => Flag::Star,
            Some('+') => Flag::Plus,
            _ => Flag::None,
        };
        reader.at += usize::from(flag != Flag::None);
        match tokens.last_mut() {
            Some(PatternElement {
                chars: last,
                flag: last_flag,
            }) if *last == chars && *last_flag != Flag::None && flag != Flag::None => {
                if flag == Flag::Plus {
                    *last_flag = Flag::Plus;
                }
            }
            _ => tokens.push(PatternElement { chars, flag }),
        }
    }
    Ok(tokens)
}

struct PatternReader<'p> {
    pattern: &'p str,
    chars: Vec<char>,
    at: usize,
}

impl PatternReader<'_> {
    fn reject(&self, problem: &str) -> BuiltinError {
        BuiltinError::error(format!(
            "input:{}, pos:{}, {problem}: the input provided is invalid",
            self.pattern, self.at
        ))
    }

    /// Returns the next character, and whether it was escaped.
    fn next(&mut self) -> Result<Option<(char, bool)>, BuiltinError> {
        let Some(c) = self.chars.get(self.at).copied() else {
            return Ok(None);
        };
        if c != '\\' {
            self.at += 1;
            return Ok(Some((c, false)));
        }
        let Some(c) = self.chars.get(self.at + 1).copied() else {
            return Err(self.reject("input ends with a \\ (escape) character"));
        };
        self.at += 2;
        Ok(Some((c, true)))
    }

    /// Parses a set, starting after its bracket.
    fn set(&mut self) -> Result<Chars, BuiltinError> {
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut before = None;
        while let Some((c, escaped)) = self.next()? {
            match c {
                ']' if !escaped => return Ok(Chars::Ranges(merge(ranges))),
                '-' if !escaped => {
                    let Some(low) = before.take() else {
                        return Err(self.reject(
                            "range character '-' must be preceded by a Unicode character",
                        ));
                    };
                    if self.at + 1 >= self.chars.len() {
                        return Err(self.reject(
                            "range character '-' must be followed by a Unicode character",
                        ));
                    }
                    let high = match self.next()? {
                        Some((']' | '-', false)) | None => {
                            return Err(self.reject(
                                "range character '-' cannot be followed by a special symbol",
                            ));
                        }
                        Some((high, _)) => high,
                    };
                    if high < low {
                        return Err(self.reject(&format!(
                            "range is out of order: '{high}' comes before '{low}' in Unicode"
                        )));
                    }
                    ranges.push((low, high));
                }
                _ => {
                    ranges.push((c, c));
                    before = Some(c);
                }
            }
        }
        Err(self.reject("found [ without matching ]"))
    }
}

/// Normalizes ranges: sets of the same characters get equal ranges.
fn merge(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    ranges.dedup_by(|later, first| {
        let touches = u32::from(later.0) <= u32::from(first.1) + 1;
        if touches {
            first.1 = first.1.max(later.1);
        }
        touches
    });
    ranges
}
