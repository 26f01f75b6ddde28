//! Programs that compilers must reject: dropped results, and conditions that would grant access by mistake.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::{Language, attempt, run, scratch};
use crate::root;

/// C statements that drop an error.
const IN_C: [&str; 4] = [
    "solon_engine_new(NULL, &engine);",
    "solon_engine_set_module(engine, \"p.rego\", 6, \"package p\", 9);",
    "solon_document_allow(document, \"{}\", 2, &allowed);",
    "solon_document_allow_with(document, NULL, &allowed);",
];

/// C++ statements that drop a result, use an object that is not a decision as a condition, refer to temporaries, or create a value of
/// what is none.
const IN_CPP: [&str; 23] = [
    "engine.try_set_module(\"p.rego\", \"package p\");",
    "engine.prepare(\"p/allow\");",
    "engine.try_prepare(\"p/allow\");",
    "document.allow(\"{}\");",
    "document.try_allow(\"{}\");",
    "document.ask();",
    "document.evaluate_json(\"{}\");",
    "solon::value::from_json(\"1\");",
    "solon_document_allow(document.get(), \"{}\", 2, &allowed);",
    // a decision that denies has a value, too
    "if (document.try_allow(\"{}\")) { allowed = true; }",
    "allowed = !document.try_allow(solon::request());",
    "allowed = document.try_allow(\"{}\") ? true : false;",
    // `false` is defined, too
    "if (solon::value(false)[\"allow\"]) { allowed = true; }",
    "allowed = static_cast<bool>(solon::value(false).look());",
    // a request refers to these, and they would be freed before the evaluation
    "solon::request request; request.input(solon::value(1));",
    "solon::request request; request.input(*document.evaluate());",
    "solon::request request; request.input_json(std::string(\"{}\"));",
    "solon::request request; request.snapshot(engine.snapshot());",
    "solon::request request; request.cancel(solon::cancel());",
    "solon::request request; request.metadata(solon::value(1));",
    // neither numbers nor strings nor booleans
    "(void)solon::value('x').get();",
    "(void)solon::value(L'x').get();",
    "(void)solon::value(static_cast<const void *>(&engine)).get();",
];

/// Returns the folder of the precompiled C++ header.
fn precompiled(compiler: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("header-{compiler}"))
}

/// Compiles the C++ header for the programs of [`compile`], which otherwise take more than a second each.
fn precompile(compiler: &str) {
    let folder = precompiled(compiler);
    fs::create_dir_all(&folder).expect("a folder can be made");
    let mut command = Language::Cpp.compile(compiler);
    command.args(["-std=c++17", "-x", "c++-header"]);
    command.arg(root().join("include/solon.hpp")).arg("-o");
    run(command.arg(folder.join("solon.hpp.gch")));
}

/// Compiles a program of one statement.
fn compile(
    language: Language,
    compiler: &str,
    standard: &str,
    statement: &str,
) -> Result<String, String> {
    let folder = scratch(&format!("rejected-{compiler}"));
    let source = folder.join(format!("program.{}", language.extension()));
    let code = match language {
        Language::C => format!(
            "#include <solon.h>\nint main(void) {{\n    solon_engine *engine = NULL;\n    solon_document *document = NULL;\n    \
             bool allowed = false;\n    {statement}\n    return engine == NULL && document == NULL && !allowed;\n}}\n"
        ),
        Language::Cpp => format!(
            "#include \"solon.hpp\"\nint main() {{\n    solon::engine engine;\n    solon::document document(nullptr);\n    \
             bool allowed = false;\n    {statement}\n    return engine.get() == nullptr && !allowed;\n}}\n"
        ),
    };
    fs::write(&source, code).expect("it is written");
    let mut command = language.compile(compiler);
    command.arg(standard);
    match language {
        // GCC finds dropped results in C only when it generates code
        Language::C => command.args(["-c", "-o"]).arg(folder.join("program.o")),
        Language::Cpp => command
            .arg("-fsyntax-only")
            .arg("-iquote")
            .arg(precompiled(compiler)),
    };
    command.arg(source);
    attempt(&mut command)
}

#[test]
fn results_in_c_are_not_dropped() {
    for compiler in Language::C.compilers() {
        for standard in ["-std=c99", "-std=c11", "-std=c2x"] {
            // the program without such a statement compiles
            let sound = "if (solon_engine_new(NULL, &engine) != NULL) { return 1; }";
            compile(Language::C, compiler, standard, sound)
                .unwrap_or_else(|error| panic!("{error}"));
            for statement in IN_C {
                let error = compile(Language::C, compiler, standard, statement);
                let error = error.expect_err(statement);
                assert!(
                    error.contains("unused"),
                    "{compiler} {standard} {statement}: {error}"
                );
            }
        }
    }
}

#[test]
fn results_in_cpp_are_not_dropped_and_decisions_are_no_conditions() {
    let sound = "allowed = document.try_allow(\"{}\").value_or(false) && solon::value(1).look().is_defined(); \
         const std::string text = \"{}\"; const solon::value input(1); const solon::snapshot now = engine.snapshot(); solon::cancel stop; \
         solon::request request; request.input_json(text).input_json(\"{}\").input(input).input(input.look()).snapshot(now).cancel(stop);";
    let meant = [
        "unused",
        "nodiscard",
        "deleted",
        "a decision that denies has a value",
    ];
    for compiler in Language::Cpp.compilers() {
        precompile(compiler);
        // the program without such a statement compiles
        for standard in ["-std=c++17", "-std=c++20"] {
            compile(Language::Cpp, compiler, standard, sound)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        for statement in IN_CPP {
            let error = compile(Language::Cpp, compiler, "-std=c++17", statement);
            let error = error.expect_err(statement);
            let is_meant = meant.iter().any(|words| error.contains(words));
            assert!(is_meant, "{compiler} {statement}: {error}");
        }
    }
}

/// Each function of the header that returns an error has the attribute that it must be used.
#[test]
fn every_error_must_be_used() {
    let header = fs::read_to_string(root().join("include/solon.h")).expect("there is a header");
    let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut marked, mut unmarked) = (0, Vec::new());
    let mut parts = header.split("solon_error *solon_");
    let mut before = parts.next().unwrap_or_default();
    for part in parts {
        if before.ends_with("SOLON_MUST_USE ") {
            marked += 1;
        } else {
            unmarked.push(part.split('(').next().unwrap_or_default());
        }
        before = part;
    }
    assert!(marked > 60, "only {marked} functions return errors");
    assert!(unmarked.is_empty(), "{unmarked:#?}");
}
