//! The tests of the built-in libraries.

use std::path::Path;

use solon::testing::{TestOptions, Verdict};
use solon::{Change, CompilerOptions, Engine};

#[test]
fn tests_of_the_libraries_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("builtins");
    let mut libraries = 0;
    for library in std::fs::read_dir(folder).unwrap() {
        let engine = Engine::builder()
            .compiler(CompilerOptions::default().tests(true).strict(true))
            .build();
        let mut change = Change::default();
        for file in std::fs::read_dir(library.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            change.set_module(&path.to_string_lossy(), &text);
        }
        engine.apply(change).unwrap();
        let tests = engine.tests();
        assert!(tests.len() >= 8, "{} tests", tests.len());
        for test in &tests {
            let result = test.run(&TestOptions::default());
            assert!(matches!(result.verdict, Verdict::Pass), "{test:?}");
        }
        libraries += 1;
    }
    assert_eq!(libraries, 5);
}
