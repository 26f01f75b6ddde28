//! Construction of the decision tree: each node tests the condition that leaves the fewest rules.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::{IndexCondition, Proof, WORTHWHILE};
use crate::builtins::net;
use crate::program::{
    AccessPath, Answers, DecisionBranch, DecisionNode, Index, Nested, Question, ValueFeature,
    Values,
};
use crate::value::Value;

/// Maximum number of questions on the path to a rule.
const DEPTH: usize = 8;

/// Maximum average number of copies of a rule in the tree. A rule that accepts several answers is copied below each of
/// them.
const SPREAD: usize = 16;

/// A decision tree, and the checks that it implies for each rule.
pub struct Built {
    pub index: Index,
    /// Implied checks of each rule.
    pub proven: Vec<Proofs>,
}

/// Builds the tree of a rule set from the conditions of each rule, within a limit of nodes.
pub fn build(rules: &[Vec<IndexCondition>]) -> Built {
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
        DecisionNode::Rules(_) => Index::All,
        DecisionNode::Branch(branch) => Index::By(branch),
    };
    let is_tree = matches!(index, Index::By(_));
    let proven = building.proven.into_iter();
    let proven = proven.map(|proofs| proofs.filter(|_| is_tree).unwrap_or_default());
    Built {
        index,
        proven: proven.collect(),
    }
}

/// Implied checks of a rule.
pub type Proofs = SmallVec<[Proof; 4]>;

/// A rule during construction of the tree.
#[derive(Clone)]
struct PendingRule<'c> {
    rule: u32,
    conditions: &'c [IndexCondition],
    /// Bit set of the conditions that were already used, by index.
    used: u64,
    proofs: Proofs,
}

impl<'c> PendingRule<'c> {
    /// Iterates over the unused conditions with their indices.
    fn open(&self) -> impl Iterator<Item = (usize, &'c IndexCondition)> {
        let used = self.used;
        let all = self.conditions.iter().enumerate();
        all.filter(move |(at, _)| used & (1_u64 << at) == 0)
    }

    /// Returns the condition that determines the answer to a question, with the required answer.
    fn answer(&self, question: &Question) -> Option<(usize, Requirement<'c>)> {
        self.open()
            .find_map(|(at, condition)| Some((at, need(condition, question)?)))
    }
}

/// Required answer to a question.
enum Requirement<'c> {
    Own(&'c IndexCondition),
    /// Existence of a value under a key.
    Key(&'c Value),
}

fn need<'c>(condition: &'c IndexCondition, question: &Question) -> Option<Requirement<'c>> {
    if condition.question == *question {
        return Some(Requirement::Own(condition));
    }
    let (key, outer) = condition.question.place.path.split_last()?;
    let is_key = question.feature == ValueFeature::Key
        && question.place.root == condition.question.place.root
        && *question.place.path == *outer;
    is_key.then_some(Requirement::Key(key))
}

/// Effect of a question on a set of rules.
#[derive(Default)]
struct Division<'c> {
    /// Number of rules that require an answer.
    rules: usize,
    /// Number of copies of those rules below answers.
    places: usize,
    answers: HashSet<&'c Value>,
}

impl Division<'_> {
    /// Average number of remaining rules, times 1000.
    fn left(&self, rules: usize) -> usize {
        1000 * (rules - self.rules) + 1000 * self.places / self.answers.len().max(1)
    }

    /// Returns `true` if the question saves a rule on average and the copies fit.
    fn is_worth_it(&self, rules: usize, room: usize) -> bool {
        self.answers.len() > 1 && self.places <= room && self.left(rules) + 1000 <= 1000 * rules
    }

    /// Returns the sort key for choosing among questions.
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
    /// For each rule, the checks implied on every path to it.
    proven: Vec<Option<Proofs>>,
    /// Number of copies that may still be made.
    room: usize,
}

impl IndexBuilder {
    fn node(&mut self, entries: Vec<PendingRule<'_>>, depth: usize) -> DecisionNode {
        if entries.len() < WORTHWHILE || depth == 0 {
            return self.leaf(entries);
        }
        match self.question(&entries) {
            Some(question) => self.branch(entries, question, depth),
            None => self.leaf(entries),
        }
    }

    fn leaf(&mut self, entries: Vec<PendingRule<'_>>) -> DecisionNode {
        let mut rules = Vec::with_capacity(entries.len());
        for entry in entries {
            rules.push(entry.rule);
            match self.proven.get_mut(entry.rule as usize) {
                Some(Some(proven)) => proven.retain(|proof| entry.proofs.contains(proof)),
                Some(first) => *first = Some(entry.proofs),
                None => {}
            }
        }
        DecisionNode::Rules(rules.into())
    }

    /// Returns the question that leaves the fewest rules, if one is worthwhile.
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

    /// Returns the best question among the required keys of objects.
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
                feature: ValueFeature::Key,
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

    fn branch(
        &mut self,
        entries: Vec<PendingRule<'_>>,
        question: Question,
        depth: usize,
    ) -> DecisionNode {
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
        let mut nodes: Vec<(Value, DecisionNode)> = Vec::with_capacity(by_answer.len());
        // sorted, so that equal programs have equal trees; the order of rules with one answer is kept
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
        DecisionNode::Branch(Box::new(DecisionBranch {
            answers: answers(&question.feature, nodes),
            question,
            lenient,
            rest,
        }))
    }
}

/// Builds the answers of a kind of question.
fn answers(feature: &ValueFeature, nodes: Vec<(Value, DecisionNode)>) -> Answers {
    let bytes = |value: &Value| value.string_bytes().unwrap_or_default().to_vec();
    match feature {
        ValueFeature::Prefix | ValueFeature::Suffix => {
            let texts = nodes.into_iter().map(|(value, node)| {
                let mut text = bytes(&value);
                if *feature == ValueFeature::Suffix {
                    text.reverse();
                }
                (text.into_boxed_slice(), node)
            });
            Answers::Texts(Nested::new(texts.collect()))
        }
        ValueFeature::Network => {
            let mut ranges: Vec<(net::Range, DecisionNode)> = Vec::new();
            for (value, node) in nodes {
                let range = value.utf8().and_then(net::range);
                ranges.extend(range.map(|range| (range, node)));
            }
            Answers::Networks(Nested::new(ranges))
        }
        _ => Answers::Values(Values::new(nodes)),
    }
}
