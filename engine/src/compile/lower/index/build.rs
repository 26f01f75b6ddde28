//! The decision tree: at each node the question that leaves the fewest rules.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::{Condition, Proof, WORTHWHILE};
use crate::builtins::net;
use crate::program::{
    AccessPath, Branch, Feature, Index, Nested, Node, Question, RequiredValues, Values,
};
use crate::value::Value;

/// Most questions on the way to a rule.
const DEPTH: usize = 8;

/// Most places of a rule in a tree, on average: one that takes any of many answers is below each of them.
const SPREAD: usize = 16;

/// A decision tree, and what it proves of each rule that it finds.
pub struct Built {
    /// The tree.
    pub index: Index,
    /// For each rule what need not be tested.
    pub proven: Vec<Proofs>,
}

/// Builds the tree of a set of rules from the conditions of each.
pub fn build(rules: &[Vec<Condition>]) -> Built {
    let total: usize = rules
        .iter()
        .flatten()
        .map(|condition| condition.answers.len())
        .sum();
    let mut building = IndexBuilder {
        proven: vec![None; rules.len()],
        room: SPREAD * rules.len() + total,
    };
    let entries: Vec<PendingRule<'_>> = (0..)
        .zip(rules)
        .map(|(rule, conditions)| PendingRule {
            rule,
            conditions,
            used: 0,
            proofs: Proofs::new(),
        })
        .collect();
    let index = match building.node(entries, DEPTH) {
        Node::Rules(_) => Index::All,
        Node::Branch(branch) => Index::By(branch),
    };
    let is_tree = matches!(index, Index::By(_));
    let proven = building.proven.into_iter();
    let proven = proven.map(|proofs| proofs.filter(|_| is_tree).unwrap_or_default());
    Built {
        index,
        proven: proven.collect(),
    }
}

/// What is proven of a rule.
pub type Proofs = SmallVec<[Proof; 4]>;

/// A rule on its way down the tree.
#[derive(Clone)]
struct PendingRule<'c> {
    rule: u32,
    conditions: &'c [Condition],
    /// The conditions that were asked for on the way, by their positions.
    used: u64,
    proofs: Proofs,
}

impl<'c> PendingRule<'c> {
    /// The conditions that were not asked for yet, with their positions.
    fn open(&self) -> impl Iterator<Item = (usize, &'c Condition)> {
        let used = self.used;
        let all = self.conditions.iter().enumerate();
        all.filter(move |(at, _)| used & (1_u64 << at) == 0)
    }

    /// What it needs as the answer of a question.
    fn answer(&self, question: &Question) -> Option<(usize, Requirement<'c>)> {
        self.open()
            .find_map(|(at, condition)| Some((at, need(condition, question)?)))
    }
}

/// What a condition needs as the answer of a question.
enum Requirement<'c> {
    /// One of the condition's own answers.
    Own(&'c Condition),
    /// That there is something under a key.
    Key(&'c Value),
}

fn need<'c>(condition: &'c Condition, question: &Question) -> Option<Requirement<'c>> {
    if condition.question == *question {
        return Some(Requirement::Own(condition));
    }
    let (key, outer) = condition.question.place.path.split_last()?;
    let is_key = question.feature == Feature::Key
        && question.place.root == condition.question.place.root
        && *question.place.path == *outer;
    is_key.then_some(Requirement::Key(key))
}

/// How a question divides rules.
#[derive(Default)]
struct Division<'c> {
    /// Rules that need an answer.
    rules: usize,
    /// Places of those rules below answers.
    places: usize,
    /// The answers.
    answers: HashSet<&'c Value>,
}

impl Division<'_> {
    /// Rules that are left on average, times a thousand, of so many.
    fn left(&self, rules: usize) -> usize {
        1000 * (rules - self.rules) + 1000 * self.places / self.answers.len().max(1)
    }

    /// Whether asking saves a rule on average, and there is room for the places.
    fn is_worth_it(&self, rules: usize, room: usize) -> bool {
        self.answers.len() > 1 && self.places <= room && self.left(rules) + 1000 <= 1000 * rules
    }

    /// The order in which questions are preferred.
    fn order<'q>(&self, question: &'q Question, entries: &[PendingRule<'_>]) -> impl Ord + use<'q> {
        (
            self.left(entries.len()),
            Reverse(self.answers.len()),
            &question.feature,
            question.place.root,
            &question.place.path,
        )
    }
}

struct IndexBuilder {
    /// What is proven of each rule wherever it is found.
    proven: Vec<Option<Proofs>>,
    /// Places of rules that may still be made.
    room: usize,
}

impl IndexBuilder {
    fn node(&mut self, entries: Vec<PendingRule<'_>>, depth: usize) -> Node {
        if entries.len() < WORTHWHILE || depth == 0 {
            return self.leaf(entries);
        }
        match self.question(&entries) {
            Some(question) => self.branch(entries, question, depth),
            None => self.leaf(entries),
        }
    }

    fn leaf(&mut self, entries: Vec<PendingRule<'_>>) -> Node {
        let mut rules = Vec::with_capacity(entries.len());
        for entry in entries {
            rules.push(entry.rule);
            match self.proven.get_mut(entry.rule as usize) {
                Some(Some(proven)) => proven.retain(|proof| entry.proofs.contains(proof)),
                Some(first) => *first = Some(entry.proofs),
                None => {}
            }
        }
        Node::Rules(rules.into())
    }

