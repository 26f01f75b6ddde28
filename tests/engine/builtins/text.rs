//! Parser of values in Rego syntax, and a formatter of values for comparisons.

use solon::internal::value::{Arena, Kind, NumberBuf, ValueRef};

/// A parser of one text.
pub struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// Parses a whole value.
    pub fn literal(mut self, arena: &Arena) -> ValueRef<'_> {
        let value = self.term(arena);
        self.end();
        value
    }

    fn end(&mut self) {
        self.skip();
        assert!(self.rest.is_empty(), "left over: {}", self.rest);
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn need(&mut self, token: &str) {
        assert!(self.eat(token), "no `{token}` before {}", self.rest);
    }

    fn take(&mut self, of: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn term<'e>(&mut self, arena: &'e Arena) -> ValueRef<'e> {
        self.skip();
        match self.rest.chars().next().unwrap_or(' ') {
            '"' => arena.bytes_text(&self.string()),
            '[' => {
                self.need("[");
                let items = self.list(arena, "]");
                arena.array(&items)
            }
            '{' => self.braces(arena),
            '-' | '0'..='9' => {
                let text = self.take(|c| "+-.eE".contains(c) || c.is_ascii_digit());
                let number = NumberBuf::read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
                arena.number(number)
            }
            _ => match self.take(|c| c.is_ascii_alphabetic()) {
                "null" => ValueRef::default(),
                "true" => true.into(),
                "false" => false.into(),
                "set" => {
                    self.need("()");
                    arena.set_from([])
                }
                word => panic!("no value: {word}{}", self.rest),
            },
        }
    }

    fn braces<'e>(&mut self, arena: &'e Arena) -> ValueRef<'e> {
        self.need("{");
        if self.eat("}") {
            return arena.object_from([]);
        }
        let first = self.term(arena);
        if !self.eat(":") {
            let mut items = vec![first];
            if self.eat(",") {
                items.extend(self.list(arena, "}"));
            } else {
                self.need("}");
            }
            return arena.set_from(items);
        }
        let mut pairs = vec![(first, self.term(arena))];
        while self.eat(",") {
            let key = self.term(arena);
            self.need(":");
            pairs.push((key, self.term(arena)));
        }
        self.need("}");
        arena.object_from(pairs)
    }

    fn list<'e>(&mut self, arena: &'e Arena, end: &str) -> Vec<ValueRef<'e>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.term(arena));
            if !self.eat(",") {
                self.need(end);
                break;
            }
        }
        items
    }

    /// Parses a string in quotes, with the escapes of JSON and Go.
    fn string(&mut self) -> Vec<u8> {
        self.need("\"");
        let mut bytes = Vec::new();
        loop {
            bytes.extend(self.take(|c| c != '"' && c != '\\').bytes());
            if self.rest.starts_with('"') {
                self.rest = &self.rest[1..];
                return bytes;
            }
            let escape = self.rest.as_bytes()[1];
            self.rest = &self.rest[2..];
            match escape {
                b'x' => {
                    bytes.push(u8::try_from(self.hex(2)).unwrap());
                }
                b'u' | b'U' => {
                    let mut code = self.hex(if escape == b'u' { 4 } else { 8 });
                    if (0xd800..0xdc00).contains(&code) && self.rest.starts_with("\\u") {
                        self.rest = &self.rest[2..];
                        code = 0x10000 + ((code - 0xd800) << 10) + (self.hex(4) - 0xdc00);
                    }
                    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    bytes.extend(c.to_string().bytes());
                }
                b'a' => bytes.push(7),
                b'b' => bytes.push(8),
                b'f' => bytes.push(12),
                b'n' => bytes.push(b'\n'),
                b'r' => bytes.push(b'\r'),
                b't' => bytes.push(b'\t'),
                b'v' => bytes.push(11),
                other => bytes.push(other),
            }
        }
    }

    fn hex(&mut self, digits: usize) -> u32 {
        let (code, rest) = self.rest.split_at(digits);
        self.rest = rest;
        u32::from_str_radix(code, 16).unwrap()
    }
}

/// Returns a text that differs for any two different values, and for different notations of a number.
pub fn show(value: ValueRef<'_>) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value.as_bool() {
        Some(b) => b.to_string(),
        None => match value.kind() {
            Kind::Null => "null".to_owned(),
            Kind::Number => value.as_number().unwrap().to_string(),
            Kind::String => format!("\"{}\"", value.as_text().unwrap().as_bytes().escape_ascii()),
            Kind::Array => {
                let items = value.as_array().unwrap();
                format!("[{}]", list(items.iter().map(show).collect()))
            }
            Kind::Object => {
                let pairs = value.as_object().unwrap();
                let pairs = pairs
                    .iter()
                    .map(|(k, v)| format!("{}: {}", show(k), show(v)));
                format!("{{{}}}", list(pairs.collect()))
            }
            _ => {
                let items = value.as_set().unwrap();
                format!("set({})", list(items.iter().map(show).collect()))
            }
        },
    }
}
