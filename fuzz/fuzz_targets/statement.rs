//! `isobath_fuzz::statement`, led by coverage.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isobath_fuzz::statement(bytes));
