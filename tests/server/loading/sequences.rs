//! Random sequences of file changes and requests, checked against a model.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::model::{Model, module, package, pointer};
use crate::random::Random;
use crate::world::{World, copy};

/// Number of steps in a sequence.
const STEPS: usize = 14;

#[test]
fn what_is_in_force_is_what_files_and_clients_wrote() {
    let count = if std::env::var_os("SOLON_FULL").is_some() {
        200
    } else {
        40
    };
    let only = std::env::var("SOLON_SEED")
        .ok()
        .map(|seed| seed.parse().unwrap());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        return;
                    }
                    if only.is_none_or(|only: usize| only == seed) {
                        Sequence::new(seed).run();
                    }
                }
            });
        }
    });
}

struct Sequence {
    seed: usize,
    random: Random,
    world: World,
    model: Model,
    /// Counter for names and values that were not used before.
    next: usize,
    /// The folder that the link `w` leads to.
    tree: usize,
    steps: Vec<String>,
}

impl Sequence {
    fn new(seed: usize) -> Self {
        let world = World::new();
        fs::create_dir(world.path("t0")).unwrap();
        world.link("w", "t0");
        Self {
            seed,
            random: Random::new(&format!("loading {seed}")),
            world,
            model: Model::default(),
            next: 0,
            tree: 0,
            steps: Vec::new(),
        }
    }

    fn run(mut self) {
        for _ in 0..4 {
            let step = self.add();
            self.steps.push(step);
        }
        self.start();
        for _ in 0..STEPS {
            let (step, is_of_files) = match self.random.less_than(13) {
                0 => {
                    self.world.stop();
                    let step = self.change_files();
                    self.start();
                    (format!("{step} while the server is down"), false)
                }
                1 => {
                    self.start();
                    ("restart".to_owned(), false)
                }
                2 => (self.malformed(), false),
                3..6 => (self.put(), false),
                6 => (self.delete(), false),
                7 => (self.patch(), false),
                8 => (self.policy(), false),
                _ => (self.change_files(), true),
            };
            self.steps.push(step);
            if is_of_files {
                let seen = self.world.wait_for_log("Processed file watch event.");
                assert!(seen, "seed {}: {:#?}: not noticed", self.seed, self.steps);
            }
            self.check();
        }
    }

    fn check(&self) {
        let want = self.model.data();
        let found = self.world.wait_for(&want, World::data);
        let steps = self.steps.join("\n");
        assert_eq!(found, want, "seed {}:\n{steps}", self.seed);
    }

