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
pub(super) const EXPLAINED: [(&str, &str, &str); 2] = [
    (
        "pastebin/src/problem.rs",
        "match error {",
        "LLVM counts the lines around it, of the same function, as often as it was entered, and this one never",
    ),
    (
        "pastebin/src/service.rs",
        "Err::<HttpResponse, _>(Problem::Absent(\"page\"))",
        "the body of an async closure is not counted; the answers of it arrived",
    ),
];
