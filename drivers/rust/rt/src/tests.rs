//! The probes against a map, and against the conformance files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use isobath_conformance::distances::relation_name;
use isobath_conformance::scenario::{self, Player};
use isobath_distance::Relation;
use isobath_protocol::{CoverageMap, ReachedTarget, score};
use serde_json::Value;

use crate::receiver::method;
use crate::view::View;
use crate::{Val, arms, c, call, flag, hit, link, measure, p, q};

/// The one map of this process; tests take turns.
pub(crate) fn map() -> MutexGuard<'static, &'static CoverageMap> {
    static TURN: OnceLock<Mutex<&'static CoverageMap>> = OnceLock::new();
    let turn = TURN.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let map = CoverageMap::create(&folder.path().join("map"), 1000).expect("a map");
        assert!(link::use_map(map), "no probe was executed before");
        Mutex::new(link::map().expect("just set"))
    });
    let map = turn.lock().unwrap_or_else(PoisonError::into_inner);
    map.begin_candidate();
    map
}

fn reached(map: &CoverageMap) -> Vec<ReachedTarget> {
    let mut reached = Vec::new();
    map.read(&mut reached);
    reached
}

/// The distance of a target, zero when it is covered.
fn distance(map: &CoverageMap, target: u32) -> f64 {
    let all = reached(map);
    let one = all.iter().find(|reached| reached.target == target);
    one.map_or(f64::INFINITY, |one| {
        if one.score == 1.0 {
            0.0
        } else {
            0.999 / one.score - 1.0
        }
    })
}

struct Probes<'a>(&'a CoverageMap);

fn number_of(relation: &str) -> u8 {
    let at = Relation::ALL
        .iter()
        .position(|r| relation_name(*r) == relation);
    u8::try_from(at.expect("one of the six")).expect("six are few")
}

fn holds<T: PartialOrd + ?Sized>(relation: &str, left: &T, right: &T) -> bool {
    Relation::ALL[usize::from(number_of(relation))]
        .holds(left.partial_cmp(right).expect("comparable"))
}

impl Player for Probes<'_> {
    fn candidate(&mut self) {
        self.0.begin_candidate();
    }
    fn action(&mut self, action: u16) {
        self.0.begin_action(action);
    }
    fn hit(&mut self, target: u32) {
        // The map of this test is larger than the one of the scenario.
        hit(if target >= 500 { 1000 } else { target });
    }
    fn numbers(&mut self, target: u32, relation: &str, left: f64, right: f64) {
        let verdict = holds(relation, &left, &right);
        assert_eq!(
            c(&left, &right).cmp(target, number_of(relation), verdict),
            verdict
        );
    }
    fn texts(&mut self, target: u32, relation: &str, left: &str, right: &str) {
        let verdict = holds(relation, left, right);
        assert_eq!(
            c(left, right).cmp(target, number_of(relation), verdict),
            verdict
        );
    }
    fn flag(&mut self, target: u32, value: bool) {
        flag(target, value);
    }
}

