//! The rule index: a decision tree that selects the rules that can match, by values of the input or an argument.
//!
//! Each node asks one [`Question`] about one access path. Rules that require an answer are below that answer, the
//! others below `rest`; both may have further questions. A rule that is not selected has a condition that fails.
//! Invariant: checks implied by the tree are omitted from plans, so plans of indexed rules run only for selected rules.

mod matches;
mod nested;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::builtins::net;
use crate::value::text::{ArenaText, Short};
use crate::value::{Kind, RefRepr, Repr, Value, ValueRef};

use matches::RuleLists;
pub use matches::{Numbers, SelectedRules};
pub use nested::Nested;

/// Selection of the rules that can match.
#[derive(Default)]
pub enum Index {
    /// No index: all rules must be tried.
    #[default]
    All,
    /// Those that a decision tree selects.
    By(Box<DecisionBranch>),
}

impl Index {
    /// Returns the tree, if there is one.
    #[inline]
    pub fn branch(&self) -> Option<&DecisionBranch> {
        match self {
            Self::All => None,
            Self::By(branch) => Some(branch),
        }
    }
}

/// Subtree of an answer: numbers of rules in source order, or a further question.
pub enum DecisionNode {
    /// The rules that can match here, by their positions.
    Rules(Box<[u32]>),
    /// A further question, which excludes more rules.
    Branch(Box<DecisionBranch>),
}

/// A question, the subtree of each answer, and the rules that need none.
pub struct DecisionBranch {
    /// The question that selects among `answers`.
    pub question: Question,
    /// If set, this branch must not exclude rules if errors of built-ins end the evaluation, because OPA would have
    /// entered them and reported their errors.
    pub lenient: bool,
    /// Rules that require an answer.
    pub answers: Answers,
    /// Rules that require none.
    pub rest: DecisionNode,
}

/// A question about the value at an access path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// Access path of the value that is tested.
    pub place: AccessPath,
    /// The feature that is compared with the answers.
    pub feature: ValueFeature,
}

/// Keys from one value to a value inside it.
pub type KeyPath = SmallVec<[Value; 3]>;

/// Path to a value of the input or an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccessPath {
    /// Root that the path starts at.
    pub root: PathRoot,
    /// Keys from the root to the value.
    pub path: KeyPath,
}

/// Start of an access path: the input or an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathRoot {
    /// The input.
    Input,
    /// An argument of the function, from 0.
    Argument(u32),
}

/// Features of a value, cheap ones first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueFeature {
    /// The value itself, whatever its type.
    Value,
    /// Length of the array. Other values have none.
    Length,
    /// Segment of the string at an index, between delimiters. Other values have none.
    Segment(Delimiters, usize),
    /// Number of segments of the string.
    Segments(Delimiters),
    /// Prefixes of the string, of any length.
    Prefix,
    /// Suffixes of the string, of any length.
    Suffix,
    /// Networks that contain the address or network.
    Network,
    /// Keys of the object, or members of the set.
    Key,
    /// Elements of the array, members of the set, or values of the object.
    Element,
}

/// Delimiters of a string's segments, as of `split` and `glob.match`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Delimiters {
    /// Any of some characters.
    Chars(Box<[char]>),
    /// One text of any length.
    Text(Box<str>),
}

/// Answers of a question, with the subtree of each.
pub enum Answers {
    /// One value for each subtree.
    Values(Values),
    /// Prefixes of strings, or reversed suffixes.
    Texts(Nested<Box<[u8]>>),
    /// Networks, which may contain each other.
    Networks(Nested<net::Range>),
}

/// Answers that are one value each, hashed.
#[derive(Default)]
pub struct Values {
    nodes: HashMap<Value, DecisionNode, foldhash::fast::RandomState>,
    /// `true` if some are collections; otherwise collections are not hashed.
    collections: bool,
}

impl Values {
    /// Creates the answers from distinct values and their subtrees.
    pub fn new(nodes: Vec<(Value, DecisionNode)>) -> Self {
        Self {
            collections: nodes.iter().any(|(value, _)| value.kind() >= Kind::Array),
            nodes: nodes.into_iter().collect(),
        }
    }

    /// Returns the subtree of a value, which is read in place. Returns `None` if no answer equals it.
    #[inline]
    pub fn get(&self, value: &ValueRef<'_>) -> Option<&DecisionNode> {
        if value.kind() >= Kind::Array && !self.collections {
            return None;
        }
        self.nodes.get(value)
    }

    /// Returns the subtree of a stored value, or `None` if no answer equals it. Collections are hashed only if there is one
    /// among the answers.
    #[inline]
    pub fn get_stored(&self, value: &Value) -> Option<&DecisionNode> {
        if matches!(
            value,
            Value(Repr::Array(_) | Repr::Object(_) | Repr::Set(_))
        ) && !self.collections
        {
            return None;
        }
        self.nodes.get(value)
    }

