//! The flags of `isobath query`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isobath_rows::query::algorithm::{Algorithm, Config};

use crate::schema::EngineName;
use crate::schema::headings::{DATABASE, INPUT, OUTPUT, SEARCH};

/// Generate the smallest rows that cover every part of SQL queries
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct QueryArgs {
    /// Another task than covering queries
    #[command(subcommand)]
    pub command: Option<QueryCommand>,

    /// Flags of the run
    #[command(flatten)]
    pub options: QueryOptions,
}

/// Subcommands of `isobath query`.
#[derive(Debug, Subcommand)]
pub(crate) enum QueryCommand {
    /// Print the coverage targets of queries without covering them
    Targets {
        /// Flags of the run
        #[command(flatten)]
        options: Box<QueryOptions>,
    },
    /// Run stored fixtures against the current queries and report what changed
    Check {
        /// Flags of the check
        #[command(flatten)]
        options: Box<CheckOptions>,
    },
}

/// Flags of `isobath query` and `isobath query targets`.
#[derive(Debug, Args)]
pub(crate) struct QueryOptions {
    /// Query files or folders (see --queries)
    #[arg(value_name = "QUERIES", required_unless_present = "queries")]
    pub paths: Vec<PathBuf>,

    /// Schema: SQL files, folders of migrations, or `-` for standard input
    #[arg(long, value_name = "DDL", required = true, num_args = 1.., help_heading = INPUT)]
    pub schema: Vec<PathBuf>,

    /// Queries: .sql files (including sqlc and sqlx files), .jsonl files with `id`, `query` and
    /// `targets`, .rs files with sqlx queries, folders of these, or `-` for standard input
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    pub queries: Vec<PathBuf>,

    /// SQL dialect of the schema and the queries [default: detected from the schema]
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite", help_heading = INPUT)]
    pub dialect: Option<isobath_sql::DialectName>,

    /// Coverage criterion; `recorded` uses the `targets` of the .jsonl file
    #[arg(long, value_enum, default_value = "extended", help_heading = SEARCH)]
    pub criterion: CriterionName,

    /// Read the targets from a file: SELECT statements, or lines of JSON with `id` and `targets`
    #[arg(long, value_name = "FILE", conflicts_with = "criterion", help_heading = SEARCH)]
    pub targets: Option<PathBuf>,

    /// Search algorithm
    #[arg(
        long,
        default_value = "default",
        value_name = "default|ga|biased|random",
        help_heading = SEARCH
    )]
    pub algorithm: Algorithm,

    /// Maximum number of evaluations per target
    #[arg(long, default_value_t = Config::default().budget, help_heading = SEARCH)]
    pub budget: u64,

    /// CPU seconds that each query may take; 0 for no limit
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, help_heading = SEARCH)]
    pub time_limit: f64,

    /// Database engine that must confirm every target [default: sqlite for a SQLite schema,
    /// otherwise none]
    #[arg(long, value_enum, help_heading = DATABASE)]
    pub engine: Option<EngineName>,

    /// Use this database server instead of starting one
    #[arg(long, value_name = "URL", help_heading = DATABASE)]
    pub test_db: Vec<String>,

    /// Ignore keys, foreign keys, CHECKs and lengths; NOT NULL still applies
    #[arg(long, help_heading = DATABASE)]
    pub ignore_constraints: bool,

    /// Measure the tests by mutants of each query: how many they kill, and which stay alive
    #[arg(long, help_heading = SEARCH)]
    pub mutate: bool,

    /// Add a test for each mutant that is alive and can be killed (implies --mutate)
    #[arg(long, help_heading = SEARCH)]
    pub strengthen: bool,

    /// Random seed
    #[arg(long, default_value_t = 1, help_heading = SEARCH)]
    pub seed: u64,

    /// Output folder for fixtures, tests and the report [default: isobath-out/NAME; nothing is
    /// written with --json]
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,

    /// Test languages to write, separated by commas: fixtures, sql, pytest, junit, rust, sqlx,
    /// pgtap, dbt, json
    #[arg(long, value_delimiter = ',', default_value = "fixtures,sql,json", help_heading = OUTPUT)]
    pub lang: Vec<String>,

    /// Print one JSON object per query to standard output and nothing else
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// Flags of `isobath query check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Output of an earlier run: its folder, or the .json files of its tests
    #[arg(value_name = "DIR|FILE", required = true)]
    pub stored: Vec<PathBuf>,

    /// Current schema [default: the schema stored with the tests]
    #[arg(long, value_name = "DDL", num_args = 1.., help_heading = INPUT)]
    pub schema: Vec<PathBuf>,

    /// Current queries [default: the queries stored with the tests]
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    pub queries: Vec<PathBuf>,

    /// SQL dialect of the schema and the queries [default: detected from the schema]
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite", help_heading = INPUT)]
    pub dialect: Option<isobath_sql::DialectName>,

    /// Database engine to run on [default: the engine of the stored tests]
    #[arg(long, value_enum, help_heading = DATABASE)]
    pub engine: Option<EngineName>,

    /// Use this database server instead of starting one
    #[arg(long, value_name = "URL", help_heading = DATABASE)]
    pub test_db: Vec<String>,

    /// Create the tables without keys, foreign keys, CHECKs and lengths
    #[arg(long, help_heading = DATABASE)]
    pub ignore_constraints: bool,

    /// Print one JSON object per query to standard output and nothing else
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Print changes only
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

impl QueryOptions {
    /// The paths of all queries.
    pub(crate) fn query_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.queries)
    }
}

/// Coverage criteria.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CriterionName {
    /// SQL full predicate coverage (SQLFpc) as published
    Fpc,
    /// SQL full predicate coverage with additional targets for the cases it leaves out
    Extended,
    /// The targets recorded in the input
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
