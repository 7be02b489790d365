//! A test language: a table of notation, the functions that print statements, and runtime files of its own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::runtime::{self, Fragment};
use super::{HttpWriter, Run, UnsupportedTest, WrittenSuite, WrittenTest};
use crate::http::check::SuiteError;
use crate::http::json_path::{JsonKey, JsonPath};
use crate::http::lower::{self, LogIn};
use crate::http::plan::{self, Casing, PlannedTest, SuiteFile};
use crate::http::request::Secret;
use crate::http::response::JsonType;
use crate::http::statement::{Expr, Part, Piece, Statement};
use crate::http::suite::{HttpSuite, HttpTest, User};
use crate::writer::File;
use crate::writer::layout::Layout;
use crate::writer::name::{Names, slug};
use crate::writer::text::one_line;

/// What is fixed in a test language.
pub(crate) struct Notation {
    /// The name by which it is chosen.
    pub(crate) name: &'static str,
    /// Its own flags in runtime files.
    pub(crate) flags: &'static [&'static str],
    /// How variables are spelled.
    pub(crate) casing: Casing,
    /// Names that a test must not use for its variables.
    pub(crate) reserved: &'static [&'static str],
    /// Names that a group must not have.
    pub(crate) reserved_groups: &'static [&'static str],
    /// Whether tests must not be called so either.
    pub(crate) reserves_tests: bool,
    /// Whether a test has a variable for each user.
    pub(crate) has_user_variables: bool,
    /// A text as an expression.
    pub(crate) literal: fn(&str) -> String,
    /// What stands before a variable that is handed over.
    pub(crate) borrow: &'static str,
    /// The variable for the JSON of a response that is read more than once.
    pub(crate) json_variable: Option<&'static str>,
    /// Whether the head of a test ends in statements.
    pub(crate) blank_after_head: bool,
    /// The indentation of statements in a test, of those that log in, and of those that reset the service.
    pub(crate) indents: (usize, usize, usize),
    /// What begins the lines of the header, and of the environment variables.
    pub(crate) header: (&'static str, &'static str),
    /// Keeps a line of the header inside of its comment.
    pub(crate) in_header: fn(&str) -> String,
    /// What stands between two tests, and before each.
    pub(crate) separators: (&'static str, &'static str),
    /// What ends a test, and a group.
    pub(crate) ends: (&'static str, &'static str),
    /// All imports; those that are not used are left out.
    pub(crate) imports: &'static str,
    /// How parts of responses and assertions are written.
    pub(crate) patterns: Patterns,
    /// The longest line, the step of indentation, and what ends a statement.
    pub(crate) layout: (usize, usize, &'static str),
    /// What stands before the tests.
    pub(crate) before: &'static [Fragment],
    /// What stands after the tests.
    pub(crate) after: &'static [Fragment],
}

