//! GraphQL documents and syntax trees with random mutations.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use solon::internal::value::json::read;
use solon::{Engine, PreparedQuery, Request};

use crate::on_small_stack;

const SEED: u64 = 7;

/// Number of mutations of each recorded query.
const ROUNDS: usize = 4;

/// Texts that mutations insert into documents.
const SCRAPS: [&str; 48] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "!",
    "$",
    "@",
    "|",
    "&",
    "=",
    ":",
    "...",
    "on",
    "type",
    "extend",
    "union",
    "enum",
    "input",
    "schema",
    "query",
    "fragment",
    "interface",
    "scalar",
    "directive",
    "implements",
    "repeatable",
    "\"s\"",
    "\"",
    "\"\"\"",
    "\"\"\"b\n\"\"\"",
    "\\",
    "1",
    "1e999",
    "-",
    "01",
    "99999999999999999999",
    "#c\n",
    "\r\n",
    "\u{feff}",
    "é",
    "\0",
    "__x",
    "null",
    "...F",
    "@skip(if: $v)",
    "extend type Query { zz: Int }",
];

/// A generator of pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn less_than(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end.max(1)
    }

    fn boundary(&mut self, text: &str) -> usize {
        let at = self.less_than(text.len() + 1);
        (at..=text.len())
            .find(|&at| text.is_char_boundary(at))
            .unwrap()
    }

    /// Mutates a document.
    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..=self.less_than(3) {
            let (a, b) = (self.boundary(&text), self.boundary(&text));
            let range = a.min(b)..a.max(b).min(a.min(b) + 20);
            let range = range.start
                ..(range.end..=text.len())
                    .find(|&at| text.is_char_boundary(at))
                    .unwrap();
            match self.less_than(4) {
                0 => text.replace_range(range, ""),
                1 => {
                    let copy = text[range].to_owned();
                    text.insert_str(a, &copy);
                }
                _ => text.insert_str(a, SCRAPS[self.less_than(SCRAPS.len())]),
            }
        }
        text
    }

    /// Mutates a tree in one position.
    fn tree(&mut self, tree: &mut Json) {
        let here = self.less_than(4) == 0;
        match tree {
            Json::Object(members) if !members.is_empty() => {
                let key = members
                    .keys()
                    .nth(self.less_than(members.len()))
                    .unwrap()
                    .clone();
                if here && self.less_than(2) == 0 {
                    members.remove(&key);
                } else {
                    self.tree(&mut members[&key]);
                }
            }
            Json::Array(items) if !items.is_empty() => {
                let index = self.less_than(items.len());
                match self.less_than(8) {
                    0 => drop(items.remove(index)),
                    1 => items.push(items[index].clone()),
                    _ => self.tree(&mut items[index]),
                }
            }
            leaf => {
                let others = [
                    Json::Null,
                    json!(0),
                    json!(-1),
                    json!(9),
                    json!(1.5),
                    json!(""),
                    json!("F"),
                    json!("$x"),
                    json!(true),
                    json!([]),
                    json!({}),
                    json!([null]),
                    json!({"Name": "a"}),
                    json!("1e999"),
                ];
                *leaf = others[self.less_than(others.len())].clone();
            }
        }
    }
}

struct Functions {
    parse: PreparedQuery,
    is_valid: PreparedQuery,
    trees: PreparedQuery,
}

impl Functions {
    fn new() -> Self {
        let engine = Engine::new();
        let prepare = |call: &str| engine.prepare_query(call).unwrap();
        Self {
            parse: prepare("x := graphql.parse(input.query, input.schema)"),
            is_valid: prepare("x := graphql.is_valid(input.query, input.schema)"),
            trees: prepare(
                "x := graphql.parse_query(input.query); y := graphql.parse_schema(input.schema)",
            ),
        }
    }

    /// Returns `true` if a query is valid. Both functions have to agree.
    fn check(&self, query: &Json, schema: &Json) -> bool {
        let input = json!({"query": query, "schema": schema}).to_string();
        let input = read(input.as_bytes()).unwrap();
        let request = Request::new().input(&input);
        let fits = !self.parse.solutions(&request).unwrap().is_empty();
        let valid = self.is_valid.solutions(&request).unwrap();
        assert_eq!(valid[0].bindings[0].1, fits, "{query}\n{schema}");
        fits
    }

    /// Returns the trees of documents, if both are valid.
    fn trees(&self, query: &str, schema: &str) -> Option<[Json; 2]> {
        let input = json!({"query": query, "schema": schema}).to_string();
        let input = read(input.as_bytes()).unwrap();
        let found = self.trees.solutions(&Request::new().input(&input)).unwrap();
        let tree = |index: usize| {
            let value = &found.first()?.bindings[index].1;
            let mut text = Vec::new();
            solon::internal::value::json::write(value.borrow(), &mut text);
            serde_json::from_slice(&text).ok()
        };
        Some([tree(0)?, tree(1)?])
    }
}

#[test]
fn mutated_documents_and_trees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/graphql");
    let functions = Functions::new();
    let mut dice = Dice(SEED);
    let (mut fitting, mut broken) = (0, 0);
    let mut run = |query: &Json, schema: &Json| {
        let fits = on_small_stack("broken document", || functions.check(query, schema));
        *if fits { &mut fitting } else { &mut broken } += 1;
    };
    for file in ["rules.json", "generated.json"] {
        let groups: Json =
            serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let schema = group["schema"].as_str().unwrap();
            for case in group["queries"].as_array().unwrap() {
                let query = case["query"].as_str().unwrap();
                for _ in 0..ROUNDS {
                    run(&dice.text(query).into(), &schema.into());
                }
                run(&query.into(), &dice.text(schema).into());
                if let Some([mut query, mut schema]) = functions.trees(query, schema) {
                    dice.tree(&mut query);
                    run(&query, &schema);
                    dice.tree(&mut schema);
                    run(&query, &schema);
                }
            }
        }
    }
    assert!(
        fitting > 100 && broken > 1000,
        "{fitting} fit, {broken} do not"
    );
}
