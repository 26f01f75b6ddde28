//! Filters of many conditions: chains are grouped for databases that parse them as an expression as deep as the chain
//! is long.

use serde_json::{Value, json};
use solon::{Engine, FilterOptions, FilterTarget, Request};

use crate::databases::{Database, condition, on_each_database, table};
use crate::tables::{BASKETS, FRUITS, Kind};

/// Number of conditions: the maximum of a chain, one more, and several groups.
const COUNTS: [usize; 3] = [100, 101, 1_200];

/// Prices of the fruits.
const PRICES: [usize; 4] = [0, 99, 1_199, 50_000];

/// A rule for each price.
fn any(count: usize) -> String {
    let rules = (0..count).map(|price| format!("include if input.fruits.price == {price}\n"));
    format!("package filters\n\n{}", rules.collect::<String>())
}

/// One rule with a condition for each price.
fn all(count: usize) -> String {
    let tests = (0..count).map(|price| format!("\tinput.fruits.price != {price}\n"));
    format!(
        "package filters\n\ninclude if {{\n{}}}\n",
        tests.collect::<String>()
    )
}

fn filter(policy: &str, target: FilterTarget) -> String {
    let engine = Engine::new();
    engine.set_module("filters.rego", policy).unwrap();
    let options = FilterOptions::new([target]).unknowns(["input.fruits"]);
    let made = engine.filters("data.filters.include", &options, &Request::new());
    condition(made.unwrap())
}

on_each_database!(are_read_whatever_their_length, super::keeps);

fn keeps(database: &mut dyn Database) {
    let fruits = PRICES.map(|price| {
        let values = FRUITS.iter().map(|(column, kind)| match (*column, kind) {
            ("price", _) => json!(price),
            (_, Kind::Text) => json!("a"),
            (_, Kind::Integer | Kind::Decimal) => json!(1),
            (_, Kind::Truth) => json!(true),
        });
        values.collect::<Vec<Value>>()
    });
    let basket = vec![json!("a"), json!(1), json!(1), json!(true)];
    let mut statements = table(database, "fruits", &FRUITS, &fruits, false);
    statements.extend(table(database, "baskets", &BASKETS, &[basket], false));
    database.run(&statements);
    for count in COUNTS {
        let conditions = [any(count), all(count)].map(|policy| filter(&policy, database.target()));
        let kept: Vec<_> = database
            .matching_rows(&conditions)
            .into_iter()
            .map(|kept| {
                let mut kept = kept.unwrap();
                kept.sort_unstable();
                kept
            })
            .collect();
        let (within, beyond): (Vec<_>, Vec<_>) =
            (0..PRICES.len()).partition(|fruit| PRICES[*fruit] < count);
        let pairs = |fruits: Vec<usize>| {
            fruits
                .into_iter()
                .map(|fruit| (fruit, 0))
                .collect::<Vec<_>>()
        };
        assert_eq!(kept, [pairs(within), pairs(beyond)], "{count} prices");
    }
}

#[test]
fn joined_conditions_stay_flat_up_to_the_limit() {
    let groups = |target, count: usize| filter(&any(count), target).matches('(').count();
    assert_eq!(groups(FilterTarget::Sqlite, 100), 1);
    // one group of a hundred, and one more condition
    assert_eq!(groups(FilterTarget::Sqlite, 101), 2);
    assert_eq!(groups(FilterTarget::Postgresql, 101), 1);
}
