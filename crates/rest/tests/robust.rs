//! Damaged documents are read as far as possible, or rejected with a message.

use fastrand::Rng;
use isobath_genes::{GeneConfig, Unresolved};
use isobath_rest::action::Action;
use isobath_rest::openapi::{self, NoLoader};

/// The document with some of its lines or characters changed.
fn damaged(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..lines.len());
        match rng.u8(..7) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[rng.usize(..lines.len())].clone()),
            2 => lines.swap(at, rng.usize(0..text.lines().count().min(20))),
            3 => {
                let indent = rng.usize(..8);
                lines[at] = format!("{}{}", " ".repeat(indent), lines[at].trim_start());
            }
            4 => {
                let words = [
                    "null",
                    "[]",
                    "{}",
                    "-1",
                    "1e999",
                    "'",
                    "&a",
                    "*a",
                    "$ref: '#/'",
                ];
                let word = rng.choice(words).unwrap_or_default();
                if let Some((key, _)) = lines[at].clone().split_once(':') {
                    lines[at] = format!("{key}: {word}");
                }
            }
            5 => lines[at] = lines[at].chars().rev().collect(),
            _ => lines.truncate(at.max(1)),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_documents_are_read_as_far_as_they_go_or_refused() {
    let mut rng = Rng::with_seed(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..400 {
        let text = damaged(marina::OPENAPI, &mut rng);
        match openapi::read(&text, "damaged.yaml", &NoLoader) {
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
            Ok(api) => {
                read += 1;
                for index in 0..api.operations.len() {
                    let action = Action::sample(&api, index, &mut rng, &GeneConfig::default());
                    if let Some(mut action) = action {
                        action.mutate(&mut rng, &GeneConfig::default());
                        let request = action.request(&api, &Unresolved);
                        assert!(request.path.starts_with('/'), "{}", request.path);
                    }
                }
            }
        }
    }
    assert!(read > 50 && refused > 5, "{read} read, {refused} refused");
}
