//! Policies that are too large to write by hand.

use super::array;

const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];

/// Rules of a gateway, five lines each. A request matches one of them.
pub fn gateway(count: usize) -> String {
    let mut policy = String::from("package gateway\n\ndefault allow := false\n");
    for (rule, method) in (0..count).zip(METHODS.iter().cycle()) {
        policy.push_str(&format!(
            "\nallow if {{\n\tinput.path == \"/api/v1/resource/{rule}\"\n\tinput.method == \"{method}\"\n\t\"role_{}\" in input.roles\n}}\n",
            rule % 17
        ));
    }
    policy
}

/// A request for the last of these rules.
pub fn gateway_request(count: usize) -> String {
    let last = count.saturating_sub(1);
    let method = METHODS.get(last % 4).copied().unwrap_or_default();
    let roles = array(4, |at| format!("\"role_{}\"", (last + at) % 17));
    format!(r#"{{"path":"/api/v1/resource/{last}","method":"{method}","roles":{roles}}}"#)
}

/// Rules of several kinds, six per kind of request: decisions, sets, functions, messages.
pub fn mixed(count: usize) -> String {
    let mut policy = String::from("package mixed\n");
    for kind in 0..count / 6 {
        policy.push_str(&format!(
            r#"
default allow_{kind} := false

allow_{kind} if {{
	input.kind == "kind_{kind}"
	some role in input.user.roles
	role in permitted_{kind}
	limit_{kind}(input.amount)
}}

permitted_{kind} contains role if {{
	some role, grants in data.grants.kind_{kind}
	"write" in grants
	not data.banned[role]
}}

limit_{kind}(amount) if amount < {}

limit_{kind}(amount) if {{
	input.user.level >= {}
	amount < {}
}}

deny contains msg if {{
	not allow_{kind}
	input.kind == "kind_{kind}"
	names := [upper(role) | some role in input.user.roles]
	msg := sprintf("%s: kind {kind} refused to %v", [input.user.name, names])
}}
"#,
            100 + kind,
            kind % 9,
            1000 + kind,
        ));
    }
    policy
}

/// Packages of many teams, each with its own rules. One package refers to one of them, and another package is used by all.
pub fn packages(count: usize) -> Vec<(String, String)> {
    let mut modules = vec![
        (
            "main.rego".to_owned(),
            "package main\n\nimport data.lib\n\ndefault allow := false\n\nallow if {\n\tlib.known\n\tdata.teams[input.team].allow\n}\n"
                .to_owned(),
        ),
        (
            "lib.rego".to_owned(),
            "package lib\n\nknown if startswith(input.user, \"u-\")\n\nlevel := {\"read\": 1, \"write\": 2, \"admin\": 3}\n\nreaches(action, least) if level[action] >= least\n"
                .to_owned(),
        ),
    ];
    modules.extend((0..count).map(|team| (format!("teams/team_{team}.rego"), package(team))));
    modules
}

fn package(team: usize) -> String {
    let least = 1 + team % 3;
    format!(
        r#"package teams.team_{team}

import data.lib

default allow := false

allow if {{
	member
	lib.reaches(input.action, {least})
	not blocked
}}

members := {{"u-{team}", "u-{}", "u-{}"}}

member if input.user in members

blocked if {{
	some window in windows
	input.hour >= window.from
	input.hour < window.to
}}

windows := [{{"from": {}, "to": {}}}, {{"from": 22, "to": 24}}]

notes contains note if {{
	some member in members
	note := sprintf("%s is in team {team}", [member])
}}
"#,
        team + 1,
        team + 2,
        team % 6,
        1 + team % 6,
    )
}

/// Functions that each call the next one, to the given depth.
pub fn calls(depth: usize) -> String {
    let mut policy = String::from("package calls\n\nanswer := step_0(input.start)\n");
    for step in 0..depth {
        let next = step + 1;
        policy.push_str(&format!(
            "\nstep_{step}(n) := step_{next}(m) if {{\n\tm := n + {}\n\tm >= 0\n}}\n",
            step % 7
        ));
    }
    policy.push_str(&format!("\nstep_{depth}(n) := n\n"));
    policy
}

/// A rule with the given number of `else` branches, of which the last but one matches.
pub fn elses(count: usize) -> String {
    let mut policy =
        String::from("package chain\n\nanswer := \"first\" if {\n\tinput.score > 1000000\n}");
    for at in (0..count).rev() {
        policy.push_str(&format!(
            " else := \"at least {at}\" if {{\n\tinput.score >= {at}\n\tcount(input.tags) > {}\n}}",
            at % 2
        ));
    }
    policy.push_str(" else := \"none\"\n");
    policy
}

/// Tests that replace input and data, and the number of tests that pass.
pub fn tests(count: usize) -> String {
    let mut policy = String::from(
        r#"package checks

default allow := false

allow if input.user.role in data.roles[input.action]

allow if {
	input.user.name == input.owner
	input.action != "delete"
}

"#,
    );
    for test in 0..count {
        let action = METHODS.get(test % 4).copied().unwrap_or_default();
        let (role, other) = (test % 9, (test + usize::from(test % 3 == 0)) % 9);
        policy.push_str(&format!(
            r#"test_{test} if {{
	allow with input as {{"user": {{"role": "role_{role}", "name": "eve"}}, "owner": "bob", "action": "{action}"}}
		with data.roles as {{"{action}": ["role_{other}", "root"]}}
}}

"#
        ));
    }
    policy.push_str("passed := count([name | some name, _ in results])\n\n");
    for test in 0..count {
        policy.push_str(&format!(
            "results[\"test_{test}\"] := true if test_{test}\n\n"
        ));
    }
    policy
}