    /// Returns the subtree of a string, or `None` if no answer equals it.
    fn text(&self, text: &str) -> Option<&DecisionNode> {
        match Short::new(text.as_bytes()) {
            Some(short) => self.get(&ValueRef(RefRepr::Short(short))),
            None => self.get(&ValueRef(RefRepr::ArenaText(&ArenaText::Utf8(text)))),
        }
    }

    /// Iterates over the values and their subtrees.
    pub fn iter(&self) -> impl Iterator<Item = (&Value, &DecisionNode)> {
        self.nodes.iter()
    }
}

/// Source of the values that an index tests.
pub trait IndexInput<'e> {
    /// Returns the value at an access path, or `None` if it is undefined.
    fn value_at(&self, place: &'e AccessPath) -> Option<ValueRef<'e>>;

    /// Returns the subtree of the value at an access path. Stored values are read in place: writing them to a register
    /// and reading that again at once would stall.
    fn child(&self, place: &'e AccessPath, answers: &'e Values) -> Option<&'e DecisionNode>;

    /// Returns `true` if errors of built-ins end the evaluation.
    fn is_strict(&self) -> bool;
}

impl DecisionNode {
    /// Returns the node without rules. Allocates nothing.
    pub fn empty() -> Self {
        Self::Rules(Box::default())
    }

    /// Returns `true` for a list of no rules. A node with branches is not empty, even if they lead to no rule.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Rules(rules) if rules.is_empty())
    }

    #[inline]
    fn find<'e>(&'e self, input: &impl IndexInput<'e>, found: &mut RuleLists<'e>) {
        match self {
            Self::Rules(rules) => found.add(rules),
            Self::Branch(branch) => branch.find_on(input, found),
        }
    }
}

impl DecisionBranch {
    /// Returns the rules that can match, in their order. One lookup for each question on the path.
    #[inline]
    pub fn find<'e>(&'e self, input: &impl IndexInput<'e>) -> SelectedRules<'e> {
        match self.by_value() {
            // most trees are one question about one value
            Some(answers) if !self.lenient => {
                let node = input.child(&self.question.place, answers);
                match (node, &self.rest) {
                    (None, DecisionNode::Rules(rest)) => SelectedRules::Few(Numbers::of_list(rest)),
                    (Some(DecisionNode::Rules(left)), DecisionNode::Rules(right)) => {
                        SelectedRules::Few(Numbers::merged(left, right))
                    }
                    (node, _) => self.find_below(node, input),
                }
            }
            _ => self.find_all(input),
        }
    }

    /// Returns the rules of a subtree and of `rest`.
    #[inline(never)]
    fn find_below<'e>(
        &'e self,
        node: Option<&'e DecisionNode>,
        input: &impl IndexInput<'e>,
    ) -> SelectedRules<'e> {
        let mut found = RuleLists::default();
        if let Some(node) = node {
            node.find(input, &mut found);
        }
        self.rest.find(input, &mut found);
        found.matches()
    }

    #[inline(never)]
    fn find_all<'e>(&'e self, input: &impl IndexInput<'e>) -> SelectedRules<'e> {
        let mut found = RuleLists::default();
        self.find_on(input, &mut found);
        found.matches()
    }

    /// Returns the answers if the question is about the value itself.
    #[inline]
    fn by_value(&self) -> Option<&Values> {
        match &self.answers {
            Answers::Values(answers) if self.question.feature == ValueFeature::Value => {
                Some(answers)
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn find_on<'e>(&'e self, input: &impl IndexInput<'e>, found: &mut RuleLists<'e>) {
        if self.lenient && input.is_strict() {
            self.answers
                .nodes()
                .for_each(|node| node.find(input, found));
        } else if let Some(answers) = self.by_value() {
            if let Some(node) = input.child(&self.question.place, answers) {
                node.find(input, found);
            }
        } else if let Some(value) = input.value_at(&self.question.place) {
            self.collect(value, input, found);
        }
        self.rest.find(input, found);
    }

    fn collect<'e>(
        &'e self,
        value: ValueRef<'e>,
        input: &impl IndexInput<'e>,
        found: &mut RuleLists<'e>,
    ) {
        match (&self.question.feature, &self.answers) {
            (ValueFeature::Length, Answers::Values(answers)) => {
                if let Some(array) = value.as_array()
                    && let Ok(length) = i64::try_from(array.len())
                    && let Some(node) = answers.get(&ValueRef(RefRepr::Int(length)))
                {
                    node.find(input, found);
                }
            }
            (ValueFeature::Segment(delimiters, at), Answers::Values(answers)) => {
                if let Some(text) = value.as_text()
                    && let Some(segment) = delimiters.segment(&text.to_str(), *at)
                    && let Some(node) = answers.text(segment)
                {
                    node.find(input, found);
                }
            }
            (ValueFeature::Segments(delimiters), Answers::Values(answers)) => {
                if let Some(text) = value.as_text()
                    && let Some(node) =
                        answers.get(&ValueRef(RefRepr::Int(delimiters.count(&text.to_str()))))
                {
                    node.find(input, found);
                }
            }
            (ValueFeature::Key, Answers::Values(answers)) => keys(value, answers, |node| {
                node.find(input, found);
            }),
            (ValueFeature::Element, Answers::Values(answers)) => elements(value, answers, |node| {
                node.find(input, found);
            }),
            (ValueFeature::Prefix, Answers::Texts(texts)) => one_or_each(value, |text| {
                texts.find(text, |node| node.find(input, found));
            }),
            (ValueFeature::Suffix, Answers::Texts(texts)) => one_or_each(value, |text| {
                let reverse: SmallVec<[u8; 128]> = text.iter().rev().copied().collect();
                texts.find(&*reverse, |node| node.find(input, found));
            }),
            (ValueFeature::Network, Answers::Networks(networks)) => {
                if let Some(text) = value.as_text()
                    && let Some(range) = net::range(&text.to_str())
                {
                    networks.find(&range, |node| node.find(input, found));
                }
            }
            _ => self
                .answers
                .nodes()
                .for_each(|node| node.find(input, found)),
        }
    }
}

