//! Flag `--target` of commands that evaluate.

use clap::ValueEnum;

/// Accepts `--target rego`, and rejects the targets of OPA that are not supported.
#[derive(Clone, clap::Args)]
pub struct TargetArgs {
    /// Evaluation target; only `rego` is supported.
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        hide = true,
        value_name = "TARGET"
    )]
    target: EvalTargetArg,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum EvalTargetArg {
    /// The engine itself.
    #[default]
    Rego,
}
