//! Tests of policies: rules whose names start with `test_`, run as by `opa test`.
//!
//! ```
//! use solon::testing::{TestOptions, Verdict};
//! use solon::{CompilerOptions, Engine};
//!
//! let options = CompilerOptions::default().tests(true);
//! let engine = Engine::builder().compiler(options).build();
//! engine.set_module(
//!     "p_test.rego",
//!     "package p_test\n\ntest_sum if 1 + 1 == 2\n\ntest_case[n] if {\n\tsome n in [1, 2]\n\tn < 2\n}",
//! )?;
//! let results: Vec<_> = engine.tests().iter().map(|test| test.run(&TestOptions::default())).collect();
//! assert!(matches!(results[0].verdict, Verdict::Pass));
//! assert!(matches!(results[1].verdict, Verdict::Fail));
//! assert!(results[1].cases["2"].failed);
//! # Ok::<(), solon::Error>(())
//! ```

mod cases;
mod rule;
mod run;

pub use cases::{Case, Cases};
pub use rule::PolicyTest;
pub use run::{TestOptions, TestResult, Verdict};
