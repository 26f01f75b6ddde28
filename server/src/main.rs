//! The `solon` command: policy server and tools.

fn main() -> std::process::ExitCode {
    solon_server::cli::main()
}
