//! Outputs of the JSON writer: text, which retains the spelling of numbers, or a [`Value`].

use serde_json::{Map, Number, Value};

/// Receives JSON piece by piece. Keys occur only inside objects, each before its value.
pub trait Sink {
    fn begin_object(&mut self);
    fn end_object(&mut self);
    fn begin_array(&mut self);
    fn end_array(&mut self);
    fn key(&mut self, key: &str);
    fn string(&mut self, text: &str);
    /// Receives the text of a number, in JSON syntax.
    fn number(&mut self, text: &str);
    fn boolean(&mut self, value: bool);
    fn null(&mut self);
}

/// Writes text, on one line or indented.
pub struct Text {
    out: String,
    depth: usize,
    indented: bool,
    /// `true` while the innermost array or object is empty.
    empty: bool,
    /// `true` directly after a key.
    keyed: bool,
}

impl Text {
    pub fn new(indented: bool) -> Self {
        Self {
            out: String::new(),
            depth: 0,
            indented,
            empty: true,
            keyed: false,
        }
    }

    pub fn finish(self) -> String {
        self.out
    }

    fn line(&mut self) {
        if self.indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    /// Writes the separator before a key, or before a value without a key.
    #[inline(never)]
    fn separate(&mut self) {
        if std::mem::take(&mut self.keyed) {
            return;
        }
        if !std::mem::take(&mut self.empty) {
            self.out.push(',');
        }
        if self.depth > 0 {
            self.line();
        }
    }

    fn value(&mut self, text: &str) {
        self.separate();
        self.out.push_str(text);
    }

    #[inline(never)]
    fn open(&mut self, bracket: char) {
        self.separate();
        self.out.push(bracket);
        self.depth += 1;
        self.empty = true;
    }

    #[inline(never)]
    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !std::mem::take(&mut self.empty) {
            self.line();
        }
        self.out.push(bracket);
    }

    /// Writes a string in quotes, with the characters escaped that are special in HTML.
    #[inline(never)]
    fn write_quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    self.out.push_str("\\u");
                    let digits = [12, 8, 4, 0].map(|shift| u32::from(c) >> shift & 0xf);
                    self.out.extend(
                        digits
                            .into_iter()
                            .filter_map(|digit| char::from_digit(digit, 16)),
                    );
                }
                _ => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

impl Sink for Text {
    fn begin_object(&mut self) {
        self.open('{');
    }

    fn end_object(&mut self) {
        self.close('}');
    }

    fn begin_array(&mut self) {
        self.open('[');
    }

    fn end_array(&mut self) {
        self.close(']');
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.write_quoted(key);
        self.out.push_str(if self.indented { ": " } else { ":" });
        self.keyed = true;
    }

    fn string(&mut self, text: &str) {
        self.separate();
        self.write_quoted(text);
    }

    fn number(&mut self, text: &str) {
        self.value(text);
    }

    fn boolean(&mut self, value: bool) {
        self.value(if value { "true" } else { "false" });
    }

    fn null(&mut self) {
        self.value("null");
    }
}

/// Builds a [`Value`]. A number outside the range of 64-bit floats becomes a string.
#[derive(Default)]
pub struct Tree {
    /// Open arrays and objects, with their keys in the enclosing object.
    open: Vec<(Option<String>, Value)>,
    key: Option<String>,
    done: Value,
}

impl Tree {
    pub fn finish(self) -> Value {
        self.done
    }

    #[inline(never)]
    fn begin(&mut self, empty: Value) {
        self.open.push((self.key.take(), empty));
    }

    #[inline(never)]
    fn end(&mut self) {
        if let Some((key, value)) = self.open.pop() {
            self.key = key;
            self.put(value);
        }
    }

    #[inline(never)]
    fn put(&mut self, value: Value) {
        match (self.open.last_mut(), self.key.take()) {
            (Some((_, Value::Object(members))), Some(key)) => {
                members.insert(key, value);
            }
            (Some((_, Value::Array(elements))), _) => elements.push(value),
            _ => self.done = value,
        }
    }
}

impl Sink for Tree {
    fn begin_object(&mut self) {
        self.begin(Value::Object(Map::new()));
    }

    fn end_object(&mut self) {
        self.end();
    }

    fn begin_array(&mut self) {
        self.begin(Value::Array(Vec::new()));
    }

    fn end_array(&mut self) {
        self.end();
    }

    fn key(&mut self, key: &str) {
        self.key = Some(key.to_owned());
    }

    fn string(&mut self, text: &str) {
        self.put(Value::String(text.to_owned()));
    }

    #[inline(never)]
    fn number(&mut self, text: &str) {
        let number: Option<Number> = serde_json::from_str(text).ok();
        self.put(number.map_or_else(|| Value::String(text.to_owned()), Value::Number));
    }

    fn boolean(&mut self, value: bool) {
        self.put(Value::Bool(value));
    }

    fn null(&mut self) {
        self.put(Value::Null);
    }
}
