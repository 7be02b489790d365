//! The flags of `isobath schema`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::headings::{DATABASE, INPUT, MUTATION, OUTPUT, SEARCH};

/// Generate tests for the integrity constraints of a SQL schema
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SchemaArgs {
    /// Another task than generating tests
    #[command(subcommand)]
    pub command: Option<SchemaCommand>,

    /// SQL files, folders of migrations, or `-` for standard input; each path is one schema
    #[arg(value_name = "PATH", required_unless_present = "db")]
    pub paths: Vec<PathBuf>,

    /// Read the schema from a live database (read-only)
    #[arg(long, value_name = "URL", conflicts_with = "paths", help_heading = INPUT)]
    pub db: Option<String>,

    /// Flags of the run
    #[command(flatten)]
    pub options: SchemaOptions,
}

/// Subcommands of `isobath schema`.
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Show which rows become accepted or rejected between two versions of a schema
    Diff {
        /// Old version: a file or a folder of migrations
        old: PathBuf,
        /// New version: a file or a folder of migrations
        new: PathBuf,
        /// Flags of the run
        #[command(flatten)]
        options: SchemaOptions,
    },
}

/// Flags of `isobath schema` and `isobath schema diff`.
#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// SQL dialect of the schema [default: detected from the schema]
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite", help_heading = INPUT)]
    pub dialect: Option<isobath_sql::DialectName>,

    /// Database engine whose rules apply and that must confirm every test
    #[arg(long, value_enum, default_value = "sqlite", help_heading = DATABASE)]
    pub engine: EngineName,

    /// Run the suite on several engines and report where they disagree
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        conflicts_with = "engine",
        help_heading = DATABASE
    )]
    pub engines: Vec<EngineName>,

    /// Coverage criteria joined by `+`: APC, ICC, AICC, CondAICC, ClauseAICC, NCC, ANCC, UCC, AUCC
    #[arg(long, default_value = "ClauseAICC+AUCC+ANCC", help_heading = SEARCH)]
    pub criterion: String,

    /// Test data generator
    #[arg(
        long,
        default_value = "default",
        value_name = "default|domino|domino-avm|avm-r|avm-d|random",
        help_heading = SEARCH
    )]
    pub generator: String,

    /// Maximum number of evaluations per test requirement
    #[arg(long, default_value_t = 100_000, help_heading = SEARCH)]
    pub budget: u64,

    /// Measure the suite by mutation analysis
    #[arg(long, help_heading = MUTATION)]
    pub mutate: bool,

    /// Mutation operators
    #[arg(long, value_enum, default_value = "all", help_heading = MUTATION)]
    pub operators: Operators,

    /// Confirm killed mutants on the database engine (implies --mutate)
    #[arg(long, help_heading = MUTATION)]
    pub confirm: bool,

    /// Add a test for each mutant that is alive (implies --mutate)
    #[arg(long, help_heading = MUTATION)]
    pub strengthen: bool,

    /// Remove redundant tests and merge tests where possible
    #[arg(long, help_heading = OUTPUT)]
    pub reduce: bool,

    /// Also test types, lengths, defaults, UPDATE, DELETE and foreign-key actions [default: true
    /// with the default generator, otherwise false]
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        default_missing_value = "true",
        help_heading = SEARCH
    )]
    pub extras: Option<bool>,

    /// Random seed
    #[arg(long, default_value_t = 0, help_heading = SEARCH)]
    pub seed: u64,

    /// Output folder for the suite and the report [default: isobath-out; nothing is written with
    /// --json]
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,

    /// Test languages to write, separated by commas: sql, pytest, junit, rust, pgtap, json
    #[arg(long, value_delimiter = ',', default_value = "sql,json", help_heading = OUTPUT)]
    pub lang: Vec<String>,

    /// Print one JSON object per schema to standard output and nothing else
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Use this database server instead of starting one; tests write to it
    #[arg(long, value_name = "URL", help_heading = DATABASE)]
    pub test_db: Vec<String>,

    /// Print errors only
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// Database engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// No database: predict the outcomes by the rules of the input's dialect
    None,
    /// SQLite (embedded)
    Sqlite,
    /// PostgreSQL
    #[value(alias = "postgresql", alias = "pg")]
    Postgres,
    /// MariaDB
    #[value(alias = "mysql")]
    Mariadb,
}

/// Sets of mutation operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operators {
    /// The 14 operators of McMinn, Wright and Kapfhammer
    Paper,
    /// These and operators on constants, bounds, connectives, types, lengths, actions and defaults
    All,
}
