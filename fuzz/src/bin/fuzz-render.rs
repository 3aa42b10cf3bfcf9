//! The loop that makes templates up and watches which lines they reach.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mizzen_fuzz::render(bytes));

#[cfg(not(fuzzing))]
fn main() {
    panic!("start it by `cargo xtask fuzz render`");
}
