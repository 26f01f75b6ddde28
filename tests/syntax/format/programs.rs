//! Generates modules: any term in any other, with line breaks and comments wherever the grammar allows them.

/// Writes a random module.
struct Program {
    state: u64,
    text: String,
    comments: u32,
}

/// Returns the module of a seed.
pub fn module(seed: u64) -> String {
    let mut program = Program {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        text: String::from("package p.q"),
        comments: 0,
    };
    program.line();
    for import in [
        "data.b",
        "data.a as c",
        "input.x",
        "rego.v1",
        "future.keywords.in",
    ] {
        if program.chance(4) {
            program.text.push_str("import ");
            program.text.push_str(import);
            program.line();
        }
    }
    for _ in 0..=program.random_below(5) {
        program.rule();
        program.line();
    }
    program.text
}

impl Program {
    fn random_below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    /// Returns `true` with a probability of one in `times`.
    fn chance(&mut self, times: u64) -> bool {
        self.random_below(times) == 0
    }

    fn pick(&mut self, texts: &[&str]) {
        let at = usize::try_from(self.random_below(texts.len() as u64)).unwrap();
        self.text.push_str(texts[at]);
    }

    /// Ends a line, sometimes with a comment or blank lines.
    fn line(&mut self) {
        if self.chance(6) {
            self.comment();
        }
        self.text.push('\n');
        while self.chance(4) {
            if self.chance(2) {
                self.comment();
            }
            self.text.push('\n');
        }
    }

    fn comment(&mut self) {
        self.comments += 1;
        self.text.push_str(&format!(" # c{}", self.comments));
    }

    /// Writes a gap between two tokens.
    fn gap(&mut self) {
        if self.chance(12) {
            self.line();
        } else if self.chance(3) {
            self.text.push(' ');
        }
    }

    fn rule(&mut self) {
        match self.random_below(8) {
            0 => {
                self.pick(&["default a := ", "default b = ", "default f(_) := "]);
                self.pick(&["1", "false", "{\"a\": [1, 2]}", "set()"]);
            }
            1 => {
                self.pick(&["s contains ", "t.u contains "]);
                self.term(2);
                self.body();
            }
            2 => {
                self.pick(&["f", "g.h"]);
                self.text.push('(');
                self.list(2, ")");
                self.pick(&["", " := 1", " = x"]);
                self.body();
            }
            3 => {
                self.pick(&["o[x]", "o.a", "o[\"k\"]", "o[x].y", "o[[x, 1]]"]);
                self.text.push_str(" := ");
                self.term(3);
                self.body();
            }
            4 => {
                self.pick(&["a", "b"]);
                self.pick(&[" := 1", "", " = {2}"]);
                self.body();
                while self.chance(2) {
                    self.pick(&[" ", "\n"]);
                    self.pick(&["else", "else := 1", "else = [x]"]);
                    self.body();
                }
            }
            _ => {
                self.pick(&["a", "b", "c"]);
                self.pick(&[" := ", " = "]);
                self.term(4);
                if self.chance(2) {
                    self.body();
                }
            }
        }
    }

    fn body(&mut self) {
        self.text.push_str(" if ");
        if self.chance(3) {
            self.literal(3);
            return;
        }
        self.text.push('{');
        self.literals("}", 3);
    }

    fn literals(&mut self, end: &str, depth: u32) {
        self.gap();
        for at in 0..=self.random_below(3) {
            if at > 0 {
                if self.chance(4) {
                    self.text.push_str("; ");
                } else {
                    self.text.push('\n');
                    self.gap();
                }
            }
            self.literal(depth);
        }
        self.gap();
        self.text.push_str(end);
    }

    fn literal(&mut self, depth: u32) {
        match self.random_below(10) {
            0 => self.pick(&["some x, y", "some x", "some x,\ny"]),
            1 => {
                self.pick(&["some x in ", "some k, v in ", "every_one in "]);
                self.term(depth);
            }
            2 if depth > 1 => {
                self.pick(&["every x in ", "every k, v in "]);
                self.term(1);
                self.text.push_str(" {");
                self.literals("}", depth - 1);
            }
            3 => {
                self.text.push_str("not ");
                self.term(depth);
            }
            4 => {
                self.text.push_str("x := ");
                self.term(depth);
            }
            5 => {
                self.term(depth);
                self.pick(&[" with input as ", "\nwith data.z as "]);
                self.term(1);
                if self.chance(2) {
                    self.pick(&[" ", "\n"]);
                    self.text.push_str("with input.y as 1");
                }
            }
            _ => {
                self.term(depth);
                self.pick(&[" == ", " < ", " = ", " != "]);
                self.term(depth.saturating_sub(1));
            }
        }
    }

    /// Writes terms up to a closing bracket.
    fn list(&mut self, depth: u32, end: &str) {
        self.gap();
        for at in 0..=self.random_below(3) {
            if at > 0 {
                self.text.push(',');
                self.gap();
            }
            self.term(depth);
            self.gap();
        }
        if self.chance(4) {
            self.text.push(',');
            self.gap();
        }
        self.text.push_str(end);
    }

    fn term(&mut self, depth: u32) {
        if depth == 0 || self.chance(3) {
            self.pick(&[
                "x",
                "y",
                "_",
                "1",
                "-2.50",
                "\"s\"",
                "\"a\\tb\"",
                "`raw`",
                "`a\nb`",
                "true",
                "null",
                "input.a.b",
                "data.x[\"y z\"][0]",
                "x[_].if",
                "x[\"if\"]",
                "$\"a {x} b\"",
                "[]",
                "{}",
                "set()",
            ]);
            return;
        }
        match self.random_below(9) {
            0 => {
                self.text.push('[');
                self.list(depth - 1, "]");
            }
            1 => {
                self.text.push('{');
                self.list(depth - 1, "}");
            }
            2 => {
                self.text.push('{');
                self.gap();
                for at in 0..=self.random_below(3) {
                    if at > 0 {
                        self.text.push(',');
                        self.gap();
                    }
                    self.pick(&["\"k\"", "x", "1", "\"l\""]);
                    self.gap();
                    self.text.push(':');
                    self.gap();
                    self.term(depth - 1);
                }
                self.gap();
                self.text.push('}');
            }
            3 => {
                self.pick(&["f(", "count(", "object.get("]);
                self.list(depth - 1, ")");
            }
            4 => {
                self.text.push('[');
                self.gap();
                self.pick(&["x", "[x, y]", "{\"a\": x}"]);
                self.text.push_str(" |");
                self.literals("]", depth - 1);
            }
            5 => {
                self.pick(&["{x |", "{k: v |", "{\"a\":\n1 |"]);
                self.literals("}", depth - 1);
            }
            6 => {
                self.text.push('(');
                self.gap();
                self.term(depth - 1);
                self.pick(&[" + ", " - ", " * ", " | ", " & ", " in ", " == "]);
                self.gap();
                self.term(depth - 1);
                self.gap();
                self.text.push(')');
            }
            _ => {
                self.term(depth - 1);
                self.pick(&[" + ", " / ", " - ", " & ", " | "]);
                self.term(depth - 1);
            }
        }
    }
}
