//! Random requests of several principals, checked against a small model: responses match, and hidden items are not
//! revealed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::databases::On;
use crate::plane::{PRINCIPALS, Plane};

/// A deterministic pseudorandom number generator.
struct Random(u64);

impl Random {
    fn less_than(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.less_than(items.len())]
    }
}

/// An item of the model.
struct Item {
    number: usize,
    owner: &'static str,
    labels: usize,
    sources: Vec<String>,
    secret: Option<String>,
    documents: BTreeMap<String, usize>,
}

/// The expected state.
#[derive(Default)]
struct Model {
    items: BTreeMap<(&'static str, String), Item>,
    made: usize,
}

const KINDS: [&str; 4] = ["bundles", "sources", "stacks", "secrets"];

impl Model {
    fn may_make(who: &str, kind: &str) -> bool {
        match who {
            "admin" => true,
            "viewer" => false,
            who if who.starts_with("owner") => kind != "stacks",
            _ => kind == "stacks",
        }
    }

    fn may_change(who: &str, item: &Item) -> bool {
        who == "admin" || item.owner == who
    }

    fn may_see(who: &str, item: &Item) -> bool {
        who == "viewer" || Self::may_change(who, item)
    }

    /// Returns the JSON of an item as it is shown to a reader.
    fn visible_json(kind: &str, name: &str, item: &Item) -> Value {
        if kind == "secrets" {
            return json!(name);
        }
        let mut visible_json = json!({ "name": name });
        let sources: Vec<Value> = item
            .sources
            .iter()
            .map(|source| json!({ "source": source }))
            .collect();
        match kind {
            "bundles" if item.labels > 0 => {
                visible_json["labels"] = json!({ "n": item.labels.to_string() });
            }
            "stacks" => visible_json["selector"] = json!({ "n": [item.labels.to_string()] }),
            "sources" if item.labels > 0 => {
                visible_json["builtin"] = json!(item.labels.to_string());
            }
            _ => {}
        }
        if !sources.is_empty() {
            visible_json["requirements"] = json!(sources);
        }
        if let Some(secret) = &item.secret {
            if kind == "bundles" {
                visible_json["object_storage"] = json!({"aws": {"bucket": "b", "key": "k", "region": "r", "credentials": secret}});
            } else {
                visible_json["git"] =
                    json!({"repo": "https://example.com/r", "credentials": secret});
            }
        }
        visible_json
    }

    fn requires(&self, from: &str, to: &str) -> bool {
        from == to
            || self
                .items
                .get(&("sources", from.to_owned()))
                .is_some_and(|item| item.sources.iter().any(|next| self.requires(next, to)))
    }

    /// Applies a write of an item and returns its status.
    fn put(&mut self, who: &'static str, kind: &'static str, name: &str, new: Item) -> u16 {
        let key = (kind, name.to_owned());
        let is_allowed = match self.items.get(&key) {
            Some(item) => Self::may_change(who, item),
            None => Self::may_make(who, kind),
        };
        if !is_allowed {
            return 403;
        }
        let usable = |kind: &'static str, name: &String| {
            let used = self.items.get(&(kind, name.clone()));
            used.is_some_and(|used| Self::may_change(who, used))
        };
        let sources = new.sources.iter().all(|source| usable("sources", source));
        if !sources
            || new
                .secret
                .as_ref()
                .is_some_and(|secret| !usable("secrets", secret))
        {
            return 422;
        }
        if kind == "sources" && new.sources.iter().any(|source| self.requires(source, name)) {
            return 400;
        }
        match self.items.get_mut(&key) {
            Some(item) => {
                item.labels = new.labels;
                item.sources = new.sources;
                item.secret = new.secret;
            }
            None => {
                self.made += 1;
                self.items.insert(
                    key,
                    Item {
                        number: self.made,
                        ..new
                    },
                );
            }
        }
        200
    }

    fn remove(&mut self, who: &str, kind: &'static str, name: &str) -> u16 {
        let key = (kind, name.to_owned());
        match self.items.get(&key) {
            None if Self::may_make(who, kind) => 404,
            None => 403,
            Some(item) if !Self::may_change(who, item) => 403,
            Some(_) => {
                let is_used = self.items.values().any(|item| match kind {
                    "sources" => item.sources.iter().any(|source| source == name),
                    "secrets" => item.secret.as_deref() == Some(name),
                    _ => false,
                });
                if is_used {
                    return 409;
                }
                self.items.remove(&key);
                200
            }
        }
    }

