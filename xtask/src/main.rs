//! The project's own tools. Start with [`main`].

fn main() {}
