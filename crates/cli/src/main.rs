//! The binary `mizzen`: arguments in, one call, output out. It holds no behaviour of the mesh.
//!
//! ```text
//! argv ─▶ program (which name was it called by) ─▶ args (what was typed) ─▶ verbs (what is meant, done)
//!                                                                              │ output ─▶ stdout
//!                                                       failure ─▶ stderr ◀────┴─▶ exit code
//! ```
//!
//! A new verb is one file under `verbs/` and one line in `verbs::ALL`. A verb starts what it needs (a runtime, a
//! client) itself, so that the others start in a few milliseconds.

mod args;
mod bug;
mod build;
mod confirm;
mod diagnostics;
mod exit;
mod failure;
mod help;
mod inputs;
mod interrupt;
mod logging;
mod not_yet;
mod output;
mod program;
mod run;
mod style;
mod verbs;

use std::process::ExitCode;

/// Building and encoding configuration is mostly allocation; with the system's allocator it takes one and a half
/// to two times as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bug::report_panics();
    small_pages();
    run::run(std::env::args_os().collect()).into()
}

/// Huge pages double the memory of a program that lives for milliseconds, and save it nothing.
fn small_pages() {
    #[cfg(target_os = "linux")]
    // Where the kernel does not know it, memory is all that it costs.
    let _ = nix::sys::prctl::set_thp_disable(true);
}
