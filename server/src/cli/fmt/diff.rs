//! Character diff of two texts with the algorithm of `diff-match-patch`, the library that OPA uses: Myers' O(ND) bisection after
//! common affixes and long common middles are split off.

#[derive(Clone, Debug, PartialEq, Eq)]
enum DiffPart {
    Equal(Vec<char>),
    Insert(Vec<char>),
    Delete(Vec<char>),
}

/// Returns the new text with insertions in green and deletions in red.
pub fn colored(before: &str, after: &str) -> String {
    let before: Vec<char> = before.chars().collect();
    let after: Vec<char> = after.chars().collect();
    let mut out = String::new();
    for part in diff(&before, &after) {
        match part {
            DiffPart::Equal(text) => out.extend(text),
            DiffPart::Insert(text) => color(&mut out, &text, "32"),
            DiffPart::Delete(text) => color(&mut out, &text, "31"),
        }
    }
    out
}

/// Colors a text. Each line has its own color codes.
fn color(out: &mut String, text: &[char], code: &str) {
    for (index, line) in text.split(|c| *c == '\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str("\x1b[");
        out.push_str(code);
        out.push('m');
        out.extend(line);
        out.push_str("\x1b[0m");
    }
}

fn diff(before: &[char], after: &[char]) -> Vec<DiffPart> {
    if before == after {
        return equal(before).into_iter().collect();
    }
    let prefix = common_prefix(before, after);
    let (head, before) = before.split_at(prefix);
    let (_, after) = after.split_at(prefix);
    let suffix = common_suffix(before, after);
    let (before, tail) = before.split_at(before.len() - suffix);
    let (after, _) = after.split_at(after.len() - suffix);
    let mut parts: Vec<DiffPart> = equal(head).into_iter().collect();
    parts.extend(middle(before, after));
    parts.extend(equal(tail));
    merge_edits(parts)
}

fn equal(text: &[char]) -> Option<DiffPart> {
    (!text.is_empty()).then(|| DiffPart::Equal(text.to_vec()))
}

fn common_prefix(a: &[char], b: &[char]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[char], b: &[char]) -> usize {
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Returns the parts of two texts without common affixes.
fn middle(before: &[char], after: &[char]) -> Vec<DiffPart> {
    if before.is_empty() {
        return vec![DiffPart::Insert(after.to_vec())];
    }
    if after.is_empty() {
        return vec![DiffPart::Delete(before.to_vec())];
    }
    let inserts = after.len() > before.len();
    let (long, short) = if inserts {
        (after, before)
    } else {
        (before, after)
    };
    if let Some(position_of_short) = position(long, short, 0) {
        let edit = |text: &[char]| {
            if inserts {
                DiffPart::Insert(text.to_vec())
            } else {
                DiffPart::Delete(text.to_vec())
            }
        };
        let (head, rest) = long.split_at(position_of_short);
        let (_, tail) = rest.split_at(short.len());
        return vec![edit(head), DiffPart::Equal(short.to_vec()), edit(tail)];
    }
    if short.len() == 1 {
        return vec![
            DiffPart::Delete(before.to_vec()),
            DiffPart::Insert(after.to_vec()),
        ];
    }
    if let Some(half) = half_match(before, after) {
        let mut all = diff(half.before.0, half.after.0);
        all.push(DiffPart::Equal(half.common.to_vec()));
        all.extend(diff(half.before.1, half.after.1));
        return all;
    }
    bisect(before, after)
}

fn position(text: &[char], pattern: &[char], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let position = rest
        .windows(pattern.len().max(1))
        .position(|window| window == pattern);
    position.map(|offset| offset + from)
}

/// Common middle of at least half the length of the longer text.
struct Half<'t> {
    before: (&'t [char], &'t [char]),
    after: (&'t [char], &'t [char]),
    common: &'t [char],
}

fn half_match<'t>(before: &'t [char], after: &'t [char]) -> Option<Half<'t>> {
    let is_swapped = before.len() <= after.len();
    let (long, short) = if is_swapped {
        (after, before)
    } else {
        (before, after)
    };
    if long.len() < 4 || short.len() * 2 < long.len() {
        return None;
    }
    let quarter = half_match_at(long, short, long.len().div_ceil(4));
    let half = half_match_at(long, short, long.len().div_ceil(2));
    let best = match (quarter, half) {
        (Some(quarter), Some(half)) if quarter.common.len() > half.common.len() => quarter,
        (_, Some(half)) => half,
        (Some(quarter), None) => quarter,
        (None, None) => return None,
    };
    Some(if is_swapped {
        Half {
            before: best.after,
            after: best.before,
            ..best
        }
    } else {
        best
    })
}

