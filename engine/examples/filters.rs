//! Rows of a database that a user may see: a rule as an SQL condition.
//!
//! `cargo run -p solon --example filters`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request, value};

const POLICY: &str = "package filters

include if input.posts.owner == input.user

include if {
	\"editor\" in data.roles[input.user]
	input.posts.state != \"draft\"
}";

fn main() -> Result<(), solon::Error> {
    let engine = Engine::new();
    engine.set_module("posts.rego", POLICY)?;
    engine.put("data.roles", value!({"alice": ["editor"], "bob": []}))?;
    let options = FilterOptions::new([FilterTarget::Postgresql])
        .unknowns(["input.posts"])
        .parameters(true);
    let filters = engine.prepare_filters("data.filters.include", &options)?;
    for user in ["alice", "bob"] {
        let input = value!({"user": user});
        let made = filters.compile(&Request::new().input(&input))?;
        for filter in made.filters {
            match filter.query {
                // values are parameters of the statement, so no text of a user becomes SQL
                Some(FilterQuery::Sql(sql)) => {
                    println!("{user}: {} with {:?}", sql.text, sql.parameters);
                }
                Some(FilterQuery::Ucast(tree)) => println!("{user}: {}", tree.to_json()),
                None => println!("{user}: no row"),
            }
        }
    }
    Ok(())
}
