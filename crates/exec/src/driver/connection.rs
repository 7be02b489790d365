//! A connected driver.

use std::time::Duration;

use isobath_protocol::{
    ChannelError, Command, CoverageMap, Event, MapError, ReachedTarget, TargetTable, VERSION,
    channel,
};

use super::stream::Stream;

/// How long a driver may take to tell its events.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A driver inside a running service.
#[derive(Debug)]
pub struct Driver {
    stream: Stream,
    map: CoverageMap,
    table: TargetTable,
    unwatched: Vec<String>,
    language: String,
    process: u32,
    token: u64,
    request: u32,
    /// Events that came before the answer to a request, until they are asked for.
    pending: Vec<Event>,
    /// How many statements that may write were told so far, those included that were left out.
    writes: u64,
    /// The values that the driver tracks besides the markers; unknown after a reset, which may have made a new process.
    tracked: Option<Vec<String>>,
}

/// What a statement returned: rows of texts.
pub type TextRows = Vec<Vec<Option<String>>>;

impl Driver {
    pub(super) fn new(
        stream: Stream,
        map: CoverageMap,
        table: TargetTable,
        language: String,
        process: u32,
    ) -> Self {
        Self {
            stream,
            map,
            table,
            unwatched: Vec::new(),
            language,
            process,
            token: 0,
            request: 0,
            pending: Vec::new(),
            writes: 0,
            tracked: Some(Vec::new()),
        }
    }

    /// The targets of the service.
    pub fn table(&self) -> &TargetTable {
        &self.table
    }

    /// Parts of the service that are not watched, as far as the driver told, with the reasons.
    pub fn unwatched(&self) -> &[String] {
        &self.unwatched
    }

    /// The language that the service is written in.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// The process that the driver lives in.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Forgets all scores; what comes belongs to the next candidate, at its first action.
    pub fn begin_candidate(&self) {
        self.map.begin_candidate();
    }

    /// What comes from now on belongs to this action.
    pub fn begin_action(&self, action: u16) {
        self.map.begin_action(action);
    }

    /// Appends what was reached since the candidate began.
    pub fn read(&self, reached: &mut Vec<ReachedTarget>) {
        self.map.read(reached);
    }

    /// Tracks these values besides the markers, until the next call.
    ///
    /// # Errors
    ///
    /// When the service is unreachable.
    pub fn track(&mut self, inputs: Vec<String>) -> Result<(), DriverError> {
        // Most candidates have markers only, and each message wakes a thread of the service.
        if self.tracked.as_ref() != Some(&inputs) {
            self.tracked = Some(inputs.clone());
            channel::send(&mut self.stream, &Command::Track { inputs })?;
        }
        Ok(())
    }

    /// All events since the last call, in order.
    ///
    /// # Errors
    ///
    /// When the service is unreachable or does not answer. What it said before is lost here; a
    /// panic can still be had from [`Driver::last_events`].
    pub fn events(&mut self) -> Result<Vec<Event>, DriverError> {
        self.sync()?;
        Ok(std::mem::take(&mut self.pending))
    }

    /// Has all events so far told, which are kept for [`Driver::events`].
    fn sync(&mut self) -> Result<(), DriverError> {
        self.token += 1;
        let token = self.token;
        channel::send(&mut self.stream, &Command::Sync { token })?;
        self.until(|event| matches!(event, Event::Synced { token: t } if *t == token))?;
        Ok(())
    }

    /// Whether the service still answers; what it tells is kept for [`Driver::events`].
    pub(super) fn is_alive(&mut self) -> bool {
        self.sync().is_ok()
    }

    /// How many statements that are no SELECT the service has sent to its database so far; more only when it sent more.
    ///
    /// # Errors
    ///
    /// When the service is unreachable or does not answer.
    pub fn write_count(&mut self) -> Result<u64, DriverError> {
        self.sync()?;
        Ok(self.writes)
    }

