//! The `solon` command.

fn main() {}
