//! Base data: accounts, records, and lists to join.

use super::{Random, array};

const NAMES: [&str; 8] = ["ada", "bob", "cho", "dev", "eve", "finn", "gul", "hana"];

/// Accounts of about 250 bytes each, with the roles and regions that they name.
pub fn accounts(count: usize) -> String {
    let mut random = Random::new(31);
    let mut text = String::from("{\"accounts\":{");
    for at in 0..count {
        let (name, region) = (random.pick(&NAMES), random.below(20));
        let (first, second) = (random.below(100), random.below(100));
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}"account-{at:07}":{{"id":{at},"name":"{name} the {at}th","email":"{name}.{at}@example.com","active":{},"region":"region-{region:02}","roles":["role-{first:03}","role-{second:03}"],"created":"2024-0{}-11T08:00:00Z","limit":{}.50,"tags":["t{}","t{}"]}}"#,
            at % 10 != 3,
            1 + at % 9,
            random.below(10_000),
            random.below(50),
            random.below(50),
        ));
    }
    let roles: Vec<String> = (0..100)
        .map(|at| {
            format!(r#""role-{at:03}":{{"grants":{{"read":true,"list":true,"act{at}":true}}}}"#)
        })
        .collect();
    let regions: Vec<String> = (0..20)
        .map(|at| format!(r#""r{at}":{{"name":"region-{at:02}"}}"#))
        .collect();
    text.push_str(&format!(
        "}},\"roles\":{{{}}},\"regions\":{{{}}}}}",
        roles.join(","),
        regions.join(",")
    ));
    text
}

/// Records, each with an owner and a team.
pub fn records(count: usize) -> String {
    let mut random = Random::new(32);
    let records = array(count, |at| {
        let (owner, team) = (random.pick(&NAMES), random.below(40));
        format!(r#"{{"id":"record-{at:06}","owner":"{owner}","team":"team{team}"}}"#)
    });
    let teams: Vec<String> = (0..40)
        .map(|at| format!(r#""team{at}":{{"name":"Team {at}"}}"#))
        .collect();
    format!(r#"{{"records":{records},"teams":{{{}}}}}"#, teams.join(","))
}

/// People and their orders, from which texts are built.
pub fn people(count: usize) -> String {
    let mut random = Random::new(33);
    let people = array(count, |at| {
        let (name, state) = (random.pick(&NAMES), random.pick(&["paid", "sent", "open"]));
        let (units, cents) = (random.below(1000), random.below(100));
        format!(
            r#"{{"name":"{name} number {at}","order":"A-{at:06}","amount":{units}.{cents:02},"state":"{state}"}}"#
        )
    });
    format!(r#"{{"people":{people}}}"#)
}

/// Granted and required permissions. Half of them are the same.
pub fn permissions(count: usize) -> String {
    let list = |offset: usize| array(count, |at| format!("\"permission:{:06}\"", at + offset));
    format!(r#"{{"held":{},"needed":{}}}"#, list(0), list(count / 2))
}

/// Customers and the same number of orders.
pub fn customers(count: usize) -> String {
    let mut random = Random::new(34);
    let customers = array(count, |at| {
        let tier = random.pick(&["gold", "silver", "bronze"]);
        format!(r#"{{"id":"customer-{at:05}","tier":"{tier}"}}"#)
    });
    let orders = array(count, |at| {
        let (customer, days) = (random.below(count), random.below(60));
        format!(r#"{{"id":{at},"customer":"customer-{customer:05}","days":{days}}}"#)
    });
    format!(r#"{{"customers":{customers},"orders":{orders}}}"#)
}

/// Users with roles. Ten of them have a role with a list and a map of permissions.
pub fn users(count: usize) -> String {
    let mut random = Random::new(35);
    let all_roles = count.div_ceil(10);
    let mut text = String::from("{\"users\":{");
    for at in 0..count {
        let roles = array(5, |_| format!("\"role{:04}\"", random.below(all_roles)));
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}"user{at:05}":{{"roles":{roles},"dept":"dept{:02}","active":{},"email":"user{at:05}@example.com"}}"#,
            at % 50,
            at % 10 != 0
        ));
    }
    text.push_str("},\"roles\":{");
    for at in 0..all_roles {
        let resource = |number: usize| format!("res{:04}", (at * 7 + number * 13) % 5000);
        let list = array(20, |number| {
            let action = if number % 2 == 0 { "read" } else { "write" };
            format!(
                r#"{{"action":"{action}","resource":"{}"}}"#,
                resource(number / 2)
            )
        });
        let map: Vec<String> = (0..10)
            .map(|number| format!(r#""{}":{{"read":true,"write":true}}"#, resource(number)))
            .collect();
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}"role{at:04}":{{"permissions":{list},"perm_map":{{{}}},"desc":"role number {at}"}}"#,
            map.join(",")
        ));
    }
    text.push_str("}}");
    text
}

/// Items with an owner, an amount, a status and tags.
pub fn items(count: usize) -> String {
    let mut random = Random::new(36);
    let items = array(count, |at| {
        let (owner, amount) = (random.below(500), random.below(1000));
        let status = random.pick(&["open", "closed", "pending"]);
        let tags = array(3, |_| format!("\"t{}\"", random.below(20)));
        format!(
            r#"{{"id":{at},"owner":"owner{owner:03}","amount":{amount},"status":"{status}","tags":{tags}}}"#
        )
    });
    format!(r#"{{"items":{items}}}"#)
}

/// Nodes of a graph, each with four neighbours.
pub fn graph(count: usize) -> String {
    let mut random = Random::new(37);
    let mut text = String::from("{\"graph\":{");
    for at in 0..count {
        let next = array(4, |_| format!("\"n{}\"", random.below(count)));
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(r#"{comma}"n{at}":{next}"#));
    }
    text.push_str("}}");
    text
}
