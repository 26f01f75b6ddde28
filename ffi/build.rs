//! Names the shared library for the loader.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // the number is that of the ABI: it rises when a program linked before would break; `ffi/install` has it too
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsolon.so.1");
    }
}
