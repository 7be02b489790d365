//! `isobath-rustc`: cargo calls it in place of the compiler.

use std::process::ExitCode;

use isobath_rewrite::wrapper::{WrapperSettings, run};

fn main() -> ExitCode {
    run(
        std::env::args_os().skip(1).collect(),
        WrapperSettings::from_environment(),
    )
}
