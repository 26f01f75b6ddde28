//! Named cases: `tests/cases/loading/cases.json`. Each is a list of steps with one key, run in its own folder.
//!
//! | key | step |
//! |---|---|
//! | `write`, `write_at_same_time` | writes files by name; `null` removes one. |
//! | `move`, `copy`, `link` | two names; `STORES/` contains the recorded stores. |
//! | `start` | restarts the server with arguments; `FOLDER` is the absolute path of the folder. |
//! | `start_fails` | arguments as in `start`, and the end of the expected error message. |
//! | `PUT`, `PATCH`, `DELETE` | target, body and status; `FOLDER` as in `start`. |
//! | `data` | expected documents, without `system`. |
//! | `policies` | expected ids. |
//! | `log`, `no_log` | a text that the log contains, or does not contain anywhere. |
//! | `stop` | stops the server. |
//! | `run` | arguments of the program, and its expected output. |

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::{World, copy};

#[test]
fn files_and_writes_of_clients_are_in_force_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/loading");
    let text = fs::read(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&text).unwrap();
    let only = std::env::var("SOLON_CASE").unwrap_or_default();
    let mut failed = Vec::new();
    for case in &cases {
        let note = case["note"].as_str().unwrap();
        if !note.contains(&only) {
            continue;
        }
        let mut world = World::new();
        for (at, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            if let Err(error) = make(&mut world, step, &folder) {
                failed.push(format!("{note}, step {at}, {step}:\n{error}"));
                break;
            }
        }
    }
    println!("{} cases", cases.len());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// A document path may have as many keys as a request can name.
#[test]
fn origins_of_deep_documents_are_printed_and_released() {
    let mut world = World::new();
    world.start(&["--data-dir", "store"]).unwrap();
    let path = "/a".repeat(9_000);
    assert_eq!(
        world.send("PUT", &format!("/v1/data{path}"), "1").status,
        204
    );
    world.stop();
    let line = format!("document\tclient\t{path}\n");
    let (code, printed) = world.run(&["data", "origins", "store"]);
    assert_eq!(code, Some(0));
    assert!(printed.starts_with(&line));
    let (code, _) = world.run(&["data", "release", "store", &path]);
    assert_eq!(code, Some(0));
}

fn make(world: &mut World, step: &Value, cases: &Path) -> Result<(), String> {
    let (key, value) = step.as_object().unwrap().iter().next().unwrap();
    let texts: Vec<&str> = value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let text = value.as_str().unwrap_or_default();
    match key.as_str() {
        "write" | "write_at_same_time" => {
            for (name, text) in value.as_object().unwrap() {
                match text.as_str() {
                    Some(text) if key == "write" => world.write(name, text),
                    Some(text) => world.write_at_same_time(name, text),
                    None => fs::remove_file(world.path(name)).unwrap(),
                }
            }
        }
        "move" => {
            let to = world.path(texts[1]);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::rename(world.path(texts[0]), to).unwrap();
        }
        "copy" => {
            let from = match texts[0].strip_prefix("STORES/") {
                Some(name) => cases.join("stores").join(name),
                None => world.path(texts[0]),
            };
            copy(&from, &world.path(texts[1]));
        }
        "link" => world.link(texts[0], texts[1]),
        "start" => world.start(&texts)?,
        "start_fails" => {
            let (wanted, args) = texts.split_last().unwrap();
            let error = world.start(args).err().ok_or("it has started")?;
            return same(&error.contains(wanted), &true, &error);
        }
        "PUT" | "PATCH" | "DELETE" => {
            let folder = world.path("").to_str().unwrap().to_owned();
            let target = texts[0].replace("/FOLDER/", &folder);
            let answer = world.send(key, &target, texts[1]);
            return same(
                &Some(u64::from(answer.status)),
                &value[2].as_u64(),
                &answer.text(),
            );
        }
        "data" => {
            let found = world.wait_for(value, World::data);
            return same(&found, value, "");
        }
        "policies" => {
            let ids = |world: &World| -> Vec<String> {
                let folder = world
                    .path("")
                    .to_str()
                    .unwrap()
                    .trim_matches('/')
                    .to_owned();
                let policies = world.policies().into_iter();
                policies
                    .map(|(id, _)| id.replace(&folder, "FOLDER"))
                    .collect()
            };
            let wanted: Vec<String> = texts.iter().map(ToString::to_string).collect();
            let found = world.wait_for(&wanted, ids);
            return same(&found, &wanted, "");
        }
        "log" => return same(&world.wait_for_log(text), &true, "it is not logged"),
        "no_log" => return same(&world.has_logged(text), &false, "it is logged"),
        "stop" => world.stop(),
        "run" => {
            let (wanted, args) = texts.split_last().unwrap();
            let (_, printed) = world.run(args);
            return same(&printed.contains(wanted), &true, &printed);
        }
        other => panic!("no step {other}"),
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, wanted: &T, note: &str) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("found {found:?}, wanted {wanted:?} {note}"))
}
