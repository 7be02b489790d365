//! Fuzz targets for every parser of untrusted input: no input may cause a panic, a hang or an out-of-bounds read.
//!
//! Each function is a target of cargo-fuzz and of the short run in the tests ([`TARGETS`]); [`corpus`] has good inputs
//! to start from, [`Mutator`] corrupts them.
//!
//! This crate asserts only that a parser returns. What parsers make of valid input is tested where they are.
//!
//! # Example
//!
//! ```
//! isobath_fuzz::ddl(b"CREATE TABLE ((");
//! ```

pub mod corpus;
mod mutator;
mod structured;

use std::sync::LazyLock;

use fastrand::Rng;
use isobath_emit::campaign::{self, CampaignReport};
use isobath_emit::findings::{self, RestReport};
use isobath_emit::http::writer::RunResults;
use isobath_emit::http::{HttpSuite, curl, writer};
use isobath_emit::report::{self, query::QueryReport};
use isobath_emit::{RunReport, Suite};
use isobath_exec::database::Address;
use isobath_exec::statement::StatementFailure;
use isobath_exec::tap::{Sender, replay};
use isobath_genes::{GeneConfig, Pattern, PatternDomain, Unresolved};
use isobath_protocol::{Command, Event, TargetTable, channel};
use isobath_rest::action::{Action, ReceivedResponse, ResponseChecker};
use isobath_rest::auth;
use isobath_rest::journal::{restore, store};
use isobath_rest::openapi::{self, Api, NoLoader};
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::lex::{Lexer, LexerRules};
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::{DialectName, Schema, Value, query as sql, render, statement_text};

pub use mutator::Mutator;
pub use structured::{chance, evaluated};

/// A parser to fuzz.
pub struct Target {
    /// Its name, which is that of the target of cargo-fuzz.
    pub name: &'static str,
    /// Feeds it.
    pub feed: fn(&[u8]),
    /// Good inputs.
    pub corpus: fn() -> Vec<Vec<u8>>,
    /// How many spoiled inputs a short run takes; readers are of different speed.
    pub runs: u32,
}

/// All of them.
pub const TARGETS: [Target; 14] = [
    target("answer", answer, corpus::answer, 2_000),
    target("auth", auth, corpus::auth, 2_000),
    target("chance", chance, corpus::choices, 150),
    target("ddl", ddl, corpus::ddl, 300),
    target("evaluated", evaluated, corpus::choices, 400),
    target("journal", journal, corpus::journal, 1_000),
    target("messages", messages, corpus::messages, 4_000),
    target("openapi", openapi, corpus::openapi, 150),
    target("pattern", pattern, corpus::pattern, 600),
    target("query", query, corpus::query, 120),
    target("report", report, corpus::report, 300),
    target("statement", statement, corpus::statement, 2_000),
    target("suite", suite, corpus::suite, 400),
    target("tap", tap, corpus::tap, 3_000),
];

const fn target(
    name: &'static str,
    feed: fn(&[u8]),
    corpus: fn() -> Vec<Vec<u8>>,
    runs: u32,
) -> Target {
    Target {
        name,
        feed,
        corpus,
        runs,
    }
}

/// Reads users and how they log in.
pub fn auth(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for format in [auth::Format::Yaml, auth::Format::Toml] {
        let _ = auth::read(&text, format);
    }
}