#[test]
fn scenarios_end_as_they_say() {
    let map = map();
    for (file, scenario) in scenario::all().expect("scenarios") {
        map.begin_candidate();
        scenario::play(&scenario, &mut Probes(&map)).expect(&file);
        let wanted = scenario::reached(&scenario).expect(&file);
        let is = reached(&map);
        assert_eq!(is.len(), wanted.len(), "{file}: {is:?}");
        for (is, (target, action, distance)) in is.iter().zip(wanted) {
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

#[test]
fn distances_are_those_of_the_conformance_file() {
    let text = std::fs::read_to_string(isobath_conformance::folder().join("distances.json"));
    let cases: Vec<Value> = serde_json::from_str(&text.expect("the file")).expect("JSON");
    let mut checked = 0;
    for case in cases {
        let relation = case["relation"].as_str().expect("a relation");
        let Some(relation) = Relation::ALL
            .into_iter()
            .find(|r| relation_name(*r) == relation)
        else {
            continue;
        };
        let view = |value: &Value| match value {
            Value::String(text) => View::Text(text.clone().into()),
            Value::Number(number) => View::Float(number.as_f64().expect("a float")),
            _ => View::Opaque,
        };
        let (left, right) = (view(&case["left"]), view(&case["right"]));
        if left == View::Opaque {
            continue;
        }
        let verdict = case["to_true"].as_f64() == Some(0.0);
        let truth = measure::compare(relation, &left, &right, verdict);
        for (is, name) in [(truth.to_true(), "to_true"), (truth.to_false(), "to_false")] {
            // Readers of JSON may be wrong in the last digit.
            let should = case[name].as_f64().expect("a distance");
            assert!((is - should).abs() <= should * 1e-12, "{case}: {is}");
        }
        checked += 1;
    }
    assert!(checked > 500);
}

#[test]
fn the_programs_verdict_wins_over_our_distance() {
    let map = map();
    assert!(c(&1, &2).cmp(0, 0, true));
    assert_eq!(distance(&map, 0), 0.0);
    assert!((distance(&map, 1) - 1.0).abs() < 1e-6);
}

#[test]
fn texts_say_how_near_a_method_is() {
    let map = map();
    let word = String::from("Tokem abc");
    let pending = p(&word).pre(0, method::STARTS, &"Token ");
    assert!(!pending.post(word.starts_with("Token ")));
    let near = distance(&map, 0);
    assert!(near > 0.0 && near < 1.0, "{near}");
    let pending = p(&word).pre(2, method::CONTAINS, &'z');
    assert!(!pending.post(word.contains('z')));
    assert!(distance(&map, 2) < 1.0);
    let pending = p(&&word[..]).pre(4, method::EMPTY, &());
    assert!(!pending.post(word.is_empty()));
    assert!((distance(&map, 4) - 9.0).abs() < 1e-6);
}

#[test]
fn collections_say_how_near_the_nearest_element_is() {
    let map = map();
    let numbers = vec![10u32, 50, 90];
    let wanted = 47u32;
    assert!(
        !p(&numbers)
            .pre(0, method::CONTAINS, &&wanted)
            .post(numbers.contains(&wanted))
    );
    assert!((distance(&map, 0) - 3.0).abs() < 1e-6);

    let by_name: HashMap<String, u8> = [("open".to_owned(), 1)].into();
    let pending = p(&by_name).pre(2, method::KEY, &"opem");
    q(&by_name.get("opem")).found(pending);
    assert!(distance(&map, 2) < 1.0 && distance(&map, 3) == 0.0);

    let set: HashSet<char> = ['a'].into();
    assert!(
        !p(&set)
            .pre(4, method::CONTAINS, &&'c')
            .post(set.contains(&'c'))
    );
    assert!((distance(&map, 4) - 2.0).abs() < 1e-6);

    let tree: BTreeMap<i32, ()> = BTreeMap::new();
    assert!(
        !p(&tree)
            .pre(6, method::KEY, &&1)
            .post(tree.contains_key(&1))
    );
    assert!((distance(&map, 6) - 1.0).abs() < 1e-6);

    q(&numbers.get(7)).found(p(&numbers).pre(8, method::KEY, &7usize));
    assert!((distance(&map, 8) - 5.0).abs() < 1e-6);

    assert!(
        !p(&(1..=5))
            .pre(10, method::CONTAINS, &&9)
            .post((1..=5).contains(&9))
    );
    assert!((distance(&map, 10) - 4.0).abs() < 1e-6);
}

#[test]
fn receivers_of_unknown_types_have_a_verdict_only() {
    struct Own;
    impl Own {
        fn contains(&self, _: &str) -> bool {
            false
        }
    }
    let map = map();
    assert!(
        !p(&Own)
            .pre(0, method::CONTAINS, &"x")
            .post(Own.contains("x"))
    );
    assert!((distance(&map, 0) - 1.0).abs() < 1e-6);
    let guard = Mutex::new(vec![1]);
    let guard = guard.lock().expect("nobody panics");
    assert!(
        !p(&guard)
            .pre(2, method::CONTAINS, &&4)
            .post(guard.contains(&4))
    );
    assert!(
        (distance(&map, 2) - 3.0).abs() < 1e-6,
        "seen through the guard"
    );
}

#[test]
fn parsing_and_leaving_are_outcomes() {
    let map = map();
    let text = "4x";
    let parsed = text.parse::<i32>();
    q(&parsed).parsed(0, text);
    assert!(distance(&map, 0) < 1.0 && distance(&map, 1) == 0.0);
    q(&Some(1)).q(2);
    assert_eq!(distance(&map, 2), 0.0);
    q(&7).q(4);
    assert!(distance(&map, 4).is_infinite());
    let pending = call(
        6,
        "Uuid::parse_str",
        &"67e55044-10b1-426f-9247-bb680e5fe0cX",
        "",
    );
    q(&None::<u8>).found(pending);
    assert!(distance(&map, 6) < 1.0);
}

#[test]
fn arms_say_how_near_each_literal_is() {
    let map = map();
    arms(
        0,
        &"refresy",
        &[&[Val::S("refresh")], &[Val::S("x"), Val::S("refresx")]],
    );
    let (first, second) = (distance(&map, 0), distance(&map, 1));
    assert!(second < first && first.is_finite(), "{first} {second}");
    arms(2, &Some(12u8), &[&[Val::I(3)], &[Val::R(20, 30)]]);
    assert!((distance(&map, 2) - 9.0).abs() < 1e-6);
    assert!((distance(&map, 3) - 8.0).abs() < 1e-6);
}

#[test]
fn values_that_are_bytes_are_compared_as_texts() {
    /// As the value of a header: it can be compared with a text, and not displayed.
    struct Value(Vec<u8>);
    impl AsRef<[u8]> for Value {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let map = map();
    let value = Value(b"turba".to_vec());
    assert!(!c(&value, "turbo").cmp(0, 0, false));
    let near = distance(&map, 0);
    assert!(near > 0.0 && near < 1.0, "{near}");
}
