//! `isobath_fuzz::evaluated`, led by coverage.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isobath_fuzz::evaluated(bytes));