/// Tests that replace the input and a built-in, below which rules derive the same roles in each test, and the number of
/// tests that pass.
pub fn mocked_tests(count: usize) -> String {
    let mut policy = String::from(
        r#"package checks

granted := {user: roles |
	some user, direct in members
	roles := graph.reachable(inherits, direct)
}

allow if {
	some role in granted[input.user]
	input.action in actions[role]
	not locked(input.user)
}

locked(user) if {
	response := http.send({"method": "get", "url": concat("/", ["http://locks.example", user])})
	response.body.locked
}

unlocked(request) := {"body": {"locked": endswith(request.url, "_5")}}

"#,
    );
    for (name, rows) in [
        ("members", user_roles()),
        ("inherits", inherited_roles()),
        ("actions", role_actions()),
    ] {
        policy.push_str(&format!("{name} := {{\n{rows}}}\n\n"));
    }
    for test in 0..count {
        let action = METHODS.get(test % 4).copied().unwrap_or_default();
        let user = test % 40;
        policy.push_str(&format!(
            r#"test_{test} if {{
	allow with input as {{"user": "user_{user}", "action": "{action}"}}
		with http.send as unlocked
}}

"#
        ));
    }
    policy.push_str("passed := count([name | some name, _ in results])\n\n");
    for test in 0..count {
        policy.push_str(&format!(
            "results[\"test_{test}\"] := true if test_{test}\n\n"
        ));
    }
    policy
}

/// Forty users with one role each.
fn user_roles() -> String {
    let users = 0..40;
    let rows = users.map(|user| format!("\t\"user_{user}\": [\"role_{}\"],\n", user % 12));
    rows.collect()
}

/// Twelve roles, each of which inherits the next one but two; the last three inherit nothing.
fn inherited_roles() -> String {
    let roles = 0..12;
    let rows = roles.map(|role| match role {
        0..9 => format!("\t\"role_{role}\": [\"role_{}\"],\n", role + 3),
        _ => format!("\t\"role_{role}\": [],\n"),
    });
    rows.collect()
}

/// An action for each of the twelve roles.
fn role_actions() -> String {
    let roles = 0..12;
    let rows = roles.map(|role| {
        let action = METHODS.get(role % 4).copied().unwrap_or_default();
        format!("\t\"role_{role}\": [\"{action}\"],\n")
    });
    rows.collect()
}
