//! Turns the API document from the form that people write into the form that is served.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=openapi.yaml");
    let document = fs::read_to_string("openapi.yaml")?;
    let document: serde_json::Value = serde_yaml_ng::from_str(&document)?;
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(folder.join("openapi.json"), document.to_string())?;
    Ok(())
}
