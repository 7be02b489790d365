//! The files say what the code does.
//!
//! With `ISOBATH_REGENERATE=1` they are written instead of compared.

use isobath_conformance::scenario::{self, Player};
use isobath_conformance::{distances, folder, messages};
use isobath_distance::{Relation, Truth, number, text};
use isobath_protocol::{CoverageMap, score};
use serde_json::Value;

#[test]
fn distances_are_those_of_the_distance_crate() {
    check("distances.json", &distances::all());
}

#[test]
fn messages_are_those_of_the_protocol_crate() {
    check("messages.json", &messages::all());
}

#[test]
fn scenarios_end_as_they_say() {
    let scenarios = scenario::all().expect("scenarios");
    assert!(!scenarios.is_empty());
    for (file, scenario) in scenarios {
        let targets = scenario["targets"].as_u64().expect("targets") as u32;
        let folder = tempfile::tempdir().expect("a folder");
        let map = CoverageMap::create(&folder.path().join("map"), targets).expect("a map");
        scenario::play(&scenario, &mut Reference(&map)).expect(&file);
        let mut reached = Vec::new();
        map.read(&mut reached);
        let wanted = scenario::reached(&scenario).expect(&file);
        assert_eq!(reached.len(), wanted.len(), "{file}: {reached:?}");
        for (is, (target, action, distance)) in reached.iter().zip(wanted) {
            assert_eq!((is.target, is.action), (target, action), "{file}");
            let should = if distance == 0.0 {
                1.0
            } else {
                score(distance)
            };
            assert!(
                (is.score - should).abs() < 1e-9,
                "{file}: {is:?}, not {should}"
            );
        }
    }
}

/// The shortest driver there is.
struct Reference<'a>(&'a CoverageMap);

impl Reference<'_> {
    fn truth(&self, target: u32, truth: Truth) {
        for (target, distance) in [(target, truth.to_true()), (target + 1, truth.to_false())] {
            if distance == 0.0 {
                self.0.cover(target);
            } else {
                self.0.record(target, score(distance));
            }
        }
    }
}

fn relation(name: &str) -> Relation {
    Relation::ALL
        .into_iter()
        .find(|relation| distances::relation_name(*relation) == name)
        .expect("one of the six")
}

impl Player for Reference<'_> {
    fn candidate(&mut self) {
        self.0.begin_candidate();
    }
    fn action(&mut self, action: u16) {
        self.0.begin_action(action);
    }
    fn hit(&mut self, target: u32) {
        self.0.cover(target);
    }
    fn numbers(&mut self, target: u32, name: &str, left: f64, right: f64) {
        self.truth(target, number::compare(relation(name), left, right));
    }
    fn texts(&mut self, target: u32, name: &str, left: &str, right: &str) {
        self.truth(target, text::compare(relation(name), left, right));
    }
    fn flag(&mut self, target: u32, value: bool) {
        self.truth(target, Truth::of(Some(value)));
    }
}

fn check(file: &str, cases: &[Value]) {
    let lines: Vec<String> = cases.iter().map(|case| format!("  {case}")).collect();
    let wanted = format!("[\n{}\n]\n", lines.join(",\n"));
    let path = folder().join(file);
    if std::env::var_os("ISOBATH_REGENERATE").is_some() {
        std::fs::write(&path, wanted).expect("the file can be written");
        return;
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        is == wanted,
        "{file} is out of date; run this test with ISOBATH_REGENERATE=1"
    );
}
