//! The services that coverage is compared on.

/// A service, a document of it, and the sources that count.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    /// The folder of the document, under the workspace of the services.
    pub(super) folder: &'static str,
    pub(super) document: &'static str,
    /// What the paths of the sources begin with.
    pub(super) sources: &'static str,
    /// Users, and `POST /reset`, which the larger services have.
    pub(super) auth: Option<&'static str>,
    pub(super) reset: bool,
    /// Whether it is one of those whose lines must be covered above nine tenths.
    pub(super) demanding: bool,
}

const fn sample(name: &'static str, package: &'static str, folder: &'static str) -> Subject {
    Subject {
        name,
        package,
        folder,
        document: "openapi.yaml",
        sources: folder,
        auth: None,
        reset: false,
        demanding: false,
    }
}

const fn axum(name: &'static str, document: &'static str, sources: &'static str) -> Subject {
    Subject {
        document,
        sources,
        demanding: true,
        ..sample(name, "sample-axum", "samples/axum")
    }
}

const fn larger(name: &'static str, auth: Option<&'static str>) -> Subject {
    Subject {
        auth,
        reset: true,
        ..sample(name, name, name)
    }
}

pub(super) const SUBJECTS: [Subject; 10] = [
    axum("papers", "papers.yaml", "samples/axum/src/papers.rs"),
    axum("texts", "texts.yaml", "samples/axum/src/texts.rs"),
    axum("numbers", "numbers.yaml", "samples/axum/src/numbers.rs"),
    Subject {
        document: "papers.yaml",
        demanding: true,
        ..sample("actix", "sample-actix", "samples/actix")
    },
    sample("rocket", "sample-rocket", "samples/rocket"),
    sample("hyper", "sample-hyper", "samples/hyper"),
    sample("mortal", "sample-mortal", "samples/mortal"),
    larger("pastebin", None),
    larger("newsletter", Some("auth.yaml")),
    larger("realworld", Some("auth.yaml")),
];

/// Lines that LLVM does not count although they ran, by file and text, with how that is known.
const EXPLAINED: [(&str, &str, &str); 1] = [(
    "pastebin/src/service.rs",
    "Err::<HttpResponse, _>(BenchError::Absent(\"page\"))",
    "the body of an async closure is not counted; its answers arrived",
)];

/// Why LLVM does not count a line that ran: `before` is its count of the nearest line before that it counts at all.
pub(super) fn explanation(file: &str, text: &str, before: Option<u64>) -> Option<&'static str> {
    let subject = text
        .strip_prefix("match ")
        .and_then(|rest| rest.strip_suffix(" {"));
    let is_name = |subject: &str| subject.chars().all(|c| c.is_alphanumeric() || c == '_');
    if subject.is_some_and(is_name) && before.is_some_and(|count| count > 0) {
        return Some(
            "a name that is matched has no counter of its own; the line before it was counted",
        );
    }
    let mut known = EXPLAINED.iter();
    known.find_map(|(of, is, why)| (*of == file && *is == text).then_some(*why))
}
