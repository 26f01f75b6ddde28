//! Results of nondeterministic built-ins, to explain or repeat a decision.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::value::{Arena, Value, ValueRef, json};

/// Results of nondeterministic built-ins in a decision, by name and arguments.
///
/// A decision with such a cache makes each distinct call once: cached results are used, all others are added. Its
/// content is the `nd_builtin_cache` of the decision log. Evaluating with a cache of logged results repeats the
/// decision.
///
/// ```
/// use std::sync::Arc;
///
/// use solon::{Engine, FixedHost, NdBuiltinCache, Request, Value};
///
/// // the results that a decision used, for its log
/// let results = NdBuiltinCache::default();
/// let engine = Engine::builder().host(Arc::new(FixedHost::default())).build();
/// let query = engine.prepare_query("x := [rand.intn(\"die\", 1), rand.intn(\"die\", 1)]")?;
/// query.solutions(&Request::new().nd_builtin_cache(&results))?;
/// assert_eq!(results.to_value().rego_text().to_string(), r#"{"rand.intn": {["die", 1]: 0}}"#);
///
/// // the same, or another, decision repeated from the log
/// let now = Engine::new().prepare_query("x := time.now_ns()")?;
/// let cache = NdBuiltinCache::from_value(&Value::object(vec![(
///     "time.now_ns".into(),
///     Value::object(vec![(Value::array(vec![]), Value::from(7))]),
/// )]));
/// let solutions = now.solutions(&Request::new().nd_builtin_cache(&cache))?;
/// assert_eq!(solutions[0].bindings[0].1, Value::from(7));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NdBuiltinCache {
    calls: RefCell<BTreeMap<Value, BTreeMap<Value, Value>>>,
}

impl NdBuiltinCache {
    /// Returns a cache with the content that [`Self::to_value`] returned, or with its JSON, where keys with arguments
    /// are texts and sets in them have become arrays. Entries in other formats are skipped.
    pub fn from_value(value: &Value) -> Self {
        let pairs = |value: &Value| {
            let pairs = value
                .as_object()
                .into_iter()
                .flat_map(|object| object.iter());
            let pairs = pairs.map(|(key, value)| (key.clone(), value.clone()));
            pairs.collect::<Vec<_>>()
        };
        let arguments = |key: Value| match key.string_bytes().map(json::read) {
            Some(Ok(arguments)) => arguments,
            _ => key,
        };
        let functions = pairs(value).into_iter();
        let calls = functions.map(|(name, calls)| {
            let calls = pairs(&calls).into_iter();
            let calls = calls.map(|(key, result)| (arguments(key), result));
            (name, calls.collect())
        });
        Self {
            calls: RefCell::new(calls.collect()),
        }
    }

    /// Returns the content as nested objects: by name, then by the array of arguments.
    pub fn to_value(&self) -> Value {
        let calls = self.calls.borrow();
        let functions = calls.iter().map(|(name, calls)| {
            let calls = calls.iter();
            let calls = calls.map(|(args, result)| (args.clone(), result.clone()));
            (name.clone(), Value::object(calls.collect()))
        });
        Value::object(functions.collect())
    }

    /// Returns `true` if no call is cached.
    pub fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty()
    }

    /// Returns the cached result of a call, or `None` if it was not recorded.
    pub(super) fn get<'e>(
        &self,
        arena: &'e Arena,
        name: &str,
        args: &[ValueRef<'e>],
    ) -> Option<ValueRef<'e>> {
        let calls = self.calls.borrow();
        let results_by_args = calls.get(&Value::string(name))?;
        let args = arena.array(args).to_value();
        results_by_args
            .get(&args)
            .map(|result| arena.copy_of(result))
    }

    pub(super) fn put<'e>(
        &self,
        arena: &'e Arena,
        name: &str,
        args: &[ValueRef<'e>],
        result: ValueRef<'e>,
    ) {
        let mut calls = self.calls.borrow_mut();
        let results_by_args = calls.entry(Value::string(name)).or_default();
        results_by_args.insert(arena.array(args).to_value(), result.to_value());
    }
}
