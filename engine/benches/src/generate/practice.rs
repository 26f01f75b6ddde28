//! Data for the `practice` workloads: services, groups, pods, versions, windows, catalogues, reports, letters.

use super::{Random, array};

const NAMES: [&str; 8] = ["ada", "bob", "cho", "dev", "eve", "finn", "gul", "hana"];

/// Services whose settings override those of their environments and the defaults.
pub fn services(count: usize) -> String {
    let mut random = Random::new(51);
    let services: Vec<String> = (0..count)
        .map(|at| {
            let environment = random.pick(&["dev", "test", "prod"]);
            let (replicas, level) = (1 + random.below(9), random.pick(&["info", "debug"]));
            format!(
                r#""service-{at}":{{"environment":"{environment}","settings":{{"scaling":{{"replicas":{replicas}}},"logging":{{"level":"{level}"}},"labels":{{"service":"service-{at}","team":"team-{}"}},"routes":["/v1/{at}","/v2/{at}"]}}}}"#,
                at % 7
            )
        })
        .collect();
    let environment = |name: &str, most: usize| {
        format!(
            r#""{name}":{{"scaling":{{"max":{most}}},"logging":{{"format":"json"}},"labels":{{"environment":"{name}"}},"limits":{{"memory":"{most}Mi","cpu":"{most}m"}},"features":{{"tracing":true,"retries":{most}}}}}"#
        )
    };
    format!(
        r#"{{"defaults":{{"scaling":{{"replicas":1,"min":1,"max":4,"target":70}},"logging":{{"level":"info","format":"text","sampling":1}},"labels":{{"managed":"true","company":"shop"}},"limits":{{"memory":"128Mi","cpu":"100m"}},"timeouts":{{"connect":5,"read":30,"idle":300}},"features":{{"tracing":false,"caching":true,"retries":3}},"ports":[8080,9090]}},"environments":{{{},{},{}}},"services":{{{}}}}}"#,
        environment("dev", 2),
        environment("test", 4),
        environment("prod", 16),
        services.join(",")
    )
}