fn half_match_at<'t>(long: &'t [char], short: &'t [char], index: usize) -> Option<Half<'t>> {
    let seed = long.get(index..index + long.len() / 4)?;
    if seed.is_empty() {
        return None;
    }
    let mut best: Option<Half<'t>> = None;
    let mut from = 0;
    while let Some(match_position) = position(short, seed, from) {
        from = match_position + 1;
        let (long_head, long_tail) = long.split_at(index);
        let (short_head, short_tail) = short.split_at(match_position);
        let prefix = common_prefix(long_tail, short_tail);
        let suffix = common_suffix(long_head, short_head);
        if best
            .as_ref()
            .is_none_or(|best| best.common.len() < suffix + prefix)
        {
            best = Some(Half {
                before: (long.get(..index - suffix)?, long.get(index + prefix..)?),
                after: (
                    short.get(..match_position - suffix)?,
                    short.get(match_position + prefix..)?,
                ),
                common: short.get(match_position - suffix..match_position + prefix)?,
            });
        }
    }
    best.filter(|best| best.common.len() * 2 >= long.len())
}

/// Splits two texts at the middle of their shortest edit path.
fn bisect(before: &[char], after: &[char]) -> Vec<DiffPart> {
    match middle_snake(before, after) {
        Some((x, y)) => {
            let (before_head, before_tail) = before.split_at(x.min(before.len()));
            let (after_head, after_tail) = after.split_at(y.min(after.len()));
            let mut all = diff(before_head, after_head);
            all.extend(diff(before_tail, after_tail));
            all
        }
        None => vec![
            DiffPart::Delete(before.to_vec()),
            DiffPart::Insert(after.to_vec()),
        ],
    }
}

/// Furthest points of one direction by diagonal; `-1` for a diagonal that was not reached.
struct Frontier {
    points: Vec<isize>,
    offset: isize,
    start: isize,
    end: isize,
}

impl Frontier {
    fn new(offset: isize, length: usize) -> Self {
        let mut frontier = Self {
            points: vec![-1; length],
            offset,
            start: 0,
            end: 0,
        };
        frontier.set(1, 0);
        frontier
    }

    fn get(&self, diagonal: isize) -> Option<isize> {
        let index = usize::try_from(self.offset + diagonal).ok()?;
        self.points.get(index).copied()
    }

    fn set(&mut self, diagonal: isize, point: isize) {
        let index = usize::try_from(self.offset + diagonal).ok();
        if let Some(slot) = index.and_then(|index| self.points.get_mut(index)) {
            *slot = point;
        }
    }

    /// Returns the point at which a path of `distance` edits enters a diagonal.
    fn entry(&self, diagonal: isize, distance: isize) -> isize {
        let lower = self.get(diagonal - 1).unwrap_or(-1);
        let upper = self.get(diagonal + 1).unwrap_or(-1);
        if diagonal == -distance || (diagonal != distance && lower < upper) {
            upper
        } else {
            lower + 1
        }
    }
}

fn middle_snake(before: &[char], after: &[char]) -> Option<(usize, usize)> {
    let (width, height) = (to_signed(before.len()), to_signed(after.len()));
    let max = (width + height + 1) / 2;
    let length = usize::try_from(2 * max + 2).ok()?;
    let mut forward = Frontier::new(max, length);
    let mut backward = Frontier::new(max, length);
    let delta = width - height;
    let front = delta % 2 != 0;
    let char_at = |text: &[char], index: isize| {
        usize::try_from(index)
            .ok()
            .and_then(|index| text.get(index).copied())
    };
    for distance in 0..max {
        let mut diagonal = -distance + forward.start;
        while diagonal <= distance - forward.end {
            let mut x = forward.entry(diagonal, distance);
            let mut y = x - diagonal;
            while x < width && y < height && char_at(before, x) == char_at(after, y) {
                x += 1;
                y += 1;
            }
            forward.set(diagonal, x);
            if x > width {
                forward.end += 2;
            } else if y > height {
                forward.start += 2;
            } else if front
                && let Some(other) = backward.get(delta - diagonal)
                && other != -1
                && x >= width - other
            {
                return Some((usize::try_from(x).ok()?, usize::try_from(y).ok()?));
            }
            diagonal += 2;
        }
        let mut diagonal = -distance + backward.start;
        while diagonal <= distance - backward.end {
            let mut x = backward.entry(diagonal, distance);
            let mut y = x - diagonal;
            while x < width
                && y < height
                && char_at(before, width - x - 1) == char_at(after, height - y - 1)
            {
                x += 1;
                y += 1;
            }
            backward.set(diagonal, x);
            if x > width {
                backward.end += 2;
            } else if y > height {
                backward.start += 2;
            } else if !front
                && let Some(other) = forward.get(delta - diagonal)
                && other != -1
            {
                let other_y = max + other - (max + delta - diagonal);
                if other >= width - x {
                    return Some((usize::try_from(other).ok()?, usize::try_from(other_y).ok()?));
                }
            }
            diagonal += 2;
        }
    }
    None
}

