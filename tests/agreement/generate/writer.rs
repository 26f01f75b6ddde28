//! The state of one program while it is written: its documents, the values that its rules may read, and the rules so
//! far.

use super::random::Random;
use super::rule::{Dialect, Rule};
use super::shape::Shape;
use super::vocabulary::{self, Vocabulary};

/// Names of rules; no variable, package or built-in function has one of these names.
const RULES: [&str; 18] = [
    "p", "q", "r", "s", "t", "allow", "deny", "total", "result", "found", "pairs", "view",
    "picked", "grouped", "level_of", "report", "hits", "ok",
];
const VARIABLES: [&str; 14] = [
    "x", "y", "z", "k", "v", "i", "j", "n", "w", "item", "key", "elem", "other", "u1",
];

/// A named value for use in expressions.
#[derive(Clone)]
pub struct Source {
    pub path: String,
    pub shape: Shape,
}

/// A function that a rule may call.
#[derive(Clone)]
pub struct Function {
    pub path: String,
    pub arguments: Vec<Shape>,
    pub result: Shape,
}

/// One finished module.
pub struct Module {
    pub package: String,
    pub imports: Vec<String>,
    pub rules: Vec<Rule>,
}

pub struct Writer {
    pub random: Random,
    pub vocabulary: Vocabulary,
    pub dialect: Dialect,
    /// Fields of the input and of the base documents, as names and JSON texts.
    pub input: Vec<(String, String)>,
    pub data: Vec<(String, String)>,
    pub sources: Vec<Source>,
    pub functions: Vec<Function>,
    pub modules: Vec<Module>,
    pub package: String,
    pub imports: Vec<String>,
    pub rules: Vec<Rule>,
    /// Paths imported by this module, with their short names.
    pub aliases: Vec<(String, String)>,
    /// Variables in scope, inner ones last.
    pub locals: Vec<Source>,
    /// All variables that the current rule has used.
    used: Vec<String>,
}

impl Writer {
    pub fn new(seed: u64, dialect: Dialect) -> Self {
        let mut random = Random::new(seed);
        let vocabulary = Vocabulary::draw(&mut random);
        let mut writer = Self {
            random,
            vocabulary,
            dialect,
            input: Vec::new(),
            data: Vec::new(),
            sources: Vec::new(),
            functions: Vec::new(),
            modules: Vec::new(),
            package: String::new(),
            imports: Vec::new(),
            rules: Vec::new(),
            aliases: Vec::new(),
            locals: Vec::new(),
            used: Vec::new(),
        };
        writer.input = writer.document("input", 3);
        writer.data = writer.document("data", 2);
        writer
    }

    /// Creates a document of a few fields and makes its contents available.
    fn document(&mut self, root: &str, fields: usize) -> Vec<(String, String)> {
        let count = self.random.between(1, fields);
        let names = self.vocabulary.fields(&mut self.random, count);
        let mut drawn = Vec::new();
        for name in names {
            let shape = self.vocabulary.shape(&mut self.random, 2);
            let text = self.vocabulary.document(&mut self.random, &shape);
            self.offer(format!("{root}{}", vocabulary::step(name)), shape, 2);
            drawn.push((name.to_string(), text));
        }
        drawn
    }

    /// Makes a value available; with `depth`, also its parts at fixed paths.
    pub fn offer(&mut self, path: String, shape: Shape, depth: usize) {
        if depth > 0 {
            match &shape {
                Shape::Record(fields) => {
                    for (name, of) in fields.clone() {
                        self.offer(format!("{path}{}", vocabulary::step(&name)), of, depth - 1);
                    }
                }
                Shape::Map(of) => {
                    let key = self.vocabulary.string(&mut self.random);
                    self.offer(format!("{path}[{key}]"), (**of).clone(), depth - 1);
                }
                Shape::Array(of) => self.offer(format!("{path}[0]"), (**of).clone(), depth - 1),
                _ => {}
            }
        }
        self.sources.push(Source { path, shape });
    }

    /// Returns the notation of an absolute path in the current rule: short inside its own package and through imports.
    pub fn spell(&mut self, path: &str) -> String {
        let own = format!("data.{}.", self.package);
        if let Some(name) = path.strip_prefix(&own)
            && self.is_rule(name)
            && self.random.chance(90)
        {
            return name.to_string();
        }
        for (long, short) in &self.aliases {
            if let Some(rest) = path.strip_prefix(long.as_str())
                && rest.starts_with(['.', '['])
            {
                return format!("{short}{rest}");
            }
        }
        path.to_string()
    }

