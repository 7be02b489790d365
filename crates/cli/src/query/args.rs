//! The flags of `isobath query`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    pub options: Options,
}

/// Other jobs on queries.
#[derive(Debug, Subcommand)]
pub(crate) enum QueryCommand {
    /// Print the coverage targets of queries, and run nothing.
    Targets {
        /// As for finding rows.
        #[command(flatten)]
        options: Options,
    },
}

/// Flags that all query jobs share.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The tables: SQL files, folders of migrations, or - for standard input.
    #[arg(long, value_name = "DDL", required = true, num_args = 1..)]
    pub schema: Vec<PathBuf>,

    /// The queries: .sql files with one or more, or .jsonl files with `id`, `query` and `targets`.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub queries: Vec<PathBuf>,

    /// How schema and queries are written; guessed from the schema when not given.
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite")]
    pub dialect: Option<isobath_sql::DialectName>,

    /// What to cover; `recorded` takes the `targets` of the .jsonl file.
    #[arg(long, value_enum, default_value = "extended")]
    pub criterion: CriterionName,

    /// The database on which every target is confirmed before it counts.
    #[arg(long, value_enum, default_value = "none")]
    pub engine: EngineName,

    /// A server to confirm on instead of one of our own.
    #[arg(long, value_name = "URL")]
    pub test_db: Vec<String>,

    /// Let rows break keys, foreign keys, CHECKs and lengths; NOT NULL still counts.
    #[arg(long)]
    pub ignore_constraints: bool,

    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Write the fixtures there, as SQL.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// One JSON object per query on standard output, and nothing else.
    #[arg(long)]
    pub json: bool,

    /// Say only what went wrong.
    #[arg(long)]
    pub quiet: bool,
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
