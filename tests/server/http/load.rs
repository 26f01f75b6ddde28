//! Load: cheap requests get quick responses despite expensive ones, and memory stays within its budget.

use std::time::Duration;

use crate::bounds::{bomb, peak};
use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::unread::Unread;
use crate::waiting::wait_until;
use crate::{ENDLESS, slow_policy};

#[test]
fn heavy_decisions_hold_no_small_ones_up() {
    let long = slow_policy(40).replace("package slow", "package long");
    let files = [
        ("slow.rego", &*slow_policy(ENDLESS)),
        ("long.rego", &*long),
        ("p.rego", "package p\n\nsmall := input.n + 1\n"),
    ];
    let server = Server::start_with(&["--timeout", "1h"], &files);
    let address = server.address();
    // returns the processor time that the server uses until the response, most of it for other requests.
    let small = |n: usize| {
        let ask =
            Message::new("POST", "/v1/data/p/small").body(format!("{{\"input\":{{\"n\":{n}}}}}"));
        let before = server.processor_time();
        assert_eq!(
            Client::connect(address).send(&ask).text(),
            format!("{{\"result\":{}}}\n", n + 1)
        );
        server.processor_time().saturating_sub(before)
    };
    for n in 0..5 {
        small(n);
    }
    let cores = std::thread::available_parallelism().unwrap().get();
    // in a debug build each of them runs long before it yields
    let count = if cfg!(debug_assertions) {
        2 * cores
    } else {
        100
    };
    let heavy: Vec<_> = (0..count)
        .map(|_| Unread::get(address, "/v1/data/slow/count_all"))
        .collect();
    server.wait_for_work();
    let mut worked: Vec<Duration> = (0..20).map(small).collect();
    worked.sort_unstable();
    let most = Duration::from_millis(500) * u32::try_from(cores).unwrap();
    assert!(worked[10] < most, "{worked:?}");
    assert!(heavy.iter().all(Unread::is_unanswered));
    assert!(metric(address, "solon_overruns_total") > 0);
    drop(heavy);
    // long decisions complete as before
    let long = get(address, "/v1/data/long/count_all");
    assert_eq!(long.text(), "{\"result\":0}\n");
    wait_until("nothing is held", || {
        metric(address, "solon_held_bytes") == 0
    });
}

/// Returns a metric of the server.
pub fn metric(address: &str, name: &str) -> u64 {
    let metrics = get(address, "/metrics").text();
    let mut lines = metrics.lines();
    let number = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    number.and_then(|number| number.parse().ok()).unwrap()
}

#[test]
fn heavy_decisions_end_when_their_time_is_up() {
    let slow = slow_policy(ENDLESS);
    let server = Server::start_with(&["--timeout", "1s"], &[("slow.rego", &slow)]);
    let late = get(server.address(), "/v1/data/slow/count_all");
    assert_eq!(late.status, 500);
    let text = late.text();
    assert!(text.contains("\"eval_cancel_error\""), "{text}");
}

#[test]
fn what_waits_is_bounded() {
    let slow = slow_policy(ENDLESS);
    let flags = [
        "--max-threads",
        "4",
        "--max-waiting",
        "8",
        "--timeout",
        "1h",
    ];
    let server = Server::start_with(&flags, &[("slow.rego", &slow)]);
    let address = server.address();
    let asked: Vec<_> = (0..40)
        .map(|_| Unread::get(address, "/v1/data/slow/count_all"))
        .collect();
    // at most four run and eight wait; the number that runs in parallel depends on the machine
    let open = || asked.iter().filter(|one| one.is_unanswered()).count();
    wait_until("the others are refused", || open() <= 12);
    assert!(open() >= 8, "{}", open());
    for one in asked.iter().filter(|one| !one.is_unanswered()) {
        wait_until("a refusal is there as a whole", || {
            one.response().contains("\"unavailable\"")
        });
        let response = one.response();
        assert!(response.starts_with("HTTP/1.1 503"), "{response}");
        assert!(response.contains("retry-after: 1"), "{response}");
    }
    assert_eq!(get(address, "/health").status, 200);
}

#[test]
fn bodies_of_all_connections_are_bounded_together() {
    let server = Server::start_with(&["--max-held", "64MiB"], &[]);
    let address = server.address();
    let before = peak(&server);
    let bomb = bomb(60 << 20);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8)
            .map(|_| {
                let ask = Message::new("POST", "/v1/data/x")
                    .header("Content-Encoding", "gzip")
                    .body(bomb.clone());
                scope.spawn(move || Client::connect(address).send(&ask))
            })
            .collect();
        let answers: Vec<_> = asked.into_iter().map(|one| one.join().unwrap()).collect();
        assert!(answers.iter().all(|one| matches!(one.status, 400 | 503)));
        assert!(answers.iter().any(|one| one.status == 503));
        assert_eq!(get(address, "/health").status, 200);
    });
    let taken = peak(&server) - before;
    assert!(taken < (64 + 100) << 20, "{taken}");
    let large = Message::new("PUT", "/v1/data/x").body("7".repeat(65 << 20));
    assert_eq!(Client::connect(address).send(&large).status, 503);
}

#[test]
fn what_is_prepared_is_bounded() {
    let server = Server::start_with(
        &["--max-prepared", "64", "--log-level-request", "debug"],
        &[],
    );
    let mut client = Client::connect(server.address());
    for number in 0..3_000 {
        client.send(&Message::new("GET", &format!("/v1/data/a{number}")));
        client.send(&Message::new("GET", &format!("/v1/query?q=x={number}")));
    }
    let count = |name: &str| metric(server.address(), name);
    assert!((32..=64).contains(&count("solon_prepared_documents")));
    assert!(count("solon_prepared_queries") <= 256);
}
