//! Cases of `tests/cases/gatekeeper`: templates and constraints, a request, and the response or the error of loading.
//!
//! `objects` of a file are templates of all its cases, and `objects` of a case are added. `constraint` is the `spec` of a constraint
//! `c` of the kind `Check`. A request has the operation `CREATE` unless it names another, and its kind and namespace are those of
//! its object. `want` has the messages to the user, and those of constraints with the action `dryrun` as `logged`; `error` is the
//! whole error of loading.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use solon::{PreparedDocument, Request, Value};

use super::super::review::Review;
use super::constraint_set::ConstraintSet;
use super::manifest::{self, Manifest};
use super::subject::ReviewedRequest;
use super::verdict::Verdict;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    objects: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    #[serde(default)]
    objects: String,
    constraint: Option<Json>,
    #[serde(default)]
    documents: Json,
    #[serde(default)]
    request: Json,
    want: Option<Want>,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Want {
    denied: Vec<String>,
    warned: Vec<String>,
    logged: Vec<String>,
    /// Reason of a missing decision.
    undecided: Option<String>,
    /// Reason why the request cannot be reviewed.
    malformed: Option<String>,
}

fn to_value(json: &Json) -> Value {
    solon::to_value(json).unwrap()
}

fn manifests(file: &CaseFile, case: &Case) -> Result<Vec<Manifest>, String> {
    let mut all = manifest::parse("templates.yaml", &file.objects)?;
    all.extend(manifest::parse("objects.yaml", &case.objects)?);
    if let Some(spec) = &case.constraint {
        let constraint = json!({
            "apiVersion": "constraints.gatekeeper.sh/v1beta1",
            "kind": "Check",
            "metadata": {"name": "c"},
            "spec": spec,
        });
        all.extend(manifest::parse("c.json", &constraint.to_string())?);
    }
    Ok(all)
}

/// Returns the review of a case's request.
fn review(request: &Json) -> Json {
    let mut request = request.clone();
    let members = request.as_object_mut().unwrap();
    let is_object = |object: &&Json| object.is_object();
    let object = members.get("object").filter(is_object);
    let object = object.or_else(|| members.get("oldObject").filter(is_object));
    if let Some(object) = object.cloned() {
        let version = object["apiVersion"].as_str().unwrap();
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        let kind = json!({"group": group, "version": version, "kind": object["kind"]});
        members.entry("kind").or_insert(kind);
        if let Some(namespace) = object["metadata"].get("namespace") {
            members.entry("namespace").or_insert(namespace.clone());
        }
    }
    members.entry("operation").or_insert(json!("CREATE"));
    members.insert("uid".to_owned(), json!("u"));
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
}

fn evaluate(document: &PreparedDocument, input: &Value) -> Result<Option<Value>, solon::Error> {
    document.evaluate(&Request::new().input(input).strict_builtin_errors(false))
}

/// Returns the response and the messages that only the log has.
fn outcome(verdict: &Verdict) -> Want {
    if let Some(problem) = verdict.undecided() {
        return Want {
            undecided: Some(problem),
            ..Want::default()
        };
    }
    let response: Json = serde_json::from_slice(&verdict.answer().review("u")).unwrap();
    let response = &response["response"];
    assert_eq!(response["uid"], "u");
    let texts = |value: &Json| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    };
    let warned = texts(&response["warnings"]);
    let message = response["status"]["message"].as_str();
    let denied: Vec<String> = message
        .map(|text| text.split('\n').map(str::to_owned).collect())
        .unwrap_or_default();
    assert_eq!(response["allowed"], denied.is_empty(), "{response}");
    let status = &response["status"];
    match (denied.is_empty(), warned.is_empty()) {
        (false, _) => assert_eq!(
            (&status["code"], &status["reason"]),
            (&json!(403), &json!("Forbidden"))
        ),
        (true, false) => assert_eq!(status["code"], 299),
        (true, true) => assert!(status.is_null(), "{status}"),
    }
    let log = verdict.to_json();
    assert_eq!(log["allowed"], denied.is_empty());
    let logged = log["violations"].as_array().unwrap().iter();
    let logged = logged.filter(|one| {
        one["actions"]
            .as_array()
            .unwrap()
            .contains(&json!("dryrun"))
    });
    let logged = logged.map(|one| {
        let (name, message) = (&one["constraint"]["name"], &one["msg"]);
        format!("[{}] {}", name.as_str().unwrap(), message.as_str().unwrap())
    });
    Want {
        denied,
        warned,
        logged: logged.collect(),
        ..Want::default()
    }
}

fn run(set: &ConstraintSet, case: &Case) -> Want {
    let input = to_value(&review(&case.request));
    let review = Review::from_input(&input).unwrap();
    let documents = if case.documents.is_null() {
        Value::object(Vec::new())
    } else {
        to_value(&case.documents)
    };
    match ReviewedRequest::from_review(&review) {
        Ok(request) => outcome(&set.review(&request, &documents, &mut evaluate)),
        Err(problem) => Want {
            malformed: Some(problem),
            ..Want::default()
        },
    }
}

#[test]
fn cases_have_their_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/gatekeeper");
    let mut problems = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: CaseFile = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &file.cases {
            let name = format!("{}: {}", path.display(), case.note);
            let set = manifests(&file, case).and_then(|all| ConstraintSet::from_manifests(&all));
            let problem = match (set, &case.error, &case.want) {
                (Err(error), Some(expected), None) if error == *expected => None,
                (Ok(set), None, Some(want)) => {
                    let outcome = run(&set, case);
                    (outcome != *want).then(|| format!("{outcome:?}"))
                }
                (Err(error), ..) => Some(error),
                (Ok(_), ..) => Some("loaded".to_owned()),
            };
            problems.extend(problem.map(|problem| format!("{name}:\n  {problem}")));
            count += 1;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 100, "{count} cases");
}

#[test]
fn folders_are_read_without_hidden_files_and_other_endings() {
    let folder = std::env::temp_dir().join(format!("solon-gatekeeper-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "b/a.yaml",
        "kind: A\nmetadata: {name: a}\n---\n---\nkind: B\n",
    );
    write(
        "a.json",
        "{\"kind\": \"C\", \"metadata\": {\"name\": \"c\"}}",
    );
    write("..data/a.yaml", "kind: D\n");
    write("a.txt", "kind: E\n");
    let labels = |path: &Path| {
        let all = manifest::read(&[path.to_owned()])?;
        Ok::<_, String>(all.iter().map(Manifest::label).collect::<Vec<_>>())
    };
    let (json, yaml) = (folder.join("a.json"), folder.join("b/a.yaml"));
    let expected = [
        format!("{}: C/c", json.display()),
        format!("{}: A/a", yaml.display()),
        format!("{}: B without a name", yaml.display()),
    ];
    assert_eq!(labels(&folder).unwrap(), expected);
    assert_eq!(
        manifest::constraint_files(std::slice::from_ref(&folder)),
        [json, yaml]
    );
    let text = folder.join("a.txt");
    let problem = "expected a folder, or a file that ends in `.yaml`, `.yml` or `.json`";
    assert_eq!(labels(&text), Err(format!("{}: {problem}", text.display())));
    assert!(
        labels(&folder.join("none"))
            .unwrap_err()
            .contains("none: No such file")
    );
    write("empty/a.yaml", "# nothing\n");
    let empty = folder.join("empty");
    let error = ConstraintSet::load(std::slice::from_ref(&empty))
        .err()
        .unwrap();
    assert_eq!(error, format!("no constraints in {}", empty.display()));
    std::fs::remove_dir_all(folder).unwrap();
}