    pub fn begin_module(&mut self, package: &str) {
        self.package = package.to_string();
        self.aliases.clear();
    }

    /// Imports `path`, half of the time under another name.
    pub fn import(&mut self, path: &str) {
        let last = path.rsplit('.').next().unwrap_or(path).to_string();
        let alias = if self.random.chance(50) {
            "other_pkg".to_string()
        } else {
            last.clone()
        };
        let suffix = if alias == last {
            String::new()
        } else {
            format!(" as {alias}")
        };
        self.imports.push(format!("import {path}{suffix}"));
        self.aliases.push((path.to_string(), alias));
    }

    /// Finishes the current module, so that later text, such as the query, has no short names. Returns its package.
    pub fn end_module(&mut self) -> String {
        let package = std::mem::take(&mut self.package);
        self.modules.push(Module {
            package: package.clone(),
            imports: std::mem::take(&mut self.imports),
            rules: std::mem::take(&mut self.rules),
        });
        self.aliases.clear();
        self.forget();
        package
    }

    /// Returns an unused name for a rule of this package.
    pub fn rule_name(&mut self) -> String {
        let free: Vec<&str> = RULES
            .iter()
            .copied()
            .filter(|name| !self.is_taken(name))
            .collect();
        let count = self.rules.len();
        if free.is_empty() {
            format!("rule_{count}")
        } else {
            (*self.random.pick(&free)).to_string()
        }
    }

    /// Returns `true` if a path below the package starts with a rule, not with a base document.
    fn is_rule(&self, path: &str) -> bool {
        self.is_taken(path.split(['.', '[']).next().unwrap_or(path))
    }

    fn is_taken(&self, name: &str) -> bool {
        let named = |head: &str| {
            head.strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()))
        };
        self.rules.iter().any(|rule| named(&rule.head))
    }

    /// Returns the absolute path of a name in this package.
    pub fn absolute(&self, name: &str) -> String {
        format!("data.{}.{name}", self.package)
    }

    /// Adds a rule; its variables go out of scope.
    pub fn push(&mut self, rule: Rule) {
        self.rules.push(rule);
        self.forget();
    }

    /// Ends the scope of the current rule.
    pub fn forget(&mut self) {
        self.locals.clear();
        self.used.clear();
    }

    /// Returns a variable that the current rule has not used; in a closure sometimes one that shadows an outer one.
    pub fn fresh(&mut self) -> String {
        if !self.locals.is_empty() && self.random.chance(1) {
            let local = self.random.pick(&self.locals).path.clone();
            return local;
        }
        let free: Vec<&str> = VARIABLES
            .iter()
            .copied()
            .filter(|name| !self.used.iter().any(|used| used == name))
            .collect();
        let count = self.used.len();
        let name = if free.is_empty() {
            format!("v{count}")
        } else {
            (*self.random.pick(&free)).to_string()
        };
        self.used.push(name.clone());
        name
    }

    /// Adds a variable to the scope.
    pub fn bind(&mut self, name: &str, shape: Shape) {
        self.locals.retain(|local| local.path != name);
        self.locals.push(Source {
            path: name.to_string(),
            shape,
        });
    }

    pub fn constant(&mut self, shape: &Shape) -> String {
        self.vocabulary.constant(&mut self.random, shape)
    }

    pub fn scalar_kind(&mut self) -> Shape {
        Vocabulary::scalar_kind(&mut self.random)
    }

    /// Returns a kind that built-in functions accept.
    pub fn useful_kind(&mut self) -> Shape {
        match self.random.weighted(&[
            (5, 0),
            (5, 1),
            (3, 2),
            (3, 3),
            (2, 4),
            (2, 5),
            (1, 6),
            (1, 7),
        ]) {
            0 => Shape::Number,
            1 => Shape::Text,
            2 => Shape::array(self.scalar_kind()),
            3 => Shape::set(self.scalar_kind()),
            4 => Shape::map(self.scalar_kind()),
            5 => Shape::Boolean,
            6 => Shape::array(Shape::array(self.scalar_kind())),
            _ => Shape::map(Shape::array(self.scalar_kind())),
        }
    }
}
