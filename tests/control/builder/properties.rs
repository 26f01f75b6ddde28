//! Properties of builds that no single record shows.

use std::collections::BTreeSet;

use solon::bundle::{BundleReader, Verification, VerificationKey};
use solon_control::builder::input_digest;

use super::{Want, World, files, run};

/// Every archive can be activated by a policy server, and contains each policy below one of its roots.
#[test]
fn policy_servers_load_every_built_bundle() {
    for case in files().into_iter().flat_map(|(_, cases)| cases) {
        let Ok(built) = run(&case) else { continue };
        let reader = BundleReader::new("test").verification(match &case.signing {
            None => Verification::default(),
            Some(signing) => {
                let key = VerificationKey::new(&*signing.algorithm, signing.key.as_bytes());
                Verification::by_key(&*signing.keyid, key).scope(&*signing.scope)
            }
        });
        let bundle = reader.read_archive(&built.archive);
        let bundle = bundle.unwrap_or_else(|errors| panic!("{}: {errors}", case.note));
        assert_eq!(bundle.manifest.revision, built.revision);
        let engine = solon::Engine::new();
        let activated = engine.activate_bundle("test", &bundle);
        activated.unwrap_or_else(|error| panic!("{}: {error}", case.note));
    }
}

#[test]
fn each_part_of_the_input_changes_its_digest() {
    let all: Vec<_> = files().into_iter().flat_map(|(_, cases)| cases).collect();
    let case = all
        .iter()
        .find(|case| matches!(case.want, Some(Want::Built { .. })) && !case.trees.is_empty());
    let case = case.unwrap();
    let digest = |change: &dyn Fn(&mut super::Case)| {
        let mut case = case.clone();
        change(&mut case);
        let world = World::from_case(&case);
        let plan = world.plan().unwrap();
        input_digest(&world.input(&plan, None))
    };
    let name = case.trees.keys().next().unwrap().clone();
    let changes: [&dyn Fn(&mut super::Case); 7] = [
        &|_| {},
        &|case| case.compat = true,
        &|case| {
            case.env.insert("A".to_owned(), "B".to_owned());
        },
        &|case| case.bundle["revision"] = "\"x\"".into(),
        &|case| case.bundle["excluded_files"] = serde_json::json!(["zzz"]),
        &|case| {
            let trees = case.trees.get_mut(&name).unwrap();
            trees[0].insert("more.txt".to_owned(), String::new());
        },
        &|case| {
            case.facts.entry(name.clone()).or_default().git = Some("abc".to_owned());
        },
    ];
    let digests: BTreeSet<String> = changes.iter().map(|change| digest(*change)).collect();
    assert_eq!(digests.len(), changes.len());
    assert_eq!(digest(&|_| {}), digest(&|_| {}));
}