/// Names of people in overlapping lists, and roles with their permissions.
pub fn members(count: usize) -> String {
    let list = |step: usize, from: usize| {
        array(count, |at| {
            let person = (from + at * step) % (3 * count);
            format!(
                "\"{}.{:05}@example.com\"",
                NAMES.get(person % 8).copied().unwrap_or_default(),
                person
            )
        })
    };
    let roles = array(20, |role| {
        let rights = array(count / 10, |at| {
            format!("\"resource-{:05}:{}\"", (role * 37 + at) % count, role % 3)
        });
        format!(r#"{{"rights":{rights}}}"#)
    });
    let needed = array(count, |at| format!("\"resource-{at:05}:{}\"", at % 3));
    format!(
        r#"{{"staff":{},"contractors":{},"trained":{},"roles":{roles},"needed":{needed}}}"#,
        list(1, 0),
        list(1, count / 2),
        list(2, 1)
    )
}

/// Pods with a few lists each, and one long list.
pub fn pods(count: usize) -> String {
    let mut random = Random::new(52);
    let pods = array(count, |at| {
        let containers = array(3, |number| {
            let level = random.pick(&["info", "debug", "warn"]);
            format!(
                r#"{{"name":"c{number}","image":"shop/part{at}:1.{number}","env":[{{"name":"HOST","value":"h{at}"}},{{"name":"LEVEL","value":"{level}"}}],"ports":[{{"containerPort":80{number}}}]}}"#
            )
        });
        format!(
            r#"{{"kind":"Pod","metadata":{{"name":"pod-{at}","namespace":"web","labels":{{"app":"shop","mesh":"off"}}}},"spec":{{"containers":{containers},"volumes":[{{"name":"logs"}},{{"name":"cache"}},{{"name":"keys"}}],"nodeName":"node-{}"}}}}"#,
            at % 9
        )
    });
    let items = array(10 * count, |at| {
        let state = random.pick(&["open", "done", "done", "done"]);
        format!(r#"{{"id":{at},"state":"{state}","note":"item number {at}"}}"#)
    });
    format!(r#"{{"pods":{pods},"items":{items}}}"#)
}

/// Networks, addresses, and the rules of a firewall.
pub fn firewall(count: usize) -> String {
    let mut random = Random::new(53);
    let network = |at: usize, random: &mut Random| {
        let (second, third) = (random.below(256), random.below(256));
        match at % 8 {
            7 => format!("2001:db8:{second:x}:{third:x}::/64"),
            _ => format!("{}.{second}.{third}.0/{}", 11 + at % 190, 16 + at % 12),
        }
    };
    let networks = array(count, |at| {
        if at + 1 == count {
            return "\"203.0.113.0/24\"".to_owned();
        }
        format!("\"{}\"", network(at, &mut random))
    });
    let addresses = array(count, |at| {
        let (second, third) = (random.below(256), random.below(256));
        let first = match at % 4 {
            0 => 10,
            1 => 192,
            _ => 11 + random.below(190),
        };
        match at % 16 {
            15 => format!("\"2001:db8:{second:x}:{third:x}::17\""),
            1 => format!("\"192.168.{third}.{}\"", at % 256),
            _ => format!("\"{first}.{second}.{third}.{}\"", at % 256),
        }
    });
    let rules = array(20, |at| {
        let action = random.pick(&["allow", "allow", "deny"]);
        let source = match at {
            19 => "128.0.0.0/2".to_owned(),
            _ => network(at, &mut random),
        };
        format!(r#"{{"id":"rule-{at}","action":"{action}","source":"{source}"}}"#)
    });
    format!(r#"{{"networks":{networks},"addresses":{addresses},"rules":{rules}}}"#)
}

/// Packages with their versions, and known vulnerabilities of some of them.
pub fn packages(count: usize) -> String {
    let mut random = Random::new(54);
    let version = |random: &mut Random| {
        let core = format!(
            "{}.{}.{}",
            random.below(4),
            random.below(20),
            random.below(12)
        );
        match random.below(9) {
            0 => format!("{core}-rc.{}", random.below(4)),
            1 => format!("v{core}"),
            _ => core,
        }
    };
    let packages = array(count, |at| {
        format!(
            r#"{{"name":"package-{}","version":"{}","licence":"MIT"}}"#,
            at % 50,
            version(&mut random)
        )
    });
    let advisories: Vec<String> = (0..50)
        .map(|package| {
            let list = array(3, |number| {
                format!(
                    r#"{{"id":"A-{package}-{number}","introduced":"{number}.0.0","fixed":"{number}.{}.{}"}}"#,
                    1 + random.below(19),
                    random.below(9)
                )
            });
            format!(r#""package-{package}":{list}"#)
        })
        .collect();
    let releases = array(count / 10, |_| format!("\"{}\"", version(&mut random)));
    format!(
        r#"{{"packages":{packages},"advisories":{{{}}},"releases":{releases}}}"#,
        advisories.join(",")
    )
}

/// Grants, freezes and keys with their start times.
pub fn windows(count: usize) -> String {
    let mut random = Random::new(55);
    let mut time = |zone: &str| {
        format!(
            "2026-{:02}-{:02}T{:02}:{:02}:00{zone}",
            1 + random.below(12),
            1 + random.below(28),
            random.below(24),
            random.below(60)
        )
    };
    let grants = array(count, |at| {
        let zone = if at % 3 == 0 { "+02:00" } else { "Z" };
        format!(
            r#"{{"id":{at},"from":"{}","length":"{}h30m"}}"#,
            time(zone),
            1 + at % 2000
        )
    });
    let freezes = array(4, |at| {
        format!(r#"{{"from":"{}","days":{}}}"#, time("Z"), 1 + at)
    });
    let keys = array(count, |at| {
        let created = time("").replace('T', " ");
        format!(r#"{{"id":"key-{at}","created":"{created}"}}"#)
    });
    format!(r#"{{"grants":{grants},"freezes":{freezes},"keys":{keys}}}"#)
}

/// Users with roles, plans and tenants, and routes by prefix.
pub fn subjects(count: usize) -> String {
    let mut random = Random::new(56);
    let users: Vec<String> = (0..count)
        .map(|at| {
            let role = random.pick(&["reader", "writer", "auditor"]);
            let plan = random.pick(&["free", "team", "firm"]);
            format!(
                r#""user-{at}":{{"roles":["guest","{role}"],"tenant":"tenant-{}","guest_of":["tenant-0","tenant-1"],"plan":"{plan}","locked":false,"failures":{}}}"#,
                at % 20,
                random.below(6)
            )
        })
        .collect();
    let routes: Vec<String> = (0..12)
        .map(|at| {
            let method = if at % 2 == 0 { "get" } else { "post" };
            format!(r#""route-{at}":{{"method":"{method}","prefix":"/API/v{at:02}/"}}"#)
        })
        .collect();
    format!(
        r#"{{"users":{{{}}},"roles":{{"guest":{{"grants":[{{"kind":"page","actions":["read"]}}]}},"reader":{{"grants":[{{"kind":"page","actions":["read"]}},{{"kind":"document","actions":["read","list"]}}]}},"writer":{{"grants":[{{"kind":"page","actions":["read"]}},{{"kind":"document","actions":["read","list","write"]}}]}},"auditor":{{"grants":[{{"kind":"log","actions":["read"]}},{{"kind":"document","actions":["read","write"]}}]}}}},"limits":{{"free":100,"team":5000,"firm":100000}},"routes":{{{}}}}}"#,
        users.join(","),
        routes.join(",")
    )
}

/// Items of a catalogue, and orders that name them.
pub fn catalogue(count: usize) -> String {
    let mut random = Random::new(57);
    let items = array(count, |at| {
        let kind = random.pick(&["book", "game", "tool", "toy"]);
        format!(
            r#"{{"id":"item-{at:05}","name":"the {at}th {kind}","kind":"{kind}","price":{}}}"#,
            random.below(1000)
        )
    });
    let orders = array(count, |at| {
        format!(
            r#"{{"order":{at},"item":"item-{:05}"}}"#,
            random.below(count + count / 10)
        )
    });
    format!(r#"{{"items":{items},"orders":{orders}}}"#)
}

/// Rows of a report.
pub fn report(count: usize) -> String {
    let mut random = Random::new(58);
    let rows = array(count, |at| {
        let name = random.pick(&NAMES);
        format!(
            r#"{{"name":"{name}","amount":{}.{:02},"share":0.{:03},"rate":{}.{},"units":{at}}}"#,
            random.below(10_000),
            random.below(100),
            random.below(1000),
            random.below(40),
            1 + random.below(99_999)
        )
    });
    format!(r#"{{"rows":{rows}}}"#)
}

/// Customers to write letters to.
pub fn letters(count: usize) -> String {
    let mut random = Random::new(59);
    let customers = array(count, |at| {
        let name = random.pick(&NAMES);
        let items = array(1 + at % 4, |number| {
            format!(
                r#"{{"title":"article {number}","count":{}}}"#,
                1 + random.below(9)
            )
        });
        format!(
            r#"{{"name":"{name} & co","order":"A-{at:05}","items":{items},"paid":{},"total":{}.5,"due":"2026-0{}-17"}}"#,
            at % 3 == 0,
            random.below(900),
            1 + at % 9
        )
    });
    format!(r#"{{"customers":{customers}}}"#)
}

/// Lines of a log, some of which contain secrets, and patterns for these secrets.
pub fn leaks(count: usize) -> String {
    let mut random = Random::new(60);
    let lines = array(count, |at| {
        let (name, number) = (random.pick(&NAMES), random.below(10_000));
        let detail = match at % 6 {
            0 => format!("mail from {name}.{number}@example.com"),
            1 => format!("card 4111-1111-1111-{number:04} charged"),
            2 => format!("login with Password={name}{number} ok"),
            3 => format!("client 10.0.{}.{} connected", number % 256, at % 256),
            _ => format!("item {number} moved to shelf {}", at % 40),
        };
        format!("\"2026-01-17 12:00:{:02} worker-{at} {detail}\"", at % 60)
    });
    format!(
        r#"{{"lines":{lines},"patterns":["[a-z.0-9]+@example\\.com","(?i)password","4111(-\\d{{4}}){{3}}","token=\\S+","\\bssn\\b","10\\.0\\.\\d+\\.\\d+"]}}"#
    )
}
