//! The `solon` command: policy server and tools.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    solon_server::cli::main()
}
