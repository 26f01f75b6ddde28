//! Policies with one id that a client and a load of files write at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use solon::bundle::{Loader, MemoryFiles};
use solon::store::{Commit, Contents, MemoryStore, Store, StoreError};
use solon::{Engine, FileLoad};
use solon_server::Server;

use crate::client::{Client, Message, get};
use crate::inside::Inside;
use crate::waiting::HANG;

/// A store whose next commit waits if it `is_armed`.
struct Waiting {
    store: MemoryStore,
    is_armed: AtomicBool,
    begun: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
}

impl Store for Waiting {
    fn load(&self) -> Result<Contents, StoreError> {
        self.store.load()
    }

    fn commit(&self, change: &Commit<'_>) -> Result<(), StoreError> {
        if self.is_armed.swap(false, Ordering::SeqCst) {
            self.begun.lock().unwrap().send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        self.store.commit(change)
    }
}

/// A server whose changes can be delayed.
struct DelayedServer {
    engine: Engine,
    server: Inside,
    store: Arc<Waiting>,
    has_begun: Mutex<Receiver<()>>,
    release: Sender<()>,
}

const PATH: &str = "/v1/policies/f.rego";

impl DelayedServer {
    fn new() -> Self {
        let (begun, has_begun) = channel();
        let (release, go_on) = channel();
        let store = Arc::new(Waiting {
            store: MemoryStore::default(),
            is_armed: AtomicBool::new(false),
            begun: Mutex::new(begun),
            go_on: Mutex::new(go_on),
        });
        let engine = Engine::builder().open(store.clone()).unwrap();
        let server = Inside::start(Server::builder().engine(engine.clone()));
        Self {
            engine,
            server,
            store,
            has_begun: Mutex::new(has_begun),
            release,
        }
    }

    /// Loads the file `/f.rego`, whose policy has the id `f.rego`.
    fn load(&self) {
        let files = MemoryFiles::from([("/f.rego", "package f\n\nv := \"file\"")]);
        let loaded = Loader::new(&files).load(&["/f.rego"]).unwrap();
        let load = FileLoad::new(&loaded);
        let load = load.identified(|name| name.strip_prefix('/').unwrap_or(name));
        self.engine.load_files(load).unwrap();
    }

    fn send(&self, method: &str, body: &str) -> u16 {
        let message = Message::new(method, PATH).body(body);
        Client::connect(self.server.address()).send(&message).status
    }

    fn put(&self, number: usize) -> u16 {
        self.send("PUT", &format!("package f{number}\n\nv := {number}"))
    }

    /// Runs `first`, and each of `others` while the commit of `first` waits.
    fn together(&self, first: impl FnOnce() + Send, others: &[&(dyn Fn() + Sync)]) {
        self.store.is_armed.store(true, Ordering::SeqCst);
        std::thread::scope(|scope| {
            scope.spawn(first);
            self.has_begun.lock().unwrap().recv_timeout(HANG).unwrap();
            for other in others {
                scope.spawn(other);
            }
            // other requests complete: by then the earlier ones wait for the change
            for _ in 0..20 {
                assert_eq!(get(self.server.address(), "/health").status, 200);
            }
            self.release.send(()).unwrap();
        });
    }
}

#[test]
fn a_policy_that_a_load_adds_meanwhile_is_replaced() {
    let held = DelayedServer::new();
    held.together(|| held.load(), &[&|| assert_eq!(held.put(1), 200)]);
    assert_eq!(held.engine.module_names(), ["/f.rego"]);
    assert!(
        get(held.server.address(), PATH)
            .text()
            .contains("package f1")
    );
    held.load();
    assert_eq!(held.engine.module_names(), ["/f.rego"]);
}

#[test]
fn a_policy_that_a_load_adds_meanwhile_is_removed() {
    let held = DelayedServer::new();
    held.together(
        || held.load(),
        &[&|| assert_eq!(held.send("DELETE", ""), 200)],
    );
    assert!(held.engine.module_names().is_empty());
}

#[test]
fn requests_for_one_id_at_the_same_time_write_one_policy() {
    for _ in 0..10 {
        let held = DelayedServer::new();
        held.load();
        held.together(
            || assert_eq!(held.send("DELETE", ""), 200),
            &[&|| assert_eq!(held.put(1), 200), &|| {
                assert_eq!(held.put(2), 200);
            }],
        );
        assert_eq!(held.put(3), 200);
        assert_eq!(held.engine.module_names().len(), 1);
        assert_eq!(held.send("DELETE", ""), 200);
        assert!(held.engine.module_names().is_empty());
    }
}
