//! Sizes that C, C++ and the library must agree on, with any compiler flags.

use std::ffi::c_int;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use solon_ffi::bundle::{BundleOptions, VerificationKey};
use solon_ffi::bytes::{Bytes, Text};
use solon_ffi::error::{Code, ErrorEntry};
use solon_ffi::explanation::DetailLevel;
use solon_ffi::filter::FilterOptions;
use solon_ffi::format::FormatOptions;
use solon_ffi::function::Purity;
use solon_ffi::modules::Module;
use solon_ffi::options::{HostAccess, Options, Rego};
use solon_ffi::partial::PartialOptions;
use solon_ffi::query::QueryOptions;
use solon_ffi::request::Request;
use solon_ffi::value::Kind;

use crate::compiler::{Language, run, scratch};
use crate::root;

/// Returns the types that cross the ABI by value or in structures, with their sizes in the library.
fn sizes() -> Vec<(&'static str, usize)> {
    vec![
        ("solon_code", size_of::<Code>()),
        ("solon_kind", size_of::<Kind>()),
        ("solon_rego", size_of::<Rego>()),
        ("solon_host", size_of::<HostAccess>()),
        ("solon_detail", size_of::<DetailLevel>()),
        ("solon_purity", size_of::<Purity>()),
        ("bool", size_of::<bool>()),
        ("int", size_of::<c_int>()),
        ("solon_bytes", size_of::<Bytes>()),
        ("solon_text", size_of::<Text>()),
        ("solon_error_entry", size_of::<ErrorEntry>()),
        ("solon_module", size_of::<Module>()),
        ("solon_verification_key", size_of::<VerificationKey>()),
        ("solon_bundle_options", size_of::<BundleOptions>()),
        ("solon_options", size_of::<Options>()),
        ("solon_request", size_of::<Request>()),
        ("solon_query_options", size_of::<QueryOptions>()),
        ("solon_partial_options", size_of::<PartialOptions>()),
        ("solon_filter_options", size_of::<FilterOptions>()),
        ("solon_format_options", size_of::<FormatOptions>()),
    ]
}

#[test]
fn constants_have_types_of_32_bits() {
    for (name, size) in sizes().into_iter().take(6) {
        assert_eq!(size, 4, "{name}");
    }
    let header = fs::read_to_string(root().join("include/solon.h")).expect("there is a header");
    assert!(
        !header.contains("enum"),
        "enumerations of C have no fixed size"
    );
}

#[test]
fn sizes_are_the_same_everywhere() {
    let (mut code, mut expected) = (
        String::from("#include <solon.h>\n#include <stdio.h>\n"),
        String::new(),
    );
    code += "int main(void) {\n";
    for (name, size) in sizes() {
        writeln!(code, "    printf(\"{name} %d\\n\", (int)sizeof({name}));")
            .expect("text takes text");
        writeln!(expected, "{name} {size}").expect("text takes text");
    }
    code += "    return 0;\n}\n";
    let folder = scratch("sizes");
    for language in [Language::C, Language::Cpp] {
        let source = folder.join(format!("sizes.{}", language.extension()));
        fs::write(&source, &code).expect("it is written");
        for compiler in language.compilers() {
            // `-fshort-enums` makes enumerations as small as possible; without it they have four bytes
            for flags in [&[][..], &["-fshort-enums"]] {
                let program = folder.join(format!("{compiler}{}", flags.concat()));
                let mut command = language.compile(compiler);
                run(command.args(flags).arg(&source).arg("-o").arg(&program));
                assert_eq!(
                    run(&mut Command::new(&program)),
                    expected,
                    "{compiler} {flags:?}"
                );
            }
        }
    }
}