/// Loads DDL, translates it to every engine and writes it back.
pub fn ddl(bytes: &[u8]) {
    let source = Source {
        name: "fuzz.sql".to_owned(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    };
    let loaded = load("fuzz", &[source], None);
    for to in DialectName::ALL {
        let translated = render::translate(&loaded.schema, loaded.dialect, to);
        render::create_statements(&translated.schema, to);
    }
}

static API: LazyLock<Option<Api>> = LazyLock::new(|| {
    let document = String::from_utf8(corpus::document().to_vec()).ok()?;
    openapi::read(&document, "fuzz.yaml", &NoLoader).ok()
});

/// Checks a response against the schemas of a document. The first byte says which content type it has.
pub fn answer(bytes: &[u8]) {
    let (Some(api), Some((first, body))) = (&*API, bytes.split_first()) else {
        return;
    };
    let kinds = [
        "application/json",
        "application/xml",
        "text/plain",
        "\u{e9};;",
    ];
    let kind = kinds[usize::from(*first) % kinds.len()];
    let checker = ResponseChecker::new(api);
    for operation in &api.operations {
        let answer = ReceivedResponse {
            status: 200 + u16::from(*first) % 4,
            headers: &[("Content-Type", kind), ("Location", "/pets/1")],
            body,
            json: None,
        };
        let _ = checker.check(api, operation, &answer);
    }
}

/// Restores candidates of a run that was killed; those that are restored can be stored and sent.
pub fn journal(bytes: &[u8]) {
    let (Some(api), Ok(json)) = (&*API, serde_json::from_slice(bytes)) else {
        return;
    };
    let Some(candidate) = restore(api, Some(&SCHEMA), 2, &json) else {
        return;
    };
    let _ = store(api, Some(&SCHEMA), &candidate);
    for step in &candidate.steps {
        if let isobath_rest::candidate::StepKind::Call { action, .. } = &step.kind {
            let _ = action.request(api, &Unresolved);
        }
    }
}

/// Reads messages of the driver protocol, and a table of targets.
pub fn messages(bytes: &[u8]) {
    let _ = channel::parse::<Event>(bytes);
    let _ = channel::parse::<Command>(bytes);
    let mut stream = bytes;
    while let Ok(event) = channel::receive::<Event>(&mut stream) {
        let mut again = Vec::new();
        channel::push(&mut again, &event).expect("what was read can be written");
    }
    let _ = TargetTable::read(&mut &bytes[..]);
}

/// Reads an OpenAPI document, makes calls of its operations, and checks answers.
pub fn openapi(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(api) = openapi::read(&text, "fuzz.yaml", &NoLoader) else {
        return;
    };
    let mut rng = Rng::with_seed(1);
    let checker = ResponseChecker::new(&api);
    for (index, operation) in api.operations.iter().enumerate().take(20) {
        if let Some(mut action) = Action::sample(&api, index, &mut rng, &GeneConfig::default()) {
            action.mutate(&mut rng, &GeneConfig::default());
            let _ = action.request(&api, &Unresolved);
        }
        let answer = ReceivedResponse {
            status: 200,
            headers: &[("Content-Type", "application/json")],
            body: bytes,
            json: None,
        };
        let _ = checker.check(&api, operation, &answer);
    }
}

/// Reads a regular expression and draws texts of it.
pub fn pattern(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(pattern) = Pattern::new(&text) else {
        return;
    };
    let Ok(domain) = PatternDomain::new(pattern.into(), 0, None) else {
        return;
    };
    let mut builder = isobath_genes::ModelBuilder::new();
    let root = builder.add(isobath_genes::Domain::Pattern(domain));
    let model = std::sync::Arc::new(builder.finish());
    let (mut rng, tuning) = (Rng::with_seed(1), GeneConfig::default());
    let mut gene = isobath_genes::Gene::sample(&model, root, &mut rng, &tuning);
    gene.mutate(&mut rng, &tuning);
    let _ = gene.to_json(&Unresolved);
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let source = Source {
        name: "fuzz.sql".to_owned(),
        text: "CREATE TABLE a (id INT PRIMARY KEY, n INT CHECK (n > 0), s VARCHAR(20), d DATE);
               CREATE TABLE b (id INT REFERENCES a (id), n INT NOT NULL, s VARCHAR(20), d DATE);"
            .to_owned(),
    };
    load("fuzz", &[source], Some(DialectName::Postgres)).schema
});

