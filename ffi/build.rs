//! Names the shared library for the loader.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/version.rs");
    let source = std::fs::read_to_string("src/version.rs")?;
    let number = source
        .split_once("pub const SOLON_ABI: u32 = ")
        .and_then(|(_, rest)| rest.split_once(';'))
        .ok_or("src/version.rs has no SOLON_ABI")?
        .0;
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsolon.so.{number}");
    }
    Ok(())
}
