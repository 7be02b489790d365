//! The flags of `isobath schema`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Tests for the integrity constraints of a SQL schema.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SchemaArgs {
    /// What to do instead of generating tests.
    #[command(subcommand)]
    pub command: Option<SchemaCommand>,

    /// SQL files, folders of migrations, or - for standard input; each is one schema.
    #[arg(value_name = "PATH", required_unless_present = "db")]
    pub paths: Vec<PathBuf>,

    /// Read the schema from a live database; it is only read, never written.
    #[arg(long, value_name = "URL", conflicts_with = "paths")]
    pub db: Option<String>,

    /// What to generate and how.
    #[command(flatten)]
    pub options: SchemaOptions,
}

/// Other jobs on schemas.
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Say which rows become accepted or rejected between two versions of a schema.
    Diff {
        /// The version before: a file or a folder of migrations.
        old: PathBuf,
        /// The version after.
        new: PathBuf,
        /// As for generating tests.
        #[command(flatten)]
        options: SchemaOptions,
    },
}

/// Flags that all schema jobs share.
#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// The dialect of the input; guessed, and said, when not given.
    #[arg(long, value_name = "ansi|postgres|mysql|sqlite")]
    pub dialect: Option<isobath_sql::DialectName>,

    /// The database whose rules apply and on which every test is confirmed.
    #[arg(long, value_enum, default_value = "sqlite")]
    pub engine: EngineName,

    /// Run the same suite on several engines and report where they disagree.
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "engine")]
    pub engines: Vec<EngineName>,

    /// Coverage criteria joined by +: APC, ICC, AICC, CondAICC, ClauseAICC, NCC, ANCC, UCC, AUCC.
    #[arg(long, default_value = "ClauseAICC+AUCC+ANCC")]
    pub criterion: String,

    /// Who finds the rows.
    #[arg(
        long,
        default_value = "default",
        value_name = "default|domino|domino-avm|avm-r|avm-d|random"
    )]
    pub generator: String,

    /// Evaluations that a search may spend on one requirement.
    #[arg(long, default_value_t = 100_000)]
    pub budget: u64,

    /// Measure the suite by mutation analysis.
    #[arg(long)]
    pub mutate: bool,

    /// Which mutation operators: the 14 of the paper, or ours beyond them too.
    #[arg(long, value_enum, default_value = "all")]
    pub operators: Operators,

    /// Cross-check kills on the real engine (implies --mutate).
    #[arg(long)]
    pub confirm: bool,

    /// Add a test for each surviving mutant (implies --mutate).
    #[arg(long)]
    pub strengthen: bool,

    /// Leave out tests that add nothing, and merge those that can be.
    #[arg(long)]
    pub reduce: bool,

    /// Also test types, lengths, defaults, UPDATE, DELETE and foreign-key actions (on with the default generator).
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub extras: Option<bool>,

    /// The seed; the same seed gives the same suite, byte for byte.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Where to write the suite and the report.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Test languages to write: sql, pytest, junit5, rust, pgtap, json.
    #[arg(long, value_delimiter = ',', default_value = "sql,json")]
    pub format: Vec<String>,

    /// One JSON object per schema on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,

    /// A database that tests may write to, instead of a server that isobath starts.
    #[arg(long, value_name = "URL")]
    pub test_db: Vec<String>,

    /// Say only what went wrong.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Engines by the names of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// No database: our own verdicts, by the rules of the input's dialect.
    None,
    /// SQLite, embedded.
    Sqlite,
    /// PostgreSQL.
    #[value(alias = "postgresql", alias = "pg")]
    Postgres,
    /// MariaDB.
    #[value(alias = "mysql")]
    Mariadb,
}

/// Sets of mutation operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operators {
    /// The 14 of the paper.
    Paper,
    /// Those, and constants, bounds, connectives, types, lengths, actions and defaults.
    All,
}
