//! Servers that are killed while they load files: a store has the state before a load or after it.

use std::fs;
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::waiting::{Waiting, wait_until};
use crate::world::World;

/// Number of kills in one test.
const KILLS: usize = 10;

/// Number of files of each kind in a tree.
const FILES: usize = 25;

/// The number of the first tree. All numbers have the same length and occur nowhere else.
const FIRST: usize = 1_000_000;

/// Writes a tree of files, in which each document and policy contains the number of the tree.
fn write_tree(world: &World, number: usize) {
    let folder = format!("t{number}");
    for file in 0..FILES {
        let members = (0..40).map(|key| format!("\"k{key}\": [{number}, \"{}\"]", "x".repeat(100)));
        let members: Vec<_> = members.collect();
        let text = format!(
            "{{\"d{file}\": {{\"of\": {number}, {}}}}}",
            members.join(", ")
        );
        world.write(&format!("{folder}/d{file}.json"), &text);
        let text = format!("package m{file}\n\nv := {number}\n");
        world.write(&format!("{folder}/p{file}.rego"), &text);
    }
    // these files have other names in each tree
    let text = format!("{{\"only{number}\": 1}}");
    world.write(&format!("{folder}/only{number}.json"), &text);
    let text = format!("package only.m{number}\n\nv := 1\n");
    world.write(&format!("{folder}/only{number}.rego"), &text);
    world.write(
        &format!("{folder}/hidden.rego"),
        "package hidden\n\nv := 1\n",
    );
}

/// Server and store whose state is that of one tree, with writes of clients on top.
struct Killed {
    world: World,
    random: Random,
    /// The export of the first tree, origins included.
    first: String,
    /// The tree whose state the store contains.
    current: usize,
    /// The last tree that was created.
    last: usize,
    /// Duration of a load.
    load: Duration,
}

const ARGS: [&str; 4] = ["--watch", "--data-dir", "store", "w"];

impl Killed {
    fn new(name: &str) -> Self {
        let mut world = World::new();
        write_tree(&world, FIRST);
        world.link("w", &format!("t{FIRST}"));
        world.start(&ARGS).unwrap();
        let long = "y".repeat(5_000);
        for (method, target, body) in [
            ("PUT", "/v1/data/own", "{\"a\": 1}".to_owned()),
            ("PUT", "/v1/data/d0/k0", format!("\"{long}\"")),
            ("PUT", "/v1/data/d1/own/a", "2".to_owned()),
            ("DELETE", "/v1/data/d2/k7", String::new()),
            ("DELETE", "/v1/policies/w/hidden.rego", String::new()),
            (
                "PUT",
                "/v1/policies/own",
                "package own\n\nv := data.d1.own.a".to_owned(),
            ),
        ] {
            let status = world.send(method, target, &body).status;
            assert!((200..300).contains(&status), "{method} {target}: {status}");
        }
        let first = export(&mut world);
        assert!(first.contains("only1000000") && first.contains("\"whole\""));
        let mut killed = Self {
            world,
            random: Random::new(&format!("killed {name}")),
            first,
            current: FIRST,
            last: FIRST,
            load: Duration::ZERO,
        };
        killed.world.start(&ARGS).unwrap();
        let start = Instant::now();
        killed.next_tree();
        assert!(killed.world.wait_for_log("Processed file watch event."));
        killed.load = start.elapsed();
        assert_eq!(killed.check(), killed.last);
        killed
    }

    /// Creates another tree, and changes the watched link to it.
    fn next_tree(&mut self) {
        self.last += 1;
        write_tree(&self.world, self.last);
        self.world.link("w", &format!("t{}", self.last));
    }

