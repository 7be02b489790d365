//! Licenses of dependencies.

use std::collections::BTreeSet;

use spdx::{Expression, LicenseReq, ParseMode};

use crate::{assert_none, metadata, read};

/// Packages (name and license) with a license that is not allowed.
fn forbidden(packages: &[(String, String)], allowed: &BTreeSet<String>) -> Vec<String> {
    let is_allowed = |requirement: &LicenseReq| allowed.contains(&requirement.to_string());
    let is_forbidden = |license: &str| {
        let terms = Expression::parse_mode(license, ParseMode::LAX);
        !terms.is_ok_and(|terms| terms.evaluate(is_allowed))
    };
    packages
        .iter()
        .filter(|(_, license)| is_forbidden(license))
        .map(|(name, license)| format!("{name}: license {license:?} is not allowed by deny.toml"))
        .collect()
}

fn allowed() -> BTreeSet<String> {
    let deny: toml::Table = read("deny.toml").parse().expect("TOML");
    let names = deny["licenses"]["allow"].as_array().expect("a list");
    let names = names.iter().map(|name| name.as_str().expect("a name"));
    names.map(str::to_owned).collect()
}

#[test]
fn licenses_of_all_dependencies_are_allowed() {
    let metadata = metadata(&[]);
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "{} packages", packages.len());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let packages: Vec<(String, String)> = packages
        .iter()
        .map(|package| (text(&package["name"]), text(&package["license"])))
        .collect();
    assert_none(&forbidden(&packages, &allowed()));
}

#[test]
fn a_planted_license_is_found() {
    let package = |license: &str| vec![("planted".to_owned(), license.to_owned())];
    assert_eq!(forbidden(&package("AGPL-3.0-only"), &allowed()).len(), 1);
    assert_eq!(forbidden(&package(""), &allowed()).len(), 1);
    assert_none(&forbidden(&package("MIT OR AGPL-3.0-only"), &allowed()));
}