/// How a language writes parts of responses and assertions.
///
/// `$1` and `$2` stand for what they are about, in the order of the fields of [`Statement`]. Arguments between `<<` and `>>`, separated by
/// `||`, go to lines of their own where they do not fit; a line break separates statements.
pub(crate) struct Patterns {
    pub(crate) status: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) header: &'static str,
    pub(crate) cookie: &'static str,
    pub(crate) text: &'static str,
    pub(crate) trimmed_text: &'static str,
    pub(crate) json: &'static str,
    pub(crate) resolved: &'static str,
    pub(crate) comment: &'static str,
    pub(crate) variable: &'static str,
    pub(crate) run: &'static str,
    pub(crate) succeeded: &'static str,
    pub(crate) equal: &'static str,
    /// Null, boolean, integer, number, string, array, object.
    pub(crate) types: [&'static str; 7],
    pub(crate) length: &'static str,
    pub(crate) includes: &'static str,
    /// A member of an object, and an item of an array.
    pub(crate) has: [&'static str; 2],
    pub(crate) lacks: [&'static str; 2],
    pub(crate) has_header: &'static str,
    pub(crate) contains: &'static str,
    pub(crate) empty: &'static str,
}

impl Patterns {
    /// How a language asserts a type.
    fn of_type(&self, is: JsonType) -> &'static str {
        let [null, boolean, integer, number, string, array, object] = self.types;
        match is {
            JsonType::Null => null,
            JsonType::Boolean => boolean,
            JsonType::Integer => integer,
            JsonType::Number => number,
            JsonType::String => string,
            JsonType::Array => array,
            JsonType::Object => object,
        }
    }
}

/// Prints statements in one test language.
pub(crate) trait Language: Sync {
    /// What is fixed.
    fn notation(&self) -> &'static Notation;

    /// The path of the file whose stem is given.
    fn path(&self, stem: &str) -> String;

    /// What begins a group of tests.
    fn group(&self, title: &str, names: &mut Names) -> String;

    /// What begins the tests of a scenario.
    fn scenario(&self, scenario: &str) -> String;

    /// What begins a test.
    fn test(&self, test: &PlannedTest<'_>, name: &str) -> String;

    /// Prints a statement with its indentation and the end of its line, where no pattern does.
    fn statement(&self, out: &mut String, indent: usize, statement: &Statement<'_>) {
        by_pattern(self, out, indent, statement);
    }

    /// An expression of a text with pieces.
    fn text(&self, pieces: &[Piece<'_>]) -> String;

    /// A JSON document on one line.
    fn json(&self, value: &Value, holes: &[(&JsonPath, Expr<'_>)]) -> String;

    /// The value at a place in a JSON document.
    fn at(&self, json: &str, place: &JsonPath) -> String {
        let keys = place.0.iter().map(|key| format!("[{}]", self.key(key)));
        json.to_owned() + &keys.collect::<String>()
    }

    /// A key of a JSON document.
    fn key(&self, key: &JsonKey) -> String {
        match key {
            JsonKey::Index(index) => index.to_string(),
            JsonKey::Name(name) => (self.notation().literal)(name),
        }
    }

    /// A text with a variable inside of it.
    fn joined(&self, before: &str, variable: &str, after: &str) -> String;

    /// The constant that holds a secret, where the language has one.
    fn secret(&self, secret: &Secret) -> String;

    /// The code by which a user logs in, of which the statements are printed already.
    fn log_in(&self, user: &User, log_in: &LogIn<'_>, statements: &str) -> String;

    /// What the runtime files have in place of `@NAME@`, besides what is common to all languages.
    fn values(&self, chapter: &Chapter<'_>) -> Vec<(&'static str, String)>;

    /// The files that it takes to build the tests.
    fn project(&self, _suite: &HttpSuite) -> Vec<File> {
        Vec::new()
    }

    /// How the tests are run.
    fn run(&self, files: &[File]) -> Run;

    /// The name of a test in its results.
    fn test_name(&self, test: &PlannedTest<'_>, _seen: &mut BTreeSet<String>) -> String {
        test.name.clone()
    }

    /// Why a test cannot be expressed.
    fn refusal(&self, _test: &HttpTest) -> Option<String> {
        None
    }

    /// Finishes the statements of a test.
    fn finish_test(&self, statements: String) -> String {
        statements
    }

    /// Finishes the text of the runtime files that stand after the tests.
    fn finish(&self, after: String) -> String {
        after
    }
}

/// The tests of one file and what they use of the suite.
pub(crate) struct Chapter<'a> {
    pub(crate) suite: &'a HttpSuite,
    pub(crate) file: &'a SuiteFile<'a>,
    /// The stem of the file.
    pub(crate) stem: String,
    pub(crate) users: Vec<&'a User>,
    pub(crate) secrets: Vec<&'a Secret>,
}

/// Statements as a language prints them at an indentation.
pub(super) fn printed(
    language: &dyn Language,
    indent: usize,
    statements: &[Statement<'_>],
) -> String {
    let mut out = String::new();
    for statement in statements {
        match statement {
            Statement::Blank => out.push('\n'),
            statement => language.statement(&mut out, indent, statement),
        }
    }
    out
}

impl<L: Language> HttpWriter for L {
    fn name(&self) -> &'static str {
        self.notation().name
    }

    fn write(&self, suite: &HttpSuite) -> Result<WrittenSuite, SuiteError> {
        suite.check()?;
        let notation = self.notation();
        let excluded = suite.tests.iter().filter_map(|test| {
            let id = test.id.clone();
            self.refusal(test)
                .map(|reason| UnsupportedTest { id, reason })
        });
        let excluded: Vec<UnsupportedTest> = excluded.collect();
        let mut suite = suite.clone();
        suite.tests.retain(|test| self.refusal(test).is_none());
        let users: Vec<String> = suite.users.iter().map(|user| slug(&user.name)).collect();
        let mut reserved = words(notation.reserved);
        if notation.has_user_variables {
            reserved.extend(users.iter().map(String::as_str));
        }
        let taken: &[&str] = if notation.reserves_tests {
            &reserved
        } else {
            &[]
        };
        let (mut files, mut tests) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for file in plan::chapters(&suite, notation.casing, &reserved, taken) {
            let chapter = Chapter {
                suite: &suite,
                file: &file,
                stem: plan::stem(&suite, &file),
                users: plan::users(&suite, &file),
                secrets: plan::secrets_of(&suite, &file),
            };
            let path = self.path(&chapter.stem);
            let text = write_file(self, &chapter, &path, &mut seen, &mut tests);
            files.push(File { path, text });
        }
        let run = self.run(&files);
        files.extend(self.project(&suite));
        Ok(WrittenSuite {
            files,
            tests,
            excluded,
            run,
        })
    }
}

fn write_file(
    language: &dyn Language,
    chapter: &Chapter<'_>,
    path: &str,
    seen: &mut BTreeSet<String>,
    tests: &mut Vec<WrittenTest>,
) -> String {
    let notation = language.notation();
    let first = tests.len();
    let mut out = String::new();
    let mut names = Names::default();
    let stem = path
        .rsplit('/')
        .next()
        .and_then(|name| name.split('.').next());
    for taken in words(notation.reserved_groups).into_iter().chain(stem) {
        names.unique(taken.into());
    }
    for group in &chapter.file.groups {
        out.push_str(&language.group(group.title, &mut names));
        let mut scenario = "";
        for (idx, test) in group.tests.iter().enumerate() {
            if idx > 0 {
                out.push_str(notation.separators.0);
            }
            if test.test.scenario != scenario {
                scenario = &test.test.scenario;
                out.push_str(&language.scenario(scenario));
            }
            out.push_str(notation.separators.1);
            let start_line = out.matches('\n').count() + 1;
            let name = language.test_name(test, seen);
            out.push_str(&language.test(test, &name));
            let statements = lower::test(test, notation);
            let statements = printed(language, notation.indents.0, &statements);
            out.push_str(&language.finish_test(statements));
            out.push_str(notation.ends.0);
            tests.push(WrittenTest {
                id: test.test.id.clone(),
                name,
                path: path.into(),
                start_line,
                end_line: out.matches('\n').count(),
            });
        }
        out.push_str(notation.ends.1);
    }
    let (before, after) = runtime::around(language, chapter, &out);
    let above = before.matches('\n').count();
    for test in tests.iter_mut().skip(first) {
        test.start_line += above;
        test.end_line += above;
    }
    before + &out + &after
}

/// An expression.
pub(crate) fn expression<L: Language + ?Sized>(language: &L, value: &Expr<'_>) -> String {
    let Notation {
        patterns, literal, ..
    } = language.notation();
    match value {
        Expr::Literal(text) => literal(text),
        Expr::Number(number) => number.to_string(),
        Expr::Json(value, holes) => language.json(value, holes),
        Expr::Variable(name) => name.clone(),
        Expr::Text(pieces) => language.text(pieces),
        Expr::Resolved(reference) => filled(patterns.resolved, &[expression(language, reference)]),
        Expr::Unique(unique) => format!(
            "unique({}, {}, {})",
            literal(&unique.prefix),
            unique.digits,
            literal(&unique.suffix)
        ),
        Expr::Of(answer, part) => {
            let (pattern, name) = match part {
                Part::Status => (patterns.status, ""),
                Part::MediaType => (patterns.media_type, ""),
                Part::Header(name) => (patterns.header, *name),
                Part::Cookie(name) => (patterns.cookie, *name),
                Part::Text => (patterns.text, ""),
                Part::TrimmedText => (patterns.trimmed_text, ""),
                Part::Json => (patterns.json, ""),
            };
            filled(pattern, &[answer.clone(), literal(name)])
        }
        Expr::At(json, place) => language.at(&expression(language, json), place),
        Expr::LastSegment(reference) => {
            let function = language.notation().casing.spell("last_segment");
            format!("{function}({})", expression(language, reference))
        }
    }
}

/// Prints a statement by its pattern; those without one are printed by the language itself.
pub(crate) fn by_pattern<L: Language + ?Sized>(
    language: &L,
    out: &mut String,
    indent: usize,
    statement: &Statement<'_>,
) {
    let Notation {
        patterns, literal, ..
    } = language.notation();
    let value = |value: &Expr<'_>| expression(language, value);
    let (pattern, values) = match statement {
        Statement::Comment(text) => (patterns.comment, vec![one_line(text)]),
        Statement::Run(command) => (patterns.run, vec![literal(command)]),
        Statement::Let(name, found) => (patterns.variable, vec![name.clone(), value(found)]),
        Statement::Succeeded(answer) => (patterns.succeeded, vec![(*answer).to_owned()]),
        Statement::Equal { actual, expected } => {
            (patterns.equal, vec![value(actual), value(expected)])
        }
        Statement::Type(found, is) => (patterns.of_type(*is), vec![value(found)]),
        Statement::Length(list, items) => (patterns.length, vec![value(list), items.to_string()]),
        Statement::Includes(list, item) => (
            patterns.includes,
            vec![value(list), language.json(item, &[])],
        ),
        Statement::Has(parent, key, there) => {
            let patterns = if *there { patterns.has } else { patterns.lacks };
            let [by_name, by_index] = patterns;
            let pattern = match key {
                JsonKey::Name(_) => by_name,
                JsonKey::Index(_) => by_index,
            };
            (pattern, vec![value(parent), language.key(key)])
        }
        Statement::HasHeader(answer, name) => {
            (patterns.has_header, vec![answer.clone(), literal(name)])
        }
        Statement::Contains(answer, text) => {
            (patterns.contains, vec![answer.clone(), literal(text)])
        }
        Statement::Empty(answer) => (patterns.empty, vec![answer.clone()]),
        Statement::Blank
        | Statement::Mock(_)
        | Statement::RunSql(_)
        | Statement::Row(..)
        | Statement::Send(..)
        | Statement::NoResponse { .. } => return,
    };
    for pattern in pattern.split('\n') {
        let code = match pattern.split_once("<<").zip(pattern.rsplit_once(">>")) {
            None => Layout::Atom(filled(pattern, &values)),
            Some(((open, rest), (_, close))) => {
                let items = rest.split(">>").next().unwrap_or_default().split("||");
                let items = items.map(|item| Layout::Atom(filled(item, &values)));
                Layout::list(filled(open, &values), items, close)
            }
        };
        let is_comment = matches!(statement, Statement::Comment(_));
        let end = if is_comment {
            ""
        } else {
            language.notation().layout.2
        };
        line(language.notation(), out, indent, &code, end);
    }
}

/// Appends a line of code.
pub(crate) fn line(notation: &Notation, out: &mut String, indent: usize, code: &Layout, end: &str) {
    let (width, step, _) = notation.layout;
    let tabs = if step == 1 { "\t" } else { " " };
    out.push_str(&tabs.repeat(indent));
    code.render_by(step, out, indent, width, end.len());
    out.push_str(end);
    out.push('\n');
}

/// A pattern with values in place of `$1` and `$2`.
fn filled(pattern: &str, values: &[String]) -> String {
    let mut parts = pattern.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut rest = part.chars();
        let (value, rest) = match rest.next() {
            Some('1') => (values.first(), rest.as_str()),
            Some('2') => (values.get(1), rest.as_str()),
            _ => (None, part),
        };
        out.push_str(value.map_or("$", String::as_str));
        out.push_str(rest);
    }
    out
}

/// The words of several lists.
pub(crate) fn words(lists: &'static [&'static str]) -> Vec<&'static str> {
    let lists = lists.iter();
    lists.flat_map(|list| list.split_whitespace()).collect()
}

/// What stands in place of a value of a JSON document, if an expression does.
pub(crate) fn hole<T>(
    holes: &[(&JsonPath, Expr<'_>)],
    place: &JsonPath,
    print: impl Fn(&Expr<'_>) -> T,
) -> Option<T> {
    let hole = holes.iter().find(|(at, _)| *at == place);
    hole.map(|(_, expression)| print(expression))
}

/// The constant that holds a secret.
pub(crate) fn constant(secret: &Secret) -> String {
    slug(&secret.variable).to_ascii_uppercase()
}

/// Whether clients have a function for the method.
pub(crate) fn is_usual(method: &str) -> bool {
    let usual = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    usual.contains(&method)
}
