//! A driver that is connected.

use std::time::Duration;

use isobath_protocol::{
    ChannelError, Command, Event, Map, MapError, Reached, Table, VERSION, channel,
};

use super::stream::Stream;

/// How long a driver may take to tell its events.
const PATIENCE: Duration = Duration::from_secs(10);

/// A driver inside a running service.
#[derive(Debug)]
pub struct Driver {
    stream: Stream,
    map: Map,
    table: Table,
    unwatched: Vec<String>,
    language: String,
    process: u32,
    token: u64,
    request: u32,
}

/// What a statement returned: rows of texts.
pub type Rows = Vec<Vec<Option<String>>>;

impl Driver {
    pub(super) fn new(
        stream: Stream,
        map: Map,
        table: Table,
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
        }
    }

    /// The targets of the service.
    pub fn table(&self) -> &Table {
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
    pub fn read(&self, reached: &mut Vec<Reached>) {
        self.map.read(reached);
    }

    /// Tracks these values besides the markers, until the next call.
    ///
    /// # Errors
    ///
    /// When the service is gone.
    pub fn track(&mut self, inputs: Vec<String>) -> Result<(), DriverError> {
        Ok(channel::send(&mut self.stream, &Command::Track { inputs })?)
    }

    /// All events since the last call, in order.
    ///
    /// # Errors
    ///
    /// When the service is gone or does not answer. What it said before is lost here; a
    /// panic can still be had from [`Driver::last_events`].
    pub fn events(&mut self) -> Result<Vec<Event>, DriverError> {
        self.token += 1;
        let token = self.token;
        channel::send(&mut self.stream, &Command::Sync { token })?;
        self.until(|event| matches!(event, Event::Synced { token: t } if *t == token))
            .map(|(events, _)| events)
    }

    /// Runs SQL on the connection of the service, where its driver can.
    ///
    /// # Errors
    ///
    /// When the service is gone, or its driver or database refuses. Events that
    /// come before the answer are dropped.
    pub fn run_sql(&mut self, text: &str) -> Result<Rows, DriverError> {
        self.request += 1;
        let request = self.request;
        let command = Command::RunSql {
            request,
            text: text.to_owned(),
        };
        channel::send(&mut self.stream, &command)?;
        self.answer(request)
    }

    /// Asks the service to go back to its first state, where its driver can.
    ///
    /// # Errors
    ///
    /// When the service is gone, or its driver refuses. Events that come before the
    /// answer are dropped.
    pub fn reset(&mut self) -> Result<(), DriverError> {
        self.request += 1;
        let request = self.request;
        channel::send(&mut self.stream, &Command::Reset { request })?;
        self.answer(request).map(drop)
    }

    fn answer(&mut self, request: u32) -> Result<Rows, DriverError> {
        let answers =
            |event: &Event| matches!(event, Event::Answer { request: r, .. } if *r == request);
        match self.until(answers)?.1 {
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
        let mut events = Vec::new();
        // Whoever holds the other end without being the service must not hold us.
        let _ = self.stream.set_read_timeout(Duration::from_millis(200));
        while let Ok(event) = channel::receive(&mut self.stream) {
            events.push(event);
        }
        events
    }

    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Result<(Vec<Event>, Event), DriverError> {
        self.stream
            .set_read_timeout(PATIENCE)
            .map_err(|error| DriverError::Channel(error.into()))?;
        let mut events = Vec::new();
        loop {
            match channel::receive(&mut self.stream)? {
                event if last(&event) => return Ok((events, event)),
                Event::Targets { targets } => self.table.extend(targets),
                Event::Unwatched { name, reason } => {
                    self.unwatched.push(format!("{name}: {reason}"));
                }
                event => events.push(event),
            }
        }
    }
}

/// Why a driver cannot be used, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// None connected.
    #[error(
        "no driver connected within {} s; was the service built instrumented, and did it start?", .0.as_secs()
    )]
    Absent(Duration),
    /// It speaks another version.
    #[error(
        "`{driver}` speaks version {version} of the protocol, we speak {VERSION}; build the service again"
    )]
    Version {
        /// What it calls itself.
        driver: String,
        /// Its version.
        version: u32,
    },
    /// It does not know the token that whoever is started here finds in its environment.
    #[error("somebody connected who does not know the token")]
    Stranger,
    /// It said something that has no place there.
    #[error("the driver sent {0}; build the service again with this release")]
    Unexpected(&'static str),
    /// It does not do what it was asked for.
    #[error("the driver refused: {0}")]
    Refused(String),
    /// The connection is of no use any more; most often the service has ended.
    #[error("the service or its driver is gone: {0}")]
    Channel(#[from] ChannelError),
    /// There is no shared memory.
    #[error(transparent)]
    Map(#[from] MapError),
}