/// Visits the subtrees of the keys of an object or a set; for an array, of its indices.
fn keys<'e>(value: ValueRef<'e>, answers: &'e Values, mut visit: impl FnMut(&'e DecisionNode)) {
    let size = match value.kind() {
        Kind::Object => value.as_object().map_or(0, |object| object.len()),
        Kind::Set => value.as_set().map_or(0, |set| set.len()),
        _ => usize::MAX,
    };
    if size > answers.nodes.len() {
        for (key, node) in &answers.nodes {
            if value.lookup(key.borrow()).is_some() {
                visit(node);
            }
        }
    } else if let Some(object) = value.as_object() {
        let known = object.iter().filter_map(|(key, _)| answers.get(&key));
        known.for_each(visit);
    } else if let Some(set) = value.as_set() {
        let known = set.iter_unordered().filter_map(|key| answers.get(&key));
        known.for_each(visit);
    }
}

/// Visits the subtrees of the elements of a collection.
fn elements<'e>(value: ValueRef<'e>, answers: &'e Values, visit: impl FnMut(&'e DecisionNode)) {
    if let Some(array) = value.as_array() {
        let known = array.iter().filter_map(|item| answers.get(&item));
        known.for_each(visit);
    } else if let Some(object) = value.as_object() {
        let known = object.iter().filter_map(|(_, item)| answers.get(&item));
        known.for_each(visit);
    } else if value.kind() == Kind::Set {
        keys(value, answers, visit);
    }
}

/// Visits a string, or the strings of a collection.
fn one_or_each<'e>(value: ValueRef<'e>, mut visit: impl FnMut(&[u8])) {
    let mut see = |value: ValueRef<'e>| {
        if let Some(text) = value.as_text() {
            visit(text.as_bytes());
        }
    };
    if let Some(array) = value.as_array() {
        array.iter().for_each(see);
    } else if let Some(set) = value.as_set() {
        set.iter_unordered().for_each(see);
    } else if let Some(object) = value.as_object() {
        object.iter().for_each(|(_, value)| see(value));
    } else {
        see(value);
    }
}

impl Answers {
    /// Iterates over the subtrees of all answers.
    pub fn nodes(&self) -> Box<dyn Iterator<Item = &DecisionNode> + '_> {
        match self {
            Self::Values(answers) => Box::new(answers.nodes.values()),
            Self::Texts(texts) => Box::new(texts.nodes()),
            Self::Networks(networks) => Box::new(networks.nodes()),
        }
    }
}

impl Delimiters {
    /// Returns a segment of a text by index, or `None` if it has fewer.
    fn segment<'t>(&self, text: &'t str, at: usize) -> Option<&'t str> {
        match self {
            Self::Chars(chars) => match **chars {
                [one] => text.split(one).nth(at),
                _ => text.split(&**chars).nth(at),
            },
            Self::Text(delimiter) => text.split(&**delimiter).nth(at),
        }
    }

    /// Number of segments of a text, at least 1.
    fn count(&self, text: &str) -> i64 {
        let count = match self {
            Self::Chars(chars) => match **chars {
                [one] => text.split(one).count(),
                _ => text.split(&**chars).count(),
            },
            Self::Text(delimiter) => text.split(&**delimiter).count(),
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

/// Looks a borrowed value up without owning it.
impl hashbrown::Equivalent<Value> for ValueRef<'_> {
    fn equivalent(&self, key: &Value) -> bool {
        *self == key.borrow()
    }
}
