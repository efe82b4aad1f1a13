//! The `dedupdb` command line.

fn main() {}