    /// Runs SQL on the connection of the service, where its driver can.
    ///
    /// # Errors
    ///
    /// When the service is unreachable, or its driver or database refuses.
    pub fn run_sql(&mut self, text: &str) -> Result<TextRows, DriverError> {
        self.request += 1;
        let request = self.request;
        let command = Command::RunSql {
            request,
            text: text.to_owned(),
        };
        channel::send(&mut self.stream, &command)?;
        self.answer(request)
    }

    /// Asks the service to reset, where its driver can.
    ///
    /// # Errors
    ///
    /// When the service is unreachable, or its driver refuses.
    pub fn reset(&mut self) -> Result<(), DriverError> {
        self.request += 1;
        let request = self.request;
        self.tracked = None;
        channel::send(&mut self.stream, &Command::Reset { request })?;
        self.answer(request).map(drop)
    }

    /// The definitions of the tables of the service's database, where its driver can reach it: the database system,
    /// then statements of SQL.
    ///
    /// # Errors
    ///
    /// When the service is unreachable, or its driver refuses.
    pub fn describe(&mut self) -> Result<Vec<String>, DriverError> {
        self.request += 1;
        let request = self.request;
        channel::send(&mut self.stream, &Command::Describe { request })?;
        let rows = self.answer(request)?;
        Ok(rows.into_iter().flatten().flatten().collect())
    }

    fn answer(&mut self, request: u32) -> Result<TextRows, DriverError> {
        let answers =
            |event: &Event| matches!(event, Event::Answer { request: r, .. } if *r == request);
        match self.until(answers)? {
            Event::Answer {
                failure: Some(failure),
                ..
            } => Err(DriverError::Refused(failure)),
            Event::Answer { rows, .. } => Ok(rows),
            _ => Err(DriverError::Unexpected("no answer")),
        }
    }

    /// What a service that is gone has still said.
    pub fn last_events(mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.pending);
        // Whoever holds the other end without being the service must not hold us.
        let _ = self.stream.set_read_timeout(Duration::from_millis(200));
        while let Ok(event) = channel::receive(&mut self.stream) {
            events.push(event);
        }
        events
    }

    /// Takes events in until one of them is the last.
    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Result<Event, DriverError> {
        self.stream
            .set_read_timeout(TIMEOUT)
            .map_err(|error| DriverError::Channel(error.into()))?;
        loop {
            match channel::receive(&mut self.stream)? {
                event if last(&event) => return Ok(event),
                Event::Targets { targets } => self.table.extend(targets),
                Event::Unwatched { name, reason } => {
                    self.unwatched.push(format!("{name}: {reason}"));
                }
                event => {
                    match &event {
                        Event::Statement { text, .. } if !is_select(text) => self.writes += 1,
                        Event::Dropped { .. } => self.writes += 1,
                        _ => {}
                    }
                    self.pending.push(event);
                }
            }
        }
    }
}

fn is_select(text: &str) -> bool {
    let start = text.trim_start().as_bytes();
    start
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"select"))
}

/// Why a driver cannot be used, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// None connected.
    #[error(
        "no driver connected within {} s; check that the service is instrumented and that it started", .0.as_secs()
    )]
    Absent(Duration),
    /// It speaks another version.
    #[error("`{driver}` uses protocol version {version}, expected {VERSION}; rebuild the service")]
    Version {
        /// What it calls itself.
        driver: String,
        /// Its version.
        version: u32,
    },
    /// It does not know the token that whoever is started here finds in its environment.
    #[error("a process connected to the driver port without the expected token")]
    Stranger,
    /// It said something that has no place there.
    #[error("unexpected message from the driver: {0}; rebuild the service with this release")]
    Unexpected(&'static str),
    /// It does not do what it was asked for.
    #[error("the driver rejected the command: {0}")]
    Refused(String),
    /// The connection is of no use any more; most often the service has ended.
    #[error("lost the connection to the driver: {0}")]
    Channel(#[from] ChannelError),
    /// There is no shared memory.
    #[error(transparent)]
    CoverageMap(#[from] MapError),
}
