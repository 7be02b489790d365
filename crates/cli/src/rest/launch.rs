//! How one instance of the service is started, and how suites start it.
//!
//! It begins with what the user gave. Drivers, the SQL tap and mocks then add what the service needs to reach them; the flags
//! themselves never change.

use isobath_rest::report::SuiteSettings;

use super::args::RestArgs;
use super::instrumentation::ROW_PORT_VARIABLE;

/// Address, database, commands and environment of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LaunchPlan {
    /// Base URL.
    pub(super) url: Option<String>,
    /// URL of its test database.
    pub(super) database: Option<String>,
    /// Command that starts it.
    pub(super) start: Option<String>,
    /// Start command for suites, if it differs from `start`.
    pub(super) suite_start: Option<String>,
    /// Start command for suites that insert rows into an in-memory database of the service.
    pub(super) suite_start_with_rows: Option<String>,
    /// Start command of the service without its driver, for the verification of suites.
    pub(super) plain_start: Option<String>,
    /// Environment variables of the service.
    pub(super) variables: Vec<(String, String)>,
    /// Settings that redirect the service to each mock server.
    pub(super) mock_settings: Vec<Vec<String>>,
}

/// Command and environment variables of a service without its driver.
pub(super) type PlainService = (String, Vec<(String, String)>);

impl LaunchPlan {
    /// What the user gave.
    pub(super) fn new(args: &RestArgs) -> Self {
        Self {
            url: args.url.clone(),
            database: args.database.db.clone(),
            start: args.start.clone(),
            ..Self::default()
        }
    }

    /// The service without its driver; `with_rows` keeps what inserts rows into its in-memory database.
    pub(super) fn plain_service(&self, with_rows: bool) -> Option<PlainService> {
        let command = self.plain_start.clone()?;
        let is_for_rows = |name: &str| name == ROW_PORT_VARIABLE || name == "PYTHONPATH";
        let is_of_driver = |name: &str| name.starts_with("ISOBATH_") || name.starts_with("PYTHON");
        let variables = self.variables.iter();
        let kept =
            variables.filter(|(name, _)| !is_of_driver(name) || with_rows && is_for_rows(name));
        Some((command, kept.cloned().collect()))
    }

    /// How suites are made of the tests of this service.
    pub(super) fn suite_settings(&self, args: &RestArgs) -> SuiteSettings {
        SuiteSettings {
            start: self.start.clone(),
            suite_start: self.suite_start.clone(),
            suite_start_with_rows: self.suite_start_with_rows.clone(),
            no_state_assertions: args.database.no_state_assertions,
            inline_secrets: args.inline_secrets,
            mock_settings: self.mock_settings.clone(),
        }
    }
}