/// Takes a query apart into targets, resolves all of them, runs them over a few rows, and looks for rows that cover
/// them. The first byte says in which dialect.
pub fn query(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let dialect = DialectName::ALL[usize::from(*first) % DialectName::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    let row = |id: i64, s: &str| {
        vec![
            Value::from(id),
            Value::from(id % 2),
            Value::from(s),
            Value::Null,
        ]
    };
    let tables = vec![vec![row(1, "a"), row(2, "")], vec![row(2, "b")]];
    let run = |text: &str| {
        if let Ok(query) = sql::parse(text, &SCHEMA, dialect) {
            // Whether it has an answer does not matter, only that it comes back.
            let _ = sql::evaluate(&query, &tables, &[Value::from(1)], dialect.dialect());
            let _ = query.reads_clock();
        }
    };
    run(&text);
    let options = CoverageOptions { boundaries: true };
    for criterion in [QueryCriterion::Fpc, QueryCriterion::Extended] {
        if let Ok(made) = targets(&text, &SCHEMA, dialect, criterion, options) {
            made.iter().take(50).for_each(|target| run(&target.sql));
            let read = |target| QueryTarget::of(target, &SCHEMA, dialect);
            let targets: Vec<QueryTarget> = made.iter().take(8).map(read).collect();
            let config = Config {
                budget: 20,
                ..Config::default()
            };
            let _ = job::run(
                &targets,
                SolverContext::new(&SCHEMA, dialect.dialect()),
                &config,
            );
        }
    }
}

/// Reads reports, suites of the other jobs and results of test runners, and prints them in all formats.
pub fn report(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(report) = RestReport::from_json(&text) {
        let _ = findings::html(&report) + &findings::markdown(&report) + &findings::sarif(&report);
        let _ = findings::junit(&report) + &findings::wfc(&report);
    }
    if let Ok(report) = CampaignReport::from_json(&text) {
        let _ = campaign::html(&report) + &campaign::markdown(&report) + &campaign::junit(&report);
    }
    if let Ok(report) = QueryReport::from_json(&text) {
        let _ = report::query_html(&report) + &report::query_markdown(&report);
    }
    if let Ok(report) = RunReport::from_json(&text) {
        let _ = report::html(&report) + &report::markdown(&report);
    }
    if let Ok(suite) = Suite::from_json(&text) {
        for writer in isobath_emit::writer::ALL {
            let _ = writer.write(&suite);
        }
    }
    let folder = RunResults::JunitXml {
        folder: String::new(),
        prefix: String::new(),
    };
    for results in [folder, RunResults::Libtest] {
        let _ = results.read(&text);
    }
}

/// Takes a statement apart: tokens, parameters, tables, and what a database says about it; also an address of a database.
pub fn statement(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for dialect in DialectName::ALL {
        let mut end = 0;
        for token in Lexer::new(&text, LexerRules::of(Some(dialect))) {
            assert!(
                token.start.offset >= end && !token.text.is_empty(),
                "tokens come in order"
            );
            end = token.end();
            assert_eq!(
                text.get(token.start.offset..end),
                Some(token.text),
                "a token is a part of the text"
            );
        }
        assert!(text.get(end..).is_some(), "tokens end in the text");
        let unchanged =
            statement_text::replace(&text, dialect, |_, written| Some(written.to_owned()));
        assert_eq!(unchanged, text, "parameters are parts of the text");
        for part in statement_text::split(&text, dialect) {
            let _ = referenced_tables(&SCHEMA, part, dialect);
        }
    }
    let _ = StatementFailure::read(&text);
    let _ = Address::parse(&text);
}

/// Reads a suite and prints it in all languages.
pub fn suite(bytes: &[u8]) {
    let Ok(suite) = HttpSuite::from_json(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    for name in writer::names() {
        if let Ok(writer) = writer::by_name(name) {
            let _ = writer.write(&suite);
        }
    }
    for test in &suite.tests {
        curl(&suite, test);
    }
}

/// Listens to a service and its database: how bytes come in pieces does not matter. The first byte says which
/// database, the second how long pieces are; then come turns, each with a byte for who speaks and one for how long.
pub fn tap(bytes: &[u8]) {
    let [kind, size, rest @ ..] = bytes else {
        return;
    };
    let dialect = if kind % 2 == 0 {
        DialectName::Postgres
    } else {
        DialectName::MySql
    };
    let mut turns: Vec<(Sender, &[u8])> = Vec::new();
    let mut rest = rest;
    while let [who, length, more @ ..] = rest {
        let sender = if who % 2 == 0 {
            Sender::Client
        } else {
            Sender::Server
        };
        let (turn, more) = more.split_at(usize::from(*length).min(more.len()));
        turns.push((sender, turn));
        rest = more;
    }
    let whole = replay(dialect, turns.iter().copied());
    let size = usize::from(*size).max(1);
    let pieces = turns
        .iter()
        .flat_map(|&(sender, bytes)| bytes.chunks(size).map(move |piece| (sender, piece)));
    assert_eq!(whole, replay(dialect, pieces), "pieces matter");
}
