//! The flags of `isobath query`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isobath_rows::query::algorithm::{Algorithm, Config};

use crate::schema::EngineName;

/// The smallest rows that exercise every part of SQL queries.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct QueryArgs {
    /// What to do instead of finding rows.
    #[command(subcommand)]
    pub command: Option<QueryCommand>,

    /// What to cover and how.
    #[command(flatten)]
    pub options: QueryOptions,
}

/// Other jobs on queries.
#[derive(Debug, Subcommand)]
pub(crate) enum QueryCommand {
    /// Print the coverage targets of queries, and run nothing.
    Targets {
        /// As for finding rows.
        #[command(flatten)]
        options: Box<QueryOptions>,
    },
    /// Run stored fixtures against queries as they are now, and say what changed.
    Check {
        /// What to check and how.
        #[command(flatten)]
        options: Box<CheckOptions>,
    },
}

/// Flags of finding rows and of printing targets.
#[derive(Debug, Args)]
pub(crate) struct QueryOptions {
    /// The queries: files or folders (see --queries).
    #[arg(value_name = "QUERIES", required_unless_present = "queries")]
    pub paths: Vec<PathBuf>,

    /// The tables: SQL files, folders of migrations, or - for standard input.
    #[arg(long, value_name = "DDL", required = true, num_args = 1..)]
    pub schema: Vec<PathBuf>,

    /// The queries: .sql files (sqlc and sqlx files too), .jsonl files with `id`, `query` and
    /// `targets`, .rs files with sqlx queries, folders of these, or - for standard input.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub queries: Vec<PathBuf>,

    /// How schema and queries are written; guessed from the schema when not given.
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite")]
    pub dialect: Option<isobath_sql::DialectName>,

    /// What to cover; `recorded` takes the `targets` of the .jsonl file.
    #[arg(long, value_enum, default_value = "extended")]
    pub criterion: CriterionName,

    /// Take the targets from a file: SELECTs, or lines of JSON with `id` and `targets`.
    #[arg(long, value_name = "FILE", conflicts_with = "criterion")]
    pub targets: Option<PathBuf>,

    /// Who finds the rows.
    #[arg(
        long,
        default_value = "default",
        value_name = "default|ga|biased|random"
    )]
    pub algorithm: Algorithm,

    /// Evaluations that the search may spend on one target.
    #[arg(long, default_value_t = Config::default().budget)]
    pub budget: u64,

    /// The database on which every target is confirmed before it counts; SQLite when the schema is
    /// SQLite's, otherwise none.
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,

    /// A server to confirm on instead of one of our own.
    #[arg(long, value_name = "URL")]
    pub test_db: Vec<String>,

    /// Let rows break keys, foreign keys, CHECKs and lengths; NOT NULL still counts.
    #[arg(long)]
    pub ignore_constraints: bool,

    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Where to write fixtures, tests and the report; isobath-out/NAME when not given, nothing
    /// with --json.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Test languages to write: fixtures, sql, pytest, junit, rust, sqlx, pgtap, dbt, json.
    #[arg(long, value_delimiter = ',', default_value = "fixtures,sql,json")]
    pub format: Vec<String>,

    /// One JSON object per query on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,

    /// Say only what went wrong.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of checking stored fixtures.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// What an earlier run wrote: its folder, or .json files of its tests.
    #[arg(value_name = "DIR|FILE", required = true)]
    pub stored: Vec<PathBuf>,

    /// The tables as they are now; as they were when not given.
    #[arg(long, value_name = "DDL", num_args = 1..)]
    pub schema: Vec<PathBuf>,

    /// The queries as they are now; as they were when not given.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub queries: Vec<PathBuf>,

    /// How schema and queries are written; guessed from the schema when not given.
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite")]
    pub dialect: Option<isobath_sql::DialectName>,

    /// The database to run on; that of the stored tests when not given.
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,

    /// A server to run on instead of one of our own.
    #[arg(long, value_name = "URL")]
    pub test_db: Vec<String>,

    /// Create the tables without keys, foreign keys, CHECKs and lengths.
    #[arg(long)]
    pub ignore_constraints: bool,

    /// One JSON object per query on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,

    /// Say only what changed.
    #[arg(long, short)]
    pub quiet: bool,
}

impl QueryOptions {
    /// The paths of all queries.
    pub(crate) fn query_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.queries)
    }
}

/// What to cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CriterionName {
    /// SQL full predicate coverage as published.
    Fpc,
    /// The same with its gaps closed.
    Extended,
    /// The targets of the input.
    Recorded,
}

impl CriterionName {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fpc => "fpc",
            Self::Extended => "extended",
            Self::Recorded => "recorded",
        }
    }
}