    /// The question that leaves the fewest rules, if one is worth asking.
    fn question(&self, entries: &[PendingRule<'_>]) -> Option<Question> {
        let mut divisions: HashMap<&Question, Division<'_>> = HashMap::new();
        for (_, condition) in entries.iter().flat_map(PendingRule::open) {
            let division = divisions.entry(&condition.question).or_default();
            division.rules += 1;
            division.places += condition.answers.len();
            division.answers.extend(&condition.answers);
        }
        let divisions = divisions
            .into_iter()
            .filter(|(_, division)| division.is_worth_it(entries.len(), self.room));
        let best = divisions.min_by_key(|(question, division)| division.order(question, entries));
        best.map(|(question, _)| question.clone())
            .or_else(|| self.key_question(entries))
    }

    /// The same among the keys that objects must have.
    fn key_question(&self, entries: &[PendingRule<'_>]) -> Option<Question> {
        let mut outer: HashMap<(_, &[Value]), Division<'_>> = HashMap::new();
        for entry in entries {
            let mut seen: Vec<(_, &[Value])> = Vec::new();
            for (_, condition) in entry.open() {
                let place = &condition.question.place;
                let Some((key, path)) = place.path.split_last() else {
                    continue;
                };
                if seen.contains(&(place.root, path)) {
                    continue;
                }
                seen.push((place.root, path));
                let division = outer.entry((place.root, path)).or_default();
                division.rules += 1;
                division.places += 1;
                division.answers.insert(key);
            }
        }
        let divisions = outer
            .into_iter()
            .filter(|(_, division)| division.is_worth_it(entries.len(), self.room));
        let questions = divisions.map(|((root, path), division)| {
            let path = path.into();
            let question = Question {
                place: AccessPath { root, path },
                feature: Feature::Key,
            };
            (division.left(entries.len()), question)
        });
        let best = questions.min_by(|a, b| {
            let order = |(left, question): &(usize, Question)| {
                (*left, question.place.root, question.place.path.clone())
            };
            order(a).cmp(&order(b))
        });
        best.map(|(_, question)| question)
    }

    fn branch(&mut self, entries: Vec<PendingRule<'_>>, question: Question, depth: usize) -> Node {
        let mut by_answer: Vec<(&Value, PendingRule<'_>)> = Vec::with_capacity(entries.len());
        let mut rest = Vec::new();
        let lenient = entries.iter().any(|entry| {
            let asked = entry
                .answer(&question)
                .and_then(|(at, _)| entry.conditions.get(at));
            asked.is_some_and(|condition| condition.lenient)
        });
        let mut places = 0;
        for mut entry in entries {
            let Some((at, need)) = entry.answer(&question) else {
                rest.push(entry);
                continue;
            };
            let answers = match need {
                Requirement::Own(condition) => {
                    entry.used |= 1 << at;
                    if !lenient {
                        entry.proofs.extend(condition.proves);
                    }
                    condition.answers.as_slice()
                }
                Requirement::Key(key) => std::slice::from_ref(key),
            };
            if let [answer] = answers {
                places += 1;
                by_answer.push((answer, entry));
                continue;
            }
            let mut distinct: Vec<&Value> = answers.iter().collect();
            distinct.sort();
            distinct.dedup();
            places += distinct.len();
            for answer in distinct {
                by_answer.push((answer, entry.clone()));
            }
        }
        self.room = self.room.saturating_sub(places);
        let mut nodes: Vec<(Value, Node)> = Vec::with_capacity(by_answer.len());
        // in order, so that equal programs have equal trees; rules of one answer stay in theirs
        by_answer.sort_by(|a, b| a.0.cmp(b.0));
        let mut by_answer = by_answer.into_iter().peekable();
        while let Some((answer, first)) = by_answer.next() {
            let mut entries = vec![first];
            while let Some((_, entry)) = by_answer.next_if(|(other, _)| *other == answer) {
                entries.push(entry);
            }
            nodes.push((answer.clone(), self.node(entries, depth - 1)));
        }
        let rest = self.node(rest, depth - 1);
        Node::Branch(Box::new(Branch {
            answers: answers(&question.feature, nodes),
            question,
            lenient,
            rest,
        }))
    }
}

/// Answers by the kind of question.
fn answers(feature: &Feature, nodes: Vec<(Value, Node)>) -> RequiredValues {
    let bytes = |value: &Value| value.string_bytes().unwrap_or_default().to_vec();
    match feature {
        Feature::Prefix | Feature::Suffix => {
            let texts = nodes.into_iter().map(|(value, node)| {
                let mut text = bytes(&value);
                if *feature == Feature::Suffix {
                    text.reverse();
                }
                (text.into_boxed_slice(), node)
            });
            RequiredValues::Texts(Nested::new(texts.collect()))
        }
        Feature::Network => {
            let mut ranges: Vec<(net::Range, Node)> = Vec::new();
            for (value, node) in nodes {
                let range = value.utf8().and_then(net::range);
                ranges.extend(range.map(|range| (range, node)));
            }
            RequiredValues::Networks(Nested::new(ranges))
        }
        _ => RequiredValues::Values(Values::new(nodes)),
    }
}
