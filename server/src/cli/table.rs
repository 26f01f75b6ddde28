//! Tables with box-drawing characters.

/// Rows of cells, with or without a header.
#[derive(Default)]
pub struct TextTable {
    header: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
    /// Indexes of the rows with a line above.
    sections: Vec<usize>,
    /// `true` if all columns except the first are right-aligned.
    numbers_right: bool,
}

impl TextTable {
    pub fn new(header: Vec<String>) -> Self {
        Self {
            header: Some(header),
            rows: Vec::new(),
            sections: Vec::new(),
            numbers_right: false,
        }
    }

    /// Right-aligns all columns except the first.
    #[must_use]
    pub fn numbers_right(mut self) -> Self {
        self.numbers_right = true;
        self
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a row whose cells may have several lines.
    pub fn tall_row(&mut self, cells: &[String]) {
        let lines = cells.iter().map(|cell| cell.split('\n').count()).max();
        for index in 0..lines.unwrap_or(0) {
            let line = |cell: &String| cell.split('\n').nth(index).unwrap_or("").to_owned();
            self.row(cells.iter().map(line).collect());
        }
    }

    /// Adds a row with a name and the lines of a text, separated by a line from the previous rows.
    pub fn section(&mut self, name: &str, text: &str) {
        if !self.rows.is_empty() {
            self.sections.push(self.rows.len());
        }
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        for (name, line) in names.zip(text.split('\n')) {
            self.row(vec![name.to_owned(), line.to_owned()]);
        }
    }

    /// Returns the text, with one space around each cell, centred headers and left-aligned cells.
    pub fn render(&self) -> String {
        let widths = self.widths();
        let mut out = String::new();
        rule(&mut out, &widths, ['┌', '┬', '┐']);
        if let Some(header) = &self.header {
            line(&mut out, &widths, header, |_| center);
            rule(&mut out, &widths, ['├', '┼', '┤']);
        }
        for (index, row) in self.rows.iter().enumerate() {
            if self.sections.binary_search(&index).is_ok() {
                rule(&mut out, &widths, ['├', '┼', '┤']);
            }
            line(&mut out, &widths, row, |column| match column {
                0 => align_left,
                _ if self.numbers_right => right,
                _ => align_left,
            });
        }
        rule(&mut out, &widths, ['└', '┴', '┘']);
        out
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in self.header.iter().chain(&self.rows) {
            for (index, cell) in row.iter().enumerate() {
                let width = width(cell);
                match widths.get_mut(index) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        widths
    }
}

/// Returns the width of a text in terminal columns.
fn width(text: &str) -> usize {
    let width_of_char = |c: char| match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    };
    text.chars().map(width_of_char).sum()
}

fn rule(out: &mut String, widths: &[usize], [first, middle, last]: [char; 3]) {
    out.push(first);
    for (index, width) in widths.iter().enumerate() {
        if index > 0 {
            out.push(middle);
        }
        out.extend(std::iter::repeat_n('─', width + 2));
    }
    out.push(last);
    out.push('\n');
}

/// Writes a text with the given width.
type Align = fn(&mut String, &str, usize);

fn line(out: &mut String, widths: &[usize], cells: &[String], align: impl Fn(usize) -> Align) {
    out.push('│');
    for (index, width) in widths.iter().enumerate() {
        if index > 0 {
            out.push('│');
        }
        out.push(' ');
        align(index)(out, cells.get(index).map_or("", String::as_str), *width);
        out.push(' ');
    }
    out.push_str("│\n");
}

fn align_left(out: &mut String, text: &str, wide: usize) {
    pad(out, text, 0, wide.saturating_sub(width(text)));
}

fn right(out: &mut String, text: &str, wide: usize) {
    pad(out, text, wide.saturating_sub(width(text)), 0);
}

fn center(out: &mut String, text: &str, wide: usize) {
    let free = wide.saturating_sub(width(text));
    pad(out, text, free / 2, free - free / 2);
}

fn pad(out: &mut String, text: &str, before: usize, after: usize) {
    out.extend(std::iter::repeat_n(' ', before));
    out.push_str(text);
    out.extend(std::iter::repeat_n(' ', after));
}

#[cfg(test)]
mod tests {
    use super::TextTable;

    #[test]
    fn tables() {
        let mut table = TextTable::new(vec!["b+1".into(), "longer".into()]);
        table.row(vec!["2".into(), "é".into()]);
        let expected = "┌─────┬────────┐\n│ b+1 │ longer │\n├─────┼────────┤\n│ 2   │ é      │\n└─────┴────────┘\n";
        assert_eq!(table.render(), expected);
        let mut wide = TextTable::new(vec!["x".into()]);
        wide.row(vec!["日本".into()]);
        assert_eq!(
            wide.render(),
            "┌──────┐\n│  x   │\n├──────┤\n│ 日本 │\n└──────┘\n"
        );
    }
}
