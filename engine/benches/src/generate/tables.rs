//! Tables of rules as in gateways and permission systems, of which a request matches one, and matching requests.

const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];

/// Number of actions in a table of permissions.
const ACTIONS: usize = 10;

/// Returns the rules of one package, each built from its number.
fn table(count: usize, rule: impl Fn(usize) -> String) -> String {
    let mut policy = String::from("package tables\n\ndefault allow := false\n");
    for at in 0..count {
        policy.push_str(&format!("\n{}\n", rule(at)));
    }
    policy
}

/// Routes as patterns of arrays.
pub fn arrays(count: usize) -> String {
    table(count, |at| {
        format!(
            "allow if {{\n\tinput.method == \"GET\"\n\tinput.path = [\"api\", \"v1\", \"resource{at}\", id]\n\tid != \"\"\n}}"
        )
    })
}

/// Routes as prefixes.
pub fn prefixes(count: usize) -> String {
    table(count, |at| {
        format!(
            "allow if {{\n\tstartswith(input.url, \"/api/v1/resource{at}/\")\n\tinput.method == \"GET\"\n}}"
        )
    })
}

/// Routes as globs.
pub fn globs(count: usize) -> String {
    table(count, |at| {
        format!(
            "allow if {{\n\tinput.method == \"GET\"\n\tglob.match(\"/api/v1/resource{at}/*\", [\"/\"], input.url)\n}}"
        )
    })
}

/// Users in constant sets.
pub fn members(count: usize) -> String {
    table(count, |at| {
        format!(
            "allow if {{\n\tinput.user in {{\"user{at}\", \"deputy{at}\"}}\n\tinput.method == \"GET\"\n}}"
        )
    })
}

/// Rules that compare the method first, then the path.
pub fn methods(count: usize) -> String {
    table(count, |at| {
        let method = METHODS.get(at % 4).copied().unwrap_or_default();
        let path = at / 4;
        format!(
            "allow if {{\n\tinput.method == \"{method}\"\n\tinput.url == \"/api/v1/resource{path}/42\"\n}}"
        )
    })
}

/// Rules that compare a role, an action and a resource.
pub fn roles(count: usize) -> String {
    table(count, |at| {
        let (role, action) = (at / (ACTIONS * ACTIONS), at / ACTIONS % ACTIONS);
        let resource = at % ACTIONS;
        format!(
            "allow if {{\n\tinput.role == \"role{role}\"\n\tinput.action == \"action{action}\"\n\tinput.resource == \"resource{resource}\"\n}}"
        )
    })
}

/// Returns a policy with `count` functions, each with a constant tenant as its first argument.
pub fn tenants(count: usize) -> String {
    let mut policy = table(count, |at| {
        format!(
            "permits(\"tenant{at}\", request) if {{\n\trequest.method == \"GET\"\n\trequest.user != \"\"\n}}"
        )
    });
    policy.push_str("\nallow if permits(input.tenant, input)\n");
    policy
}

/// One rule with the given number of `else` branches.
pub fn elses(count: usize) -> String {
    let mut policy =
        String::from("package tables\n\nallow := false if {\n\tinput.code == \"none\"\n}");
    for at in 0..count {
        policy.push_str(&format!(
            " else := true if {{\n\tinput.code == \"code{at}\"\n\tinput.method == \"GET\"\n}}"
        ));
    }
    policy.push_str(" else := false\n");
    policy
}

/// A request that matches the first rule of any of these tables.
pub fn first(_: usize) -> String {
    request(0)
}

/// A request that matches the last rule.
pub fn last(count: usize) -> String {
    request(count.saturating_sub(1))
}

/// A request that matches no rule, though it is similar to others.
pub fn missed(count: usize) -> String {
    request(count * 1000)
}

fn request(at: usize) -> String {
    let (role, action, resource) = (
        at / (ACTIONS * ACTIONS),
        at / ACTIONS % ACTIONS,
        at % ACTIONS,
    );
    // tables by method have four rules per path
    format!(
        r#"{{"method":"GET","path":["api","v1","resource{at}","42"],"url":"/api/v1/resource{at}/42","user":"user{at}","role":"role{role}","action":"action{action}","resource":"resource{resource}","tenant":"tenant{at}","code":"code{at}"}}"#
    )
}

/// Requests for tables by method and path.
pub fn method_last(count: usize) -> String {
    let last = count.saturating_sub(1);
    let method = METHODS.get(last % 4).copied().unwrap_or_default();
    format!(
        r#"{{"method":"{method}","url":"/api/v1/resource{}/42"}}"#,
        last / 4
    )
}
