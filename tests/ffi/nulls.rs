//! Calls each function of the header with NULL for each parameter. The program is generated from the header, so that new
//! functions are included.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::compiler::{Language, Linked, attempt, program, scratch};
use crate::root;

/// A function of the header.
pub struct Function {
    pub name: String,
    /// Type of the result.
    pub result: String,
    /// Type and name of each parameter.
    pub parameters: Vec<(String, String)>,
}

/// Returns the functions that the header declares.
pub fn functions(header: &str) -> Vec<Function> {
    let start = header.find("extern \"C\" {").expect("it has functions");
    let mut code = String::new();
    let mut rest = &header[start..];
    while let Some((before, after)) = rest.split_once("/**") {
        code.push_str(before);
        rest = after.split_once("*/").expect("comments end").1;
    }
    code.push_str(rest);
    let declarations = code.split(';').filter_map(|declaration| {
        let declaration = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
        let (head, parameters) = declaration.strip_suffix(')')?.split_once('(')?;
        let name = head.rsplit([' ', '*']).next()?.to_owned();
        if !name.starts_with("solon_") {
            return None;
        }
        let parameters = parameters.split(',').filter(|one| one.trim() != "void");
        let parameters = parameters.map(|one| {
            let one = one.trim();
            let at = one.rfind([' ', '*']).expect("a parameter has a name") + 1;
            (one[..at].trim().to_owned(), one[at..].to_owned())
        });
        let result = head.strip_suffix(&name)?.trim();
        let result = result.trim_start_matches("SOLON_MUST_USE").trim();
        Some(Function {
            result: result.to_owned(),
            name,
            parameters: parameters.collect(),
        })
    });
    declarations.collect()
}

/// Returns a valid argument for a parameter.
fn good(of: &str, name: &str) -> String {
    let scalar = match of {
        "size_t" => Some("1"),
        "int" | "int64_t" | "solon_rego" | "solon_detail" | "solon_purity" => Some("0"),
        "double" => Some("0.5"),
        "solon_bytes" => Some("(solon_bytes){NULL, 0}"),
        "const char *" => Some("\"1\""),
        "void *" => Some("NULL"),
        "solon_function_body" => Some("body"),
        "solon_function_release" => Some("NULL"),
        "const solon_options *" => Some("&options"),
        "const solon_request *" => Some("&request"),
        "const solon_query_options *" => Some("&query_options"),
        "const solon_partial_options *" => Some("&partial_options"),
        "const solon_filter_options *" => Some("&filter_options"),
        "const solon_format_options *" => Some("&format_options"),
        "const solon_module *" => Some("&module"),
        "const solon_text *" => Some("&text"),
        "const solon_value *const *" => Some("values"),
        "const solon_bundle *const *" => Some("bundles"),
        "const solon_bundle_options *" => Some("&bundle_options"),
        _ => None,
    };
    if let Some(scalar) = scalar {
        return scalar.to_owned();
    }
    // outputs of any type, and handles by name
    if of.ends_with("**")
        || ["out", "allowed", "answers", "key", "value"].contains(&name) && !of.starts_with("const")
    {
        return format!("({of})out");
    }
    let handle = of.trim_start_matches("const ").trim_end_matches([' ', '*']);
    match handle.strip_prefix("solon_") {
        Some(handle) => format!("a_{handle}"),
        None => format!("({of})out"),
    }
}

/// Returns `true` if a parameter is a pointer.
fn is_pointer(of: &str) -> bool {
    of.ends_with('*') || of == "solon_function_body"
}

/// Creates all handles. If a kind of handle is missing here, the program does not compile.
const HANDLES: &str = r#"
static solon_value *body(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    (void)userdata; (void)call; (void)arguments; (void)count;
    return NULL;
}

static solon_engine *a_engine;
static solon_change *a_change;
static solon_value *a_value;
static solon_pairs *a_pairs;
static solon_document *a_document;
static solon_query *a_query;
static solon_partial *a_partial;
static solon_filter *a_filter;
static solon_filters *a_filters;
static solon_snapshot *a_snapshot;
static solon_bundle *a_bundle;
static const solon_bundle *bundles[1];
static const char ARCHIVE[] =
    "\037\213\010\000\000\000\000\000\002\003\143\140\030\005\243\140\024\214\124\000\000\056\257\265"
    "\357\000\004\000\000";
static solon_bundle_options bundle_options = {.size = sizeof bundle_options};
static solon_cancel *a_cancel;
static solon_nd_cache *a_nd_cache;
static solon_metadata *a_metadata;
static solon_metrics *a_metrics;
static solon_coverage *a_coverage;
static solon_profile *a_profile;
static solon_explanation *a_explanation;
static solon_solutions *a_solutions;
static solon_residuals *a_residuals;
static solon_function *a_function;
static solon_error *a_error;
static solon_call *a_call;
static solon_options options = {.size = sizeof options};
static solon_request request = {.size = sizeof request};
static solon_query_options query_options = {.size = sizeof query_options};
static solon_partial_options partial_options = {.size = sizeof partial_options};
static solon_filter_options filter_options = {.size = sizeof filter_options};
static solon_format_options format_options = {.size = sizeof format_options};
static solon_text text = {"1", 1};
static solon_module module = {{"m", 1}, {"package m", 9}, 0};
static const solon_value *values[1];
static void *out[16];

