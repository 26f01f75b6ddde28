//! Programs of several translation units, and one without exceptions.

use std::process::Command;

use crate::compiler::{Language, Linked, run, scratch};
use crate::root;

#[test]
#[cfg(target_os = "linux")]
fn units_with_both_headers_link() {
    let folder = scratch("units");
    let units = root().join("tests/ffi/units");
    for (c, cpp) in Language::C
        .compilers()
        .into_iter()
        .zip(Language::Cpp.compilers())
    {
        let object = folder.join("three.o");
        let mut command = Language::C.compile(c);
        run(command
            .arg("-c")
            .arg(units.join("three.c"))
            .arg("-o")
            .arg(&object));
        let program = folder.join(cpp);
        let mut command = Language::Cpp.compile(cpp);
        command.args([units.join("one.cpp"), units.join("two.cpp"), object]);
        command.arg("-o").arg(&program);
        Linked::Shared.link(&mut command);
        run(&mut command);
        run(&mut Command::new(program));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn programs_without_exceptions_have_results() {
    let folder = scratch("quiet");
    for compiler in Language::Cpp.compilers() {
        let program = folder.join(compiler);
        let mut command = Language::Cpp.compile(compiler);
        command.args(["-fno-exceptions", "-fno-rtti"]);
        command.arg(root().join("tests/ffi/units/quiet.cpp"));
        command.arg("-o").arg(&program);
        Linked::Shared.link(&mut command);
        run(&mut command);
        run(&mut Command::new(program));
    }
}