    /// Returns the items of a kind that a principal sees, in the order of creation.
    fn list(&self, who: &str, kind: &str) -> Vec<Value> {
        let mut seen: Vec<(usize, Value)> = self
            .items
            .iter()
            .filter(|((other, _), item)| *other == kind && Self::may_see(who, item))
            .map(|((_, name), item)| (item.number, Self::visible_json(kind, name, item)))
            .collect();
        seen.sort_by_key(|(number, _)| *number);
        seen.into_iter()
            .map(|(_, visible_json)| visible_json)
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_memory() {
    play(On::Memory, 5000, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite() {
    play(On::Sqlite, 800, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres() {
    play(On::Postgres, 800, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_mariadb() {
    play(On::Mariadb, 800, 4).await;
}

async fn play(on: On, requests: usize, seed: u64) {
    let Some(plane) = Plane::new(on).await else {
        return;
    };
    let scale = std::env::var("SEQUENCES")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut model = Model::default();
    let mut counts: BTreeMap<(String, u16), usize> = BTreeMap::new();
    for number in 0..requests * scale.unwrap_or(1) {
        let (who, _) = *random.pick(&PRINCIPALS[..5]);
        let kind = *random.pick(&KINDS);
        let name = format!("i{}", random.less_than(6));
        let place = format!("/v1/{kind}/{name}");
        let wish = random.less_than(10);
        let (ask, wanted, got) = match wish {
            0..=3 => {
                let count = random.less_than(3);
                let sources: Vec<String> = (0..count)
                    .map(|_| format!("i{}", random.less_than(6)))
                    .collect();
                let mut new = Item {
                    number: 0,
                    owner: who,
                    labels: random.less_than(3),
                    sources,
                    secret: (random.less_than(3) == 0).then(|| format!("i{}", random.less_than(6))),
                    documents: BTreeMap::new(),
                };
                if kind == "secrets" {
                    new.sources.clear();
                }
                if kind == "stacks" || kind == "secrets" {
                    new.secret = None;
                }
                let body = match kind {
                    "secrets" => json!({"type": "password", "password": "p"}),
                    kind => Model::visible_json(kind, &name, &new),
                };
                let ask = format!("PUT {place}");
                let got = plane.send_json(who, &ask, &body.to_string()).await;
                (
                    format!("{ask} {body}"),
                    (model.put(who, kind, &name, new), None),
                    got,
                )
            }
            4 => {
                let ask = format!("DELETE {place}");
                let got = plane.send_json(who, &ask, "").await;
                (ask, (model.remove(who, kind, &name), None), got)
            }
            5 | 6 => {
                let ask = format!("GET {place}");
                let item = model.items.get(&(kind, name.clone()));
                let wanted = match item {
                    None => (404, None),
                    Some(item) if Model::may_see(who, item) => (
                        200,
                        Some(json!({ "result": Model::visible_json(kind, &name, item) })),
                    ),
                    Some(_) => (403, None),
                };
                let got = plane.send_json(who, &ask, "").await;
                (ask, wanted, got)
            }
            7 => {
                let ask = format!("GET /v1/{kind}, page by page");
                let size = 1 + random.less_than(4);
                let got = pages(&plane, who, kind, size).await;
                (
                    ask,
                    (200, Some(json!(model.list(who, kind)))),
                    (200, json!(got)),
                )
            }
            _ => data(&plane, &mut model, &mut random, who, &name).await,
        };
        *counts
            .entry((ask.split(' ').next().unwrap().to_owned(), got.0))
            .or_default() += 1;
        assert_eq!(got.0, wanted.0, "{on:?} {number}: {who} {ask}: {}", got.1);
        if let Some(wanted) = wanted.1 {
            assert_eq!(got.1, wanted, "{on:?} {number}: {who} {ask}");
        }
    }
    // each kind of response occurred
    for wanted in [
        ("PUT", 200),
        ("PUT", 403),
        ("PUT", 422),
        ("PUT", 400),
        ("DELETE", 200),
        ("DELETE", 409),
        ("GET", 403),
        ("GET", 404),
    ] {
        let count = counts
            .get(&(wanted.0.to_owned(), wanted.1))
            .copied()
            .unwrap_or_default();
        assert!(count > 0, "no {wanted:?} in {counts:?}");
    }
}

/// Reads or writes a document.
async fn data(
    plane: &Plane,
    model: &mut Model,
    random: &mut Random,
    who: &'static str,
    name: &str,
) -> (String, (u16, Option<Value>), (u16, Value)) {
    let path = random.pick(&["a", "b/c", "b/d"]);
    let place = format!("/v1/sources/{name}/data/{path}");
    let item = model.items.get_mut(&("sources", name.to_owned()));
    if random.less_than(2) == 0 {
        let number = random.less_than(1000);
        let ask = format!("PUT {place}");
        let got = plane.send_json(who, &ask, &number.to_string()).await;
        let wanted = match item {
            None => 404,
            Some(item) if Model::may_change(who, item) => {
                item.documents.insert((*path).to_owned(), number);
                200
            }
            Some(_) => 403,
        };
        return (ask, (wanted, None), got);
    }
    let ask = format!("GET {place}");
    let wanted = match item {
        None => (404, None),
        Some(item) if Model::may_see(who, item) => match item.documents.get(*path) {
            Some(number) => (200, Some(json!({ "result": number }))),
            None => (200, Some(json!({}))),
        },
        Some(_) => (403, None),
    };
    let got = plane.send_json(who, &ask, "").await;
    (ask, wanted, got)
}

/// Returns all pages of a list. Each page except for the last is full, so that page sizes do not reveal hidden items.
async fn pages(plane: &Plane, who: &str, kind: &str, size: usize) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let ask = format!("GET /v1/{kind}?limit={size}&cursor={cursor}");
        let (status, answer) = plane.send_json(who, &ask, "").await;
        assert_eq!(status, 200, "{who} {ask}: {answer}");
        let page = answer["result"].as_array().unwrap();
        all.extend(page.iter().cloned());
        match answer["next_cursor"].as_str() {
            Some(next) => {
                assert_eq!(page.len(), size, "a page that is not full has a cursor");
                next.clone_into(&mut cursor);
            }
            None => {
                assert!(answer["next_cursor"].is_null());
                assert!(
                    !page.is_empty() || cursor.is_empty(),
                    "the last page is empty"
                );
                return all;
            }
        }
    }
}
