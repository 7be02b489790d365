//! Which crates and files are instrumented.

/// Patterns of crates and of files; `*` stands for any characters.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Patterns {
    /// From two lists separated by commas.
    pub fn new(include: &str, exclude: &str) -> Self {
        let list = |text: &str| -> Vec<String> {
            let words = text.split(',').map(str::trim);
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        Self {
            include: list(include),
            exclude: list(exclude),
        }
    }

    /// Whether a file of a crate is instrumented.
    pub fn wants(&self, unit: &str, file: &str) -> bool {
        let any = |patterns: &[String]| {
            patterns
                .iter()
                .any(|pattern| fits(pattern, unit) || fits(pattern, file))
        };
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, rest)) => text.strip_prefix(before).is_some_and(|text| {
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .any(|at| fits(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_crates_or_files() {
        let patterns = Patterns::new("shop*, util", "*/generated/*");
        assert!(patterns.wants("shop_api", "src/main.rs"));
        assert!(patterns.wants("util", "util/src/lib.rs"));
        assert!(!patterns.wants("other", "src/lib.rs"));
        assert!(!patterns.wants("shop_api", "src/generated/x.rs"));
        assert!(Patterns::default().wants("any", "thing"));
    }
}
