//! Speed and effect, printed.
//!
//! Usage: `isobath-bench <what> <folder>`, where the folder holds `data/schemas` and `facts`.

mod coverage;
mod mutants;
mod requirements;
mod subjects;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["requirements", folder] => requirements::compare(Path::new(folder)),
        ["coverage", folder, generators @ ..] => coverage::table(Path::new(folder), generators),
        ["mutants", folder] => mutants::compare(Path::new(folder)),
        ["strengthen", folder] => mutants::strengthen(Path::new(folder), false),
        ["strengthen", folder, "names"] => mutants::strengthen(Path::new(folder), true),
        _ => {
            eprintln!("usage: isobath-bench requirements FOLDER");
            eprintln!("       isobath-bench mutants FOLDER");
            eprintln!("       isobath-bench strengthen FOLDER [names]");
            eprintln!("       isobath-bench coverage FOLDER [GENERATOR…]");
            ExitCode::from(2)
        }
    }
}
