//! Reads calls and values from Rego text, and shows values as text.

use solon::builtins::Run;
use solon::builtins::{self, Call, Fault};
use solon::value::{Arena, Kind, NumberBuf, V};

/// The built-in that failed, and why.
type Failure = (String, Fault);

/// Reads one text from left to right.
pub struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// A whole call.
    pub fn call<'e>(mut self, call: &mut Call<'e>) -> Result<V<'e>, Failure> {
        let value = self.term(call.arena, Some(call))?;
        self.end();
        Ok(value)
    }

    /// A whole value.
    pub fn literal<'e>(mut self, arena: &'e Arena) -> V<'e> {
        let value = self
            .term(arena, None)
            .unwrap_or_else(|_| panic!("a call in a value"));
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

    fn term<'e>(
        &mut self,
        arena: &'e Arena,
        mut call: Option<&mut Call<'e>>,
    ) -> Result<V<'e>, Failure> {
        self.skip();
        Ok(match self.rest.chars().next().unwrap_or(' ') {
            '"' => {
                let bytes = self.string();
                arena.bytes_text(&bytes)
            }
            '`' => {
                self.need("`");
                let text = self.take(|c| c != '`');
                self.need("`");
                arena.text(text)
            }
            '[' => {
                self.need("[");
                let items = self.list(arena, call, "]")?;
                arena.array(&items)
            }
            '{' => {
                self.need("{");
                if self.eat("}") {
                    return Ok(arena.object_from([]));
                }
                let first = self.term(arena, call.as_deref_mut())?;
                if !self.eat(":") {
                    let mut items = vec![first];
                    if self.eat(",") {
                        items.extend(self.list(arena, call, "}")?);
                    } else {
                        self.need("}");
                    }
                    return Ok(arena.set_from(items));
                }
                let mut pairs = vec![(first, self.term(arena, call.as_deref_mut())?)];
                while self.eat(",") {
                    let key = self.term(arena, call.as_deref_mut())?;
                    self.need(":");
                    pairs.push((key, self.term(arena, call.as_deref_mut())?));
                }
                self.need("}");
                arena.object_from(pairs)
            }
            '-' | '0'..='9' => {
                let text = self.take(|c| "+-.eE".contains(c) || c.is_ascii_digit());
                arena
                    .number(NumberBuf::read(text).unwrap_or_else(|error| panic!("{text}: {error}")))
            }
            _ => {
                let name = self.take(|c| c == '.' || c == '_' || c.is_ascii_alphanumeric());
                match name {
                    "null" => V::Null,
                    "true" => V::Bool(true),
                    "false" => V::Bool(false),
                    _ => {
                        self.need("(");
                        let operands = self.list(arena, call.as_deref_mut(), ")")?;
                        if name == "set" {
                            return Ok(arena.set_from([]));
                        }
                        if name == "hide" {
                            return Ok(operands[0]);
                        }
                        let call = call.expect("calls are allowed here");
                        let entry = builtins::lookup(name).unwrap_or_else(|| panic!("no `{name}`"));
                        let Run::Function(function) = entry.builtin.run else {
                            panic!("`{name}` is no function")
                        };
                        function(call, &operands).map_err(|fault| (name.to_owned(), fault))?
                    }
                }
            }
        })
    }

    fn list<'e>(
        &mut self,
        arena: &'e Arena,
        mut call: Option<&mut Call<'e>>,
        end: &str,
    ) -> Result<Vec<V<'e>>, Failure> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.term(arena, call.as_deref_mut())?);
            if !self.eat(",") {
                self.need(end);
                break;
            }
        }
        Ok(items)
    }

    /// A string in quotes, with the escapes of JSON and Go.
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

/// A text that tells every two different values apart, and numbers by how they are written.
pub fn show(value: V<'_>) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        V::Null => "null".to_owned(),
        V::Bool(b) => b.to_string(),
        _ => match value.kind() {
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
