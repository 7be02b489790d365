//! Reads whatever comes as an OpenAPI document, and makes a call of each of its operations.
#![no_main]

use fastrand::Rng;
use isobath_genes::{Tuning, Unresolved};
use isobath_rest::action::{Action, Answer, AnswerChecker};
use isobath_rest::openapi::{self, NoLoader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(api) = openapi::read(&text, "fuzz.yaml", &NoLoader) else {
        return;
    };
    let mut rng = Rng::with_seed(1);
    let checker = AnswerChecker::new(&api);
    for (index, operation) in api.operations.iter().enumerate().take(20) {
        if let Some(mut action) = Action::sample(&api, index, &mut rng, &Tuning::default()) {
            action.mutate(&mut rng, &Tuning::default());
            action.request(&api, &Unresolved);
        }
        let answer = Answer {
            status: 200,
            headers: &[("Content-Type", "application/json")],
            body: bytes,
            json: None,
        };
        let _ = checker.check(&api, operation, &answer);
    }
});
