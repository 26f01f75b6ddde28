//! Strings, with the standard library.

use std::collections::HashSet;
use std::fmt::Write;

use solon::Value;

use super::{Prepare, elements, float, number, text, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("sprintf", || Some(Box::new(printed))),
    ("template", || Some(Box::new(template))),
    ("concat", || Some(Box::new(joined))),
    ("report", || Some(Box::new(report))),
    ("report_plain", || Some(Box::new(plain))),
    ("texts", || Some(Box::new(letters))),
    ("report_science", || Some(Box::new(science))),
    ("split", || Some(Box::new(words))),
    ("render_letters", || Some(Box::new(rendered))),
];

/// Returns the sum of the lengths of a text that is built for each element.
fn lengths(data: &Value, list: &str, write: fn(&Value) -> Option<String>) -> Option<Value> {
    let lengths = elements(data.get(list)?).map(|element| Some(write(element)?.chars().count()));
    number(lengths.sum::<Option<usize>>()?)
}

fn printed(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "orders", |order| {
        let (id, price) = (order.get("id")?, float(order, "price")?);
        let id = id.as_i64()?;
        let mut line = String::with_capacity(64);
        let (owner, kind, tags) = (
            text(order, "owner")?,
            text(order, "kind")?,
            order.get("tags")?,
        );
        write!(
            line,
            "order {id} of {owner} ({tags}) costs {price:.2}%, {id:05}, {id:x} {kind:?}"
        )
        .ok()?;
        Some(line)
    })
}

fn template(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "orders", |order| {
        let (id, price) = (order.get("id")?, order.get("price")?);
        let (owner, kind) = (text(order, "owner")?, text(order, "kind")?);
        let mut line = String::with_capacity(64);
        write!(line, "order {id} of {owner} ({kind}) costs {price}").ok()?;
        Some(line)
    })
}

fn joined(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "orders", |order| {
        let id = order.get("id")?;
        let (owner, kind) = (text(order, "owner")?, text(order, "kind")?);
        let mut line = String::with_capacity(32);
        write!(line, "{owner}/{kind}/{id}").ok()?;
        Some(line)
    })
}

fn report(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "rows", |row| {
        let (name, rate) = (text(row, "name")?, float(row, "rate")?);
        let (amount, share) = (float(row, "amount")?, float(row, "share")? * 100.0);
        let mut line = String::with_capacity(48);
        // this verb does not accept integers
        let whole = share.round();
        if (share - whole).abs() < 1e-9 {
            write!(line, "{name:<12} {amount:8.2} %!f(int64={whole:6})% {rate}").ok()?;
        } else {
            write!(line, "{name:<12} {amount:8.2} {share:6.1}% {rate}").ok()?;
        }
        Some(line)
    })
}

fn plain(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "rows", |row| {
        let (amount, rate) = (float(row, "amount")?, float(row, "rate")?);
        let units = row.get("units")?;
        let mut line = String::with_capacity(48);
        write!(line, "{amount} of {rate}: {units}").ok()?;
        Some(line)
    })
}

/// `%e %g %.3f` with Go's output format: an exponent has a sign and two digits.
fn science(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "rows", |row| {
        let (amount, rate) = (float(row, "amount")?, float(row, "rate")?);
        let share = float(row, "share")?;
        let mut line = String::with_capacity(48);
        write!(line, "{amount:.6e}").ok()?;
        let exponent = line.rfind('e')? + 1;
        let power: i32 = line.get(exponent..)?.parse().ok()?;
        line.truncate(exponent);
        write!(line, "{power:+03} {rate} {share:.3}").ok()?;
        Some(line)
    })
}

/// Renders the letter template as code. A number does not match its verb, so the output is an error text with its first two characters.
fn rendered(data: &Value, _: &Value) -> Option<Value> {
    lengths(data, "customers", |customer| {
        let mut letter = String::with_capacity(128);
        writeln!(letter, "Dear {},", text(customer, "name")?).ok()?;
        for (at, item) in elements(customer.get("items")?).enumerate() {
            let (title, count) = (text(item, "title")?, item.get("count")?);
            let comma = if at > 0 { ", " } else { "" };
            write!(letter, "{comma}{title} ({count})").ok()?;
        }
        let total = customer.get("total")?;
        if customer.get("paid")?.as_bool() == Some(true) {
            write!(letter, "\nThank you for {total}.\n").ok()?;
        } else {
            let (total, due) = (total.to_string(), text(customer, "due")?);
            let part = total.get(..2).unwrap_or(&total);
            write!(letter, "\nPlease pay %!f(json.Number={part}) by {due}.\n").ok()?;
        }
        Some(letter)
    })
}

fn letters(data: &Value, _: &Value) -> Option<Value> {
    let (mut letters, mut lines) = (HashSet::new(), HashSet::new());
    for (at, person) in elements(data.get("people")?).enumerate() {
        let (name, order) = (text(person, "name")?, text(person, "order")?);
        let (amount, state) = (person.get("amount")?, text(person, "state")?);
        letters.insert(format!(
            "Dear {name}, order {order} of {amount} Euro is {state}."
        ));
        let amount = float(person, "amount")?;
        lines.insert(format!("{at:05} {name:<20}|{amount:8.2}|{state}"));
    }
    let longest = letters
        .iter()
        .chain(&lines)
        .map(|text| text.chars().count());
    let answer = [
        ("letters", number(letters.len())?),
        ("lines", number(lines.len())?),
        ("longest", number(longest.max()?)?),
    ];
    let pairs = answer.map(|(key, value)| (Value::string(key), value));
    Some(Value::object(pairs.into()))
}

fn words(data: &Value, _: &Value) -> Option<Value> {
    let lists = texts(data, "lines").map(|line| line.split(' ').collect::<Vec<_>>());
    number(lists.map(|list| std::hint::black_box(list).len()).sum())
}