fn to_signed(length: usize) -> isize {
    isize::try_from(length).unwrap_or(isize::MAX)
}

/// Normalizes parts: joins neighbours of one kind, moves common affixes of deletions and insertions to the equal parts around them,
/// and shifts single edits sideways if that joins two equal parts.
fn merge_edits(parts: Vec<DiffPart>) -> Vec<DiffPart> {
    let mut all = merge_adjacent(parts);
    while slide(&mut all) {
        all = merge_adjacent(all);
    }
    all
}

fn merge_adjacent(parts: Vec<DiffPart>) -> Vec<DiffPart> {
    let mut all: Vec<DiffPart> = Vec::new();
    let (mut deleted, mut inserted) = (Vec::new(), Vec::new());
    for part in parts.into_iter().chain([DiffPart::Equal(Vec::new())]) {
        match part {
            DiffPart::Insert(text) => inserted.extend(text),
            DiffPart::Delete(text) => deleted.extend(text),
            DiffPart::Equal(text) => {
                let mut text = text;
                if !deleted.is_empty() && !inserted.is_empty() {
                    let prefix = common_prefix(&inserted, &deleted);
                    let shared: Vec<char> = inserted.drain(..prefix).collect();
                    deleted.drain(..prefix);
                    push_equal(&mut all, shared);
                    let suffix = common_suffix(&inserted, &deleted);
                    let mut shared = inserted.split_off(inserted.len() - suffix);
                    deleted.truncate(deleted.len() - suffix);
                    shared.append(&mut text);
                    text = shared;
                }
                if !deleted.is_empty() {
                    all.push(DiffPart::Delete(std::mem::take(&mut deleted)));
                }
                if !inserted.is_empty() {
                    all.push(DiffPart::Insert(std::mem::take(&mut inserted)));
                }
                push_equal(&mut all, text);
            }
        }
    }
    all
}

fn push_equal(all: &mut Vec<DiffPart>, text: Vec<char>) {
    if text.is_empty() {
        return;
    }
    if let Some(DiffPart::Equal(last)) = all.last_mut() {
        last.extend(text);
    } else {
        all.push(DiffPart::Equal(text));
    }
}

/// Shifts edits between two equal parts over one of them; returns `true` if any was shifted.
fn slide(all: &mut Vec<DiffPart>) -> bool {
    let mut is_changed = false;
    let mut index = 1;
    while index + 1 < all.len() {
        let before = index - 1;
        let Some([DiffPart::Equal(left), edit, DiffPart::Equal(right)]) =
            all.get(before..=index + 1)
        else {
            index += 1;
            continue;
        };
        let (DiffPart::Insert(text) | DiffPart::Delete(text)) = edit else {
            index += 1;
            continue;
        };
        let same_edit = |text: Vec<char>| match edit {
            DiffPart::Insert(_) => DiffPart::Insert(text),
            _ => DiffPart::Delete(text),
        };
        if text.ends_with(left) {
            let trimmed = text.get(..text.len() - left.len()).unwrap_or_default();
            let replacement = [
                same_edit([left, trimmed].concat()),
                DiffPart::Equal([&**left, &**right].concat()),
            ];
            all.splice(before..=index + 1, replacement);
            is_changed = true;
        } else if text.starts_with(right) {
            let trimmed = text.get(right.len()..).unwrap_or_default();
            let replacement = [
                DiffPart::Equal([&**left, &**right].concat()),
                same_edit([trimmed, right].concat()),
            ];
            all.splice(before..=index + 1, replacement);
            is_changed = true;
        }
        index += 1;
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::colored;

    #[test]
    fn differences_are_those_of_opa() {
        for (before, after, expected) in [
            ("a\n", "a\n", "a\n"),
            ("", "a", "\x1b[32ma\x1b[0m"),
            ("ab", "b", "\x1b[31ma\x1b[0mb"),
            (
                "package p\na=1\n",
                "package p\n\na := 1\n",
                "package p\n\x1b[32m\x1b[0m\n\x1b[32m\x1b[0ma\x1b[32m :\x1b[0m=\x1b[32m \x1b[0m1\n",
            ),
            (
                "package p\na {true}",
                "package p\n\nimport rego.v1\n\na := true\n",
                "package p\n\x1b[32m\x1b[0m\n\x1b[32mimport rego.v1\x1b[0m\n\x1b[32m\x1b[0m\n\x1b[32m\x1b[0ma \
                 \x1b[31m{\x1b[0m\x1b[32m:= \x1b[0mtrue\x1b[31m}\x1b[0m\x1b[32m\x1b[0m\n\x1b[32m\x1b[0m",
            ),
        ] {
            assert_eq!(colored(before, after), expected);
        }
    }
}
