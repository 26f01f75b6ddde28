//! A request of the JSON lines protocol.

/// A request.
#[derive(Clone)]
pub struct Request {
    pub modules: Vec<(String, String)>,
    /// Fields of the base documents, as names and JSON texts.
    pub data: Vec<(String, String)>,
    pub input: Vec<(String, String)>,
    pub query: String,
    pub v0: bool,
    pub strict: bool,
    pub strict_builtin_errors: bool,
}

impl Request {
    /// Returns one line of JSON.
    pub fn json(&self) -> String {
        let modules: Vec<String> = self
            .modules
            .iter()
            .map(|(name, text)| format!("{}:{}", quoted(name), quoted(text)))
            .collect();
        let mut fields = Vec::new();
        if !modules.is_empty() {
            fields.push(format!("\"modules\":{{{}}}", modules.join(",")));
        }
        for (name, document) in [("data", &self.data), ("input", &self.input)] {
            if !document.is_empty() {
                let pairs: Vec<String> = document
                    .iter()
                    .map(|(name, text)| format!("\"{name}\":{text}"))
                    .collect();
                fields.push(format!("\"{name}\":{{{}}}", pairs.join(",")));
            }
        }
        fields.push(format!("\"query\":{}", quoted(&self.query)));
        let options = [
            ("v0", self.v0),
            ("strict", self.strict),
            ("strict_builtin_errors", self.strict_builtin_errors),
        ];
        fields.extend(
            options
                .iter()
                .filter(|(_, on)| *on)
                .map(|(name, _)| format!("\"{name}\":true")),
        );
        format!("{{{}}}", fields.join(","))
    }

    /// Returns the same request without input and data, which shows whether they matter.
    pub fn without_documents(&self) -> Self {
        Self {
            data: Vec::new(),
            input: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns every request with one piece less: a module, a statement, a line, a field of a document, an option.
    pub fn smaller(&self) -> Vec<Self> {
        let mut candidates = Vec::new();
        for (number, (_, text)) in self.modules.iter().enumerate() {
            let mut without = self.clone();
            without.modules.remove(number);
            candidates.push(without);
            for separator in ["\n\n", "\n"] {
                let pieces: Vec<&str> = text.split(separator).collect();
                for dropped in 0..pieces.len() {
                    let mut left = pieces.clone();
                    left.remove(dropped);
                    let mut shorter = self.clone();
                    shorter.modules[number].1 = left.join(separator);
                    candidates.push(shorter);
                }
            }
        }
        for field in 0..self.data.len() {
            let mut without = self.clone();
            without.data.remove(field);
            candidates.push(without);
        }
        for field in 0..self.input.len() {
            let mut without = self.clone();
            without.input.remove(field);
            candidates.push(without);
        }
        candidates.push(Self {
            strict: false,
            strict_builtin_errors: false,
            ..self.clone()
        });
        let size = self.json().len();
        candidates.retain(|candidate| candidate.json().len() < size);
        candidates
    }
}

/// Returns a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