    /// Checks that the store contains the state of the previous or the last tree, and returns its number.
    fn check(&mut self) -> usize {
        let found = export(&mut self.world);
        let of_tree = |number: usize| {
            let (from, to) = (FIRST.to_string(), number.to_string());
            found == self.first.replace(&from, &to)
        };
        let current = [self.current, self.last]
            .into_iter()
            .find(|number| of_tree(*number));
        let number = current.unwrap_or_else(|| {
            let copy = std::env::temp_dir().join(format!("solon-killed-{}", std::process::id()));
            fs::write(&copy, &found).unwrap();
            panic!(
                "between {} and {}: {}",
                self.current,
                self.last,
                copy.display()
            );
        });
        for tree in self.current..self.last {
            // trees of failed loads are not read any more
            let _ = fs::remove_dir_all(self.world.path(&format!("t{tree}")));
        }
        self.current = number;
        number
    }

    /// Waits for a random time within a load, or within its write to the store, and kills the server.
    fn kill(&mut self, is_writing: bool, before: Option<Written>) {
        if is_writing {
            let waiting = Waiting::until("the load writes");
            while written(&self.world) == before {
                waiting.check();
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_micros(self.random.less_than(8_000) as u64));
        } else {
            let most = self.load.as_micros() as usize * 5 / 4;
            std::thread::sleep(Duration::from_micros(self.random.less_than(most) as u64));
        }
        self.world.stop();
    }

    /// Ends the test: the next start loads the last tree.
    fn end(mut self) {
        self.world.start(&ARGS).unwrap();
        self.current = self.last;
        let data = self.world.data();
        assert_eq!(data["d3"]["of"], self.last);
        assert_eq!(data["m3"]["v"], self.last);
        assert_eq!(data["own"]["v"], 2);
        assert_eq!(self.check(), self.last);
    }
}

/// Length and modification time of the store's journal.
type Written = (u64, std::time::SystemTime);

fn written(world: &World) -> Option<Written> {
    let file = fs::metadata(world.path("store/solon.db-wal")).ok()?;
    Some((file.len(), file.modified().ok()?))
}

/// Stops the server, and prints everything in its store except for the server's own document.
fn export(world: &mut World) -> String {
    world.stop();
    let (code, text) = world.run(&["data", "check", "store"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = world.run(&["data", "export", "store"]);
    assert_eq!(code, Some(0), "{text}");
    text
}

#[test]
fn a_kill_during_a_reload_leaves_the_state_before_or_after() {
    let mut killed = Killed::new("reload");
    let mut made = 0;
    for kill in 0..KILLS {
        killed.world.start(&ARGS).unwrap();
        // the start has loaded the last tree
        killed.current = killed.last;
        let before = written(&killed.world);
        killed.next_tree();
        killed.kill(kill % 2 == 0, before);
        made += usize::from(killed.check() == killed.last);
    }
    println!("{made} of {KILLS} loads were made");
    killed.end();
}

#[test]
fn a_kill_during_a_start_leaves_the_state_before_or_after() {
    let mut killed = Killed::new("start");
    let mut made = 0;
    for kill in 0..KILLS {
        killed.next_tree();
        let start = Instant::now();
        killed.world.begin(&ARGS);
        if kill == 0 {
            // the duration of the first start determines when to kill the others
            assert!(killed.world.wait_for_log("Server initialized."));
            killed.load = start.elapsed();
        }
        killed.kill(kill % 2 == 1, None);
        made += usize::from(killed.check() == killed.last);
    }
    println!("{made} of {KILLS} loads were made");
    killed.end();
}

/// A client's acknowledged write is not lost by a kill during a load.
#[test]
fn acknowledged_writes_survive_a_kill_during_a_reload() {
    let mut killed = Killed::new("writes");
    killed.world.start(&ARGS).unwrap();
    let before = written(&killed.world);
    killed.next_tree();
    let mut acknowledged = 0;
    wait_until("the load writes", || {
        let target = "/v1/data/own/n";
        let number = acknowledged + 1;
        let status = killed.world.send("PUT", target, &number.to_string()).status;
        assert_eq!(status, 204);
        acknowledged = number;
        number > 20 && written(&killed.world) != before
    });
    killed.world.stop();
    killed.world.start(&ARGS).unwrap();
    assert_eq!(killed.world.data()["own"]["n"], acknowledged);
}
