//! `cmake --install` and `ffi/install`: CMake and pkg-config find the installed library, and programs are built with it, shared
//! and static.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use solon_ffi::version::SOLON_ABI;

use crate::compiler::{Language, attempt, has, installed, libraries, run, scratch};
use crate::root;

/// Returns the prefix of the installation by CMake, or by the script if CMake is missing.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        if !has("cmake") {
            return installed().to_owned();
        }
        let (build, prefix) = (scratch("cmake-build"), scratch("cmake-installed"));
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(root().join("ffi"));
        configure.arg("-B").arg(&build);
        let libraries = libraries();
        configure.arg(format!("-DSOLON_LIBRARIES={}", libraries.display()));
        run(&mut configure);
        run(Command::new("cmake").arg("--build").arg(&build));
        let mut install = Command::new("cmake");
        run(install
            .arg("--install")
            .arg(&build)
            .arg("--prefix")
            .arg(&prefix));
        prefix
    })
}

fn sources() -> PathBuf {
    root().join("tests/ffi/installed")
}

#[test]
#[cfg(target_os = "linux")]
fn programs_are_built_by_cmake() {
    if !has("cmake") || Language::Cpp.compilers().is_empty() {
        return;
    }
    let build = scratch("by-cmake");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(sources()).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
    run(&mut configure);
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["in_c", "in_c_static", "in_cpp", "in_cpp_static"] {
        assert_eq!(run(&mut Command::new(build.join(program))), "2\n");
    }
    // a later version is not guaranteed to be compatible
    let text = fs::read_to_string(sources().join("CMakeLists.txt")).expect("it is there");
    let newer = scratch("by-cmake-newer");
    fs::write(
        newer.join("CMakeLists.txt"),
        text.replace("solon 0.1", "solon 0.2"),
    )
    .expect("it is written");
    let mut configure = Command::new("cmake");
    configure
        .arg("-S")
        .arg(&newer)
        .arg("-B")
        .arg(newer.join("b"));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
    assert!(attempt(&mut configure).is_err());
}

/// Returns the flags that pkg-config reports for an installation.
fn flags(packages: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", packages).args(arguments);
    let told = run(command.arg("solon"));
    told.split_whitespace().map(str::to_owned).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn programs_are_built_by_pkg_config() {
    if !has("pkg-config") {
        return;
    }
    let (folder, prefix) = (scratch("by-pkg-config"), prefix());
    let packages = prefix.join("lib/pkgconfig");
    assert_eq!(
        flags(&packages, &["--modversion"]),
        [env!("CARGO_PKG_VERSION")]
    );
    for language in [Language::C, Language::Cpp] {
        let source = sources().join(format!("main.{}", language.extension()));
        for compiler in language.compilers() {
            let shared = folder.join(format!("{compiler}-shared"));
            // the default standard of older compilers is too old for the C++ header
            let standard = match language {
                Language::C => "-std=c99",
                Language::Cpp => "-std=c++17",
            };
            let mut command = Command::new(compiler);
            command.args([standard, "-o"]).arg(&shared).arg(&source);
            command.args(flags(&packages, &["--cflags", "--libs"]));
            run(&mut command);
            let mut ran = Command::new(&shared);
            ran.env("LD_LIBRARY_PATH", prefix.join("lib"));
            assert_eq!(run(&mut ran), "2\n");

            let alone = folder.join(format!("{compiler}-static"));
            let mut command = Command::new(compiler);
            command.args([standard, "-o"]).arg(&alone).arg(&source);
            for flag in flags(&packages, &["--static", "--cflags", "--libs"]) {
                command.arg(match flag.as_str() {
                    "-lsolon" => "-l:libsolon.a",
                    other => other,
                });
            }
            run(&mut command);
            assert_eq!(run(&mut Command::new(&alone)), "2\n");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn packagers_install_below_a_folder_of_theirs() {
    let stage = scratch("staged");
    let mut install = Command::new(root().join("ffi/install"));
    run(install
        .arg("/opt/solon")
        .arg(libraries())
        .env("DESTDIR", &stage));
    let prefix = stage.join("opt/solon");
    for file in [
        "include/solon.h",
        "include/solon.hpp",
        "lib/libsolon.a",
        "lib/libsolon.so",
        "lib/libsolon.so.1",
        "lib/cmake/solon/solon-config.cmake",
        "lib/cmake/solon/solon-config-version.cmake",
        "lib/pkgconfig/solon.pc",
    ] {
        assert!(prefix.join(file).exists(), "{file} is not there");
    }
    let names = fs::read_to_string(prefix.join("lib/pkgconfig/solon.pc")).expect("it is there");
    assert!(names.starts_with("prefix=/opt/solon\n"), "{names}");
    if has("pkg-config") {
        let packages = prefix.join("lib/pkgconfig");
        assert_eq!(flags(&packages, &["--variable=libdir"]), ["/opt/solon/lib"]);
    }
    if has("readelf") {
        let header = run(Command::new("readelf")
            .arg("-d")
            .arg(prefix.join("lib/libsolon.so")));
        assert!(
            header.contains(&format!("Library soname: [libsolon.so.{SOLON_ABI}]")),
            "{header}"
        );
    }
    // CMake also uses the folder in its current location
    if has("cmake") && !Language::Cpp.compilers().is_empty() {
        let build = scratch("by-cmake-staged");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(sources()).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
        run(&mut configure);
    }
}
