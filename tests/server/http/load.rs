//! Many at once: who asks for little is answered soon, whoever else asks for much, and memory stays within its budget.

use std::time::{Duration, Instant};

use crate::bounds::{bomb, peak};
use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::{ENDLESS, slow_policy};

#[test]
fn heavy_decisions_hold_no_small_ones_up() {
    let slow = slow_policy(220);
    let policy = "package p\n\nsmall := input.n + 1\n";
    let server = Server::start_with(
        &["--timeout", "3s"],
        &[("slow.rego", &slow), ("p.rego", policy)],
    );
    let address = server.address();
    let small = |n: usize| {
        let ask =
            Message::new("POST", "/v1/data/p/small").body(format!("{{\"input\":{{\"n\":{n}}}}}"));
        let start = Instant::now();
        assert_eq!(
            Client::connect(address).ask(&ask).text(),
            format!("{{\"result\":{}}}\n", n + 1)
        );
        start.elapsed()
    };
    for n in 0..5 {
        small(n);
    }
    std::thread::scope(|scope| {
        let heavy: Vec<_> = (0..100)
            .map(|_| scope.spawn(|| get(address, "/v1/data/slow/count_all")))
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let mut times: Vec<Duration> = (0..20)
            .map(|n| {
                std::thread::sleep(Duration::from_millis(20));
                small(n)
            })
            .collect();
        times.sort_unstable();
        // clients, server and other tests share few cores here
        assert!(times[10] < Duration::from_millis(500), "{times:?}");
        for one in heavy {
            let answer = one.join().unwrap();
            match answer.status {
                200 => assert_eq!(answer.text(), "{\"result\":0}\n"),
                500 => assert!(
                    answer.text().contains("\"eval_cancel_error\""),
                    "{}",
                    answer.text()
                ),
                other => panic!("{other}: {}", answer.text()),
            }
        }
    });
    let metrics = get(address, "/metrics").text();
    let count = |name: &str| {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .unwrap()
    };
    assert!(count("solon_yielded_total") > 0);
    assert_eq!(count("solon_held_bytes"), 0);
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
        "1s",
    ];
    let server = Server::start_with(&flags, &[("slow.rego", &slow)]);
    let address = server.address();
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..40)
            .map(|_| scope.spawn(|| get(address, "/v1/data/slow/count_all")))
            .collect();
        let answers: Vec<_> = asked.into_iter().map(|one| one.join().unwrap()).collect();
        let refused: Vec<_> = answers
            .iter()
            .filter(|answer| answer.status == 503)
            .collect();
        assert!(!refused.is_empty());
        for one in refused {
            assert_eq!(one.header("retry-after"), Some("1"));
            assert!(one.text().contains("\"unavailable\""));
        }
        for late in answers.iter().filter(|answer| answer.status != 503) {
            assert_eq!(late.status, 500);
            assert!(
                late.text().contains("\"eval_cancel_error\""),
                "{}",
                late.text()
            );
        }
    });
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
                scope.spawn(move || Client::connect(address).ask(&ask))
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
    assert_eq!(Client::connect(address).ask(&large).status, 503);
}

#[test]
fn what_is_prepared_is_bounded() {
    let server = Server::start_with(
        &["--max-prepared", "64", "--log-level-request", "debug"],
        &[],
    );
    let mut client = Client::connect(server.address());
    for number in 0..3_000 {
        client.ask(&Message::new("GET", &format!("/v1/data/a{number}")));
        client.ask(&Message::new("GET", &format!("/v1/query?q=x={number}")));
    }
    let metrics = get(server.address(), "/metrics").text();
    let count = |name: &str| {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .unwrap()
    };
    assert!((32..=64).contains(&count("solon_prepared_documents")));
    assert!(count("solon_prepared_queries") <= 256);
}
