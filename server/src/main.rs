//! The `solon` command: policy server and tools.

// the allocator of musl takes one lock for every allocation of every thread
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    solon_server::cli::main()
}