    /// Restarts the server, with another spelling of the folder.
    fn start(&mut self) {
        let spellings = ["w", "./w", "w/", "FOLDER/w", "./w/../w"];
        let path = spellings[self.random.less_than(spellings.len())];
        self.steps.push(format!("start {path}"));
        let started = self.world.start(&["--watch", "--data-dir", "store", path]);
        let steps = &self.steps;
        started.unwrap_or_else(|error| panic!("seed {}: {steps:#?}: {error}", self.seed));
        self.check();
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn one_of(&mut self, names: &[String]) -> Option<String> {
        if names.is_empty() {
            return None;
        }
        Some(names[self.random.less_than(names.len())].clone())
    }

    /// Returns an existing file.
    fn file(&mut self) -> Option<String> {
        let names = self.model.modules.keys().chain(self.model.documents.keys());
        let names: Vec<String> = names.cloned().collect();
        self.one_of(&names)
    }

    /// Returns a name for a new file, in one of two folders.
    fn name(&mut self, extension: &str) -> String {
        let folder = ["", "sub/"][self.random.less_than(2)];
        format!("{folder}f{}.{extension}", self.number())
    }

    fn document(&mut self, slot: &str) -> Value {
        let (a, b) = (1_000_000 + self.number(), self.random.less_than(5));
        match b {
            0 => json!({ slot: a }),
            1 => json!({ slot: [a] }),
            2 => json!({ slot: {"a": a} }),
            3 => json!({ slot: {"b": {"c": a}, "x": {}} }),
            _ => json!({ slot: {"a": {"z": a}, "b": {"c": a}} }),
        }
    }

    fn change_files(&mut self) -> String {
        match self.random.less_than(7) {
            0 | 1 => self.add(),
            2 => self.remove(),
            3 => self.rename(),
            4 => self.edit(false),
            5 => self.edit(true),
            _ => self.swap(),
        }
    }

    fn add(&mut self) -> String {
        if self.random.less_than(2) == 0 {
            let (name, number) = (self.name("rego"), self.number());
            self.world
                .write(&format!("w/{name}"), &module(number, number));
            self.model.modules.insert(name.clone(), (number, number));
            return format!("add {name}");
        }
        let taken = |slot: &str| {
            let mut documents = self.model.documents.values();
            documents.any(|(_, value)| value.get(slot).is_some())
        };
        let free = (0..4).map(|slot| format!("d{slot}"));
        let free: Vec<String> = free.filter(|slot| !taken(slot)).collect();
        let Some(slot) = self.one_of(&free) else {
            return self.remove();
        };
        let (name, value) = (self.name("json"), self.document(&slot));
        self.world.write(&format!("w/{name}"), &value.to_string());
        self.model
            .documents
            .insert(name.clone(), (document_path(&name), value.clone()));
        format!("add {name} {value}")
    }

    fn remove(&mut self) -> String {
        let Some(name) = self.file() else {
            return self.add();
        };
        fs::remove_file(self.world.path(&format!("w/{name}"))).unwrap();
        self.model.modules.remove(&name);
        self.model.documents.remove(&name);
        format!("remove {name}")
    }

    fn rename(&mut self) -> String {
        let Some(name) = self.file() else {
            return self.add();
        };
        let to = self.name(name.rsplit('.').next().unwrap());
        let path = self.world.path(&format!("w/{to}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::rename(self.world.path(&format!("w/{name}")), path).unwrap();
        if let Some(module) = self.model.modules.remove(&name) {
            self.model.modules.insert(to.clone(), module);
        }
        if let Some((_, value)) = self.model.documents.remove(&name) {
            self.model
                .documents
                .insert(to.clone(), (document_path(&to), value));
        }
        format!("rename {name} {to}")
    }

    /// Changes the content of a file without changing its length. Returns the text.
    fn changed(&mut self, name: &str) -> String {
        let number = self.number();
        if let Some((package, value)) = self.model.modules.get_mut(name) {
            *value = number;
            return module(*package, number);
        }
        let (_, value) = self.model.documents.get_mut(name).unwrap();
        let text = value.to_string();
        let digits = text.match_indices("1000").next().map(|(at, _)| at);
        let digits = digits.expect("a number");
        let old = text[digits..digits + 7].to_owned();
        let text = text.replace(&old, &(1_000_000 + number).to_string());
        *value = serde_json::from_str(&text).unwrap();
        text
    }

    fn edit(&mut self, at_same_time: bool) -> String {
        let Some(name) = self.file() else {
            return self.add();
        };
        let text = self.changed(&name);
        let path = format!("w/{name}");
        if at_same_time {
            self.world.write_at_same_time(&path, &text);
        } else {
            self.world.write(&path, &text);
        }
        format!("edit {name} {text} {at_same_time}")
    }

    /// Changes a file in a copy of the folder, including times, and replaces the folder by the copy.
    fn swap(&mut self) -> String {
        let Some(name) = self.file() else {
            return self.add();
        };
        let text = self.changed(&name);
        let (from, to) = (format!("t{}", self.tree), format!("t{}", self.tree + 1));
        self.tree += 1;
        copy(&self.world.path(&from), &self.world.path(&to));
        self.world
            .write_at_same_time(&format!("{to}/{name}"), &text);
        self.world.link("w", &to);
        format!("swap {to} with {name} {text}")
    }

    /// Breaks a file for a while, which has no effect.
    fn malformed(&mut self) -> String {
        let name = format!("w/{}", self.name("rego"));
        self.world.write(&name, "package pol.broken\n\nv := ");
        let seen = self.world.wait_for_log("cannot be loaded");
        assert!(seen, "seed {}: {:#?}: not noticed", self.seed, self.steps);
        self.check();
        fs::remove_file(self.world.path(&name)).unwrap();
        assert!(self.world.wait_for_log("Processed file watch event."));
        format!("{name} is broken for a while")
    }

    /// Returns a path that files or clients may have written.
    fn path(&mut self) -> Vec<String> {
        let mut path = Vec::new();
        if self.random.less_than(4) == 0 {
            path.push("sub".to_owned());
        }
        path.push(["d0", "d1", "d2", "d3", "own"][self.random.less_than(5)].to_owned());
        for keys in [["a", "b", "x"], ["z", "c", "y"]] {
            if self.random.less_than(3) == 0 {
                break;
            }
            path.push(keys[self.random.less_than(3)].to_owned());
        }
        path
    }

    fn send(&self, method: &str, target: &str, body: &str, is_done: bool) {
        let answer = self.world.send(method, target, body);
        let steps = self.steps.join("\n");
        assert_eq!(
            (200..300).contains(&answer.status),
            is_done,
            "seed {}:\n{steps}\n{method} {target} {body}: {} {}",
            self.seed,
            answer.status,
            answer.text()
        );
    }

    fn put(&mut self) -> String {
        let path = self.path();
        let number = self.number();
        let value = match self.random.less_than(4) {
            0 => json!({"a": number}),
            1 => json!({}),
            2 => json!({"b": {"c": number}, "x": {"y": 1}}),
            _ => json!(number),
        };
        let is_done = self.model.put(&path, value.clone());
        let target = format!("/v1/data{}", pointer(&path));
        self.send("PUT", &target, &value.to_string(), is_done);
        format!("PUT {target} {value}: {is_done}")
    }

    fn delete(&mut self) -> String {
        let path = self.path();
        let is_done = self.model.delete(&path);
        let target = format!("/v1/data{}", pointer(&path));
        self.send("DELETE", &target, "", is_done);
        format!("DELETE {target}: {is_done}")
    }

    /// Applies a patch of one or two operations on members of objects or elements of arrays.
    fn patch(&mut self) -> String {
        let path = self.path();
        let target = pointer(&path);
        let base = self.model.base();
        let number = self.number();
        let parent = base.pointer(&pointer(&path[..path.len() - 1]));
        let (operations, is_done) = match base.pointer(&target) {
            Some(Value::Array(items)) => {
                let mut items = items.clone();
                items.push(json!(number));
                let operation =
                    json!({"op": "add", "path": format!("{target}/-"), "value": number});
                (
                    json!([operation]),
                    self.model.put(&path, Value::Array(items)),
                )
            }
            Some(_) if number.is_multiple_of(2) => {
                let operation = json!({"op": "remove", "path": target});
                (json!([operation]), self.model.delete(&path))
            }
            Some(_) => {
                let replace = json!({"op": "replace", "path": target, "value": {}});
                let add = json!({"op": "add", "path": format!("{target}/p"), "value": number});
                (
                    json!([replace, add]),
                    self.model.put(&path, json!({"p": number})),
                )
            }
            None => {
                let operation = json!({"op": "add", "path": target, "value": number});
                let fits = parent.is_some_and(Value::is_object);
                (
                    json!([operation]),
                    fits && self.model.put(&path, json!(number)),
                )
            }
        };
        self.send("PATCH", "/v1/data", &operations.to_string(), is_done);
        format!("PATCH {operations}: {is_done}")
    }

    /// Writes or removes a policy as a client.
    fn policy(&mut self) -> String {
        let policies = self.world.policies();
        let number = self.number();
        let choice = self.random.less_than(5);
        if policies.is_empty() || choice == 0 {
            let id = format!("client-{number}");
            self.model.put_policy(&id, number, number);
            self.send(
                "PUT",
                &format!("/v1/policies/{id}"),
                &module(number, number),
                true,
            );
            return format!("PUT policy {id}");
        }
        let (id, text) = &policies[self.random.less_than(policies.len())];
        let package = package(text);
        let target = format!("/v1/policies/{id}");
        if choice < 3 {
            self.model.delete_policy(id, package);
            self.send("DELETE", &target, "", true);
            return format!("DELETE policy {id}");
        }
        // writing the same text also transfers the policy to the client
        let text = if choice == 3 {
            text.clone()
        } else {
            module(package, number)
        };
        let value = text.rsplit(":= ").next().unwrap();
        let value: usize = value.split(' ').next().unwrap().parse().unwrap();
        self.model.put_policy(id, package, value - 1_000_000);
        self.send("PUT", &target, &text, true);
        format!("PUT policy {id}")
    }
}

/// Returns the path of the documents of a file.
fn document_path(name: &str) -> Vec<String> {
    let folders = name.split('/');
    let mut folders: Vec<_> = folders.map(str::to_owned).collect();
    folders.pop();
    folders
}