static void make(void) {
    ok(solon_engine_new(NULL, &a_engine));
    ok(set_module(a_engine, "p.rego", "package p\nx := 1"));
    ok(solon_change_new(&a_change));
    ok(solon_value_from_json(S("{\"1\": 1}"), &a_value));
    ok(solon_pairs_new(a_value, &a_pairs));
    ok(solon_engine_prepare(a_engine, S("p/x"), &a_document));
    ok(solon_engine_prepare_query(a_engine, S("x := 1"), NULL, &a_query));
    ok(solon_engine_prepare_partial(a_engine, S("input.x"), NULL, NULL, &a_partial));
    ok(solon_engine_prepare_filter(a_engine, S("p/x"), NULL, &a_filter));
    ok(solon_filter_evaluate(a_filter, NULL, &a_filters));
    ok(solon_engine_snapshot(a_engine, &a_snapshot));
    ok(solon_bundle_read(a_engine, S("b"), ARCHIVE, sizeof ARCHIVE - 1, NULL, &a_bundle));
    bundles[0] = a_bundle;
    ok(solon_cancel_new(&a_cancel));
    ok(solon_nd_cache_new(NULL, 0, &a_nd_cache));
    ok(solon_metadata_new(&a_metadata));
    ok(solon_metrics_new(0, &a_metrics));
    ok(solon_coverage_new(&a_coverage));
    ok(solon_profile_new(&a_profile));
    ok(solon_document_explain(a_document, NULL, 0, &a_explanation));
    ok(solon_query_evaluate(a_query, NULL, &a_solutions));
    ok(solon_partial_evaluate(a_partial, NULL, &a_residuals));
    ok(solon_function_new(S("f"), S("{\"type\": \"function\", \"args\": [], \"result\": {\"type\": \"any\"}}"), 0, body, NULL,
                          NULL, &a_function));
    a_error = solon_engine_set_module(a_engine, S("q"), S("x"));
    values[0] = a_value;
    module.rego = SOLON_REGO_DEFAULT;
    (void)a_call;
}
"#;

/// Returns a call with these arguments.
fn call(function: &Function, passed: &[String]) -> String {
    format!("{}({})", function.name, passed.join(", "))
}

/// Returns calls that must not crash.
fn calls(function: &Function) -> Vec<String> {
    let usual: Vec<String> = function
        .parameters
        .iter()
        .map(|(of, name)| good(of, name))
        .collect();
    let null = |of: &str, name: &str| match of {
        _ if is_pointer(of) => "NULL".to_owned(),
        "size_t" => "0".to_owned(),
        _ => good(of, name),
    };
    let nothing: Vec<String> = function
        .parameters
        .iter()
        .map(|(of, name)| null(of, name))
        .collect();
    let mut calls = vec![call(function, &nothing)];
    if function.name.ends_with("_free") || function.name.starts_with("solon_call_") {
        return calls;
    }
    for (at, (of, _)) in function.parameters.iter().enumerate() {
        let mut passed = usual.clone();
        if is_pointer(of) {
            "NULL".clone_into(&mut passed[at]);
            calls.push(call(function, &passed));
        }
        if of == "const char *" {
            // a length that no text can have
            for length in ["SIZE_MAX", "(size_t)PTRDIFF_MAX + 1"] {
                passed.clone_from(&usual);
                length.clone_into(&mut passed[at + 1]);
                calls.push(call(function, &passed));
            }
        }
    }
    calls
}

#[test]
#[cfg(target_os = "linux")]
fn nulls_do_no_harm_anywhere() {
    let header = fs::read_to_string(root().join("include/solon.h")).expect("there is a header");
    let functions = functions(&header);
    assert!(functions.len() > 100, "only {} functions", functions.len());
    let mut code = format!("#include \"check.h\"\n{HANDLES}\nint main(void) {{\n    make();\n");
    let mut returns: BTreeMap<&str, bool> = BTreeMap::new();
    for function in &functions {
        let declared = format!("solon_error *{}(", function.name);
        let fails = header.contains(&declared);
        returns.insert(&function.name, fails);
        for call in calls(function) {
            // an error is optional; valid handles stay unchanged
            let line = if fails {
                format!("solon_error_free({call});")
            } else {
                format!("{call};")
            };
            writeln!(code, "    {line}").expect("text takes text");
        }
    }
    // the engine still works
    code +=
        "    solon_bytes bytes = {NULL, 0};\n    ok(evaluate(a_engine, \"p/x\", NULL, &bytes));\n";
    code += "    CHECK(is_bytes(bytes, \"1\"));\n    return 0;\n}\n";
    for (name, fails) in &returns {
        assert!(*fails || !name.ends_with("_new"), "{name} cannot fail");
    }

    let folder = scratch("nulls");
    let source = folder.join("nulls.c");
    fs::write(&source, code).expect("a program is written");
    fs::copy(root().join("tests/ffi/c/check.h"), folder.join("check.h")).expect("it is copied");
    let Some(compiler) = Language::C.compilers().into_iter().next() else {
        return;
    };
    let made = program(Language::C, compiler, &source, Linked::Shared);
    let ran = made.and_then(|program| attempt(&mut Command::new(program)));
    assert!(ran.is_ok(), "{}", ran.err().unwrap_or_default());
}
