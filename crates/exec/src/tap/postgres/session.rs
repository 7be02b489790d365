//! Pairs the messages of a client with the responses of the server.
//!
//! A client may send many messages before it reads an answer, so what is asked waits in a queue. The
//! server answers in order; after an error it skips everything up to the next Sync, and so does the
//! queue. Where an answer does not fit, the queue is searched for the question that it fits, so that
//! what is not understood here does not spoil what follows.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use isobath_sql::DialectName::Postgres;

use super::failure;
use super::frames::{Frames, Message};
use super::startup::{Start, Startup};
use super::value::Values;
use crate::database::Refusal;
use crate::tap::reader::Reader;
use crate::tap::record::{self, Recorded, text};
use crate::tap::{ENCRYPTED, Forwarded, Observed, WANTS_ENCRYPTION};

/// Prepared statements and portals of one connection that are remembered.
const NAMES: usize = 10_000;

/// A connection between a client and a PostgreSQL server.
#[derive(Debug, Default)]
pub(in crate::tap) struct Session {
    phase: Phase,
    startup: Startup,
    client: Frames,
    server: Frames,
    prepared: HashMap<Box<[u8]>, PreparedStatement>,
    portals: HashMap<Box<[u8]>, Portal>,
    asked: VecDeque<Asked>,
    /// Whether the client sends rows.
    copying: bool,
    observed: Observed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Startup,
    Messages,
    Unseen,
}

/// A prepared statement.
#[derive(Clone, Debug)]
struct PreparedStatement {
    text: Arc<str>,
    types: Arc<[u32]>,
}

/// A prepared statement with its values.
#[derive(Clone, Debug)]
struct Portal {
    statement: Box<[u8]>,
    prepared: PreparedStatement,
    bound: Arc<[u8]>,
    /// Whether rows were fetched from it before.
    was_fetched: bool,
}

/// What waits for an answer.
#[derive(Debug)]
enum Asked {
    Parse {
        name: Box<[u8]>,
        before: Option<PreparedStatement>,
        text: Arc<str>,
        stamp: u64,
    },
    Bind {
        name: Box<[u8]>,
        before: Option<Portal>,
        portal: Option<Portal>,
        stamp: u64,
    },
    DescribeStatement(Box<[u8]>),
    DescribePortal,
    Close,
    Execute {
        name: Box<[u8]>,
        portal: Option<Portal>,
        returned: u64,
        stamp: u64,
    },
    Query {
        text: Arc<str>,
        /// How many of its statements were answered.
        part: usize,
        returned: u64,
        stamp: u64,
    },
    Function,
    Sync,
}

impl Asked {
    /// Whether ReadyForQuery answers it.
    fn is_ready_awaited(&self) -> bool {
        matches!(self, Self::Query { .. } | Self::Function | Self::Sync)
    }
}

impl super::super::Session for Session {
    fn on_client_bytes(&mut self, bytes: &[u8], stamp: u64) -> Forwarded {
        match self.phase {
            Phase::Unseen => Forwarded::default(),
            Phase::Messages => {
                self.hear_client(bytes, stamp);
                Forwarded::default()
            }
            Phase::Startup => {
                let (start, passed) = self.startup.feed(bytes);
                match start {
                    Start::Unfinished => {}
                    Start::Messages(length) => {
                        self.phase = Phase::Messages;
                        let forward = passed.forward.as_deref().unwrap_or_default();
                        self.hear_client(forward.get(length..).unwrap_or_default(), stamp);
                    }
                    Start::Unseen { encrypted, strange } => {
                        self.phase = Phase::Unseen;
                        self.observed.not_understood += u64::from(strange);
                        if encrypted {
                            self.observed.warnings.push(ENCRYPTED.to_owned());
                        }
                    }
                }
                passed
            }
        }
    }

    fn on_server_bytes(&mut self, bytes: &[u8]) -> Forwarded {
        if self.phase == Phase::Messages {
            let mut frames = std::mem::take(&mut self.server);
            let observed = frames.feed(
                bytes,
                |kind| b"tCEZ".contains(&kind),
                |message| {
                    self.answer(message);
                },
            );
            self.server = frames;
            if observed.is_err() {
                self.give_up();
            }
        }
        Forwarded::default()
    }

    fn drain_into(&mut self, observed: &mut Observed) {
        observed.statements.append(&mut self.observed.statements);
        observed.warnings.append(&mut self.observed.warnings);
        observed.not_understood += std::mem::take(&mut self.observed.not_understood);
    }

    fn unanswered(&self) -> Vec<Recorded> {
        let mut statements = Vec::new();
        // A table that is locked lets nobody even prepare.
        let mut preparing = None;
        for asked in &self.asked {
            match asked {
                Asked::Parse { text, stamp, .. } => {
                    preparing = Some(Recorded::new(Postgres, Arc::clone(text), *stamp));
                }
                Asked::Execute { portal, stamp, .. } => {
                    let portal = portal.as_ref();
                    statements.extend(portal.map(|portal| self.portal(portal, *stamp)));
                    preparing = None;
                }
                Asked::Query {
                    text, part, stamp, ..
                } => statements.push(Recorded {
                    part: Some(*part),
                    ..Recorded::new(Postgres, Arc::clone(text), *stamp)
                }),
                Asked::Sync => statements.extend(preparing.take()),
                Asked::Bind { .. }
                | Asked::DescribeStatement(_)
                | Asked::DescribePortal
                | Asked::Close
                | Asked::Function => {}
            }
        }
        statements.extend(preparing);
        statements
    }

    fn client_left(&mut self) {
        if self.phase == Phase::Startup && self.startup.asked_for_tls {
            self.observed.warnings.push(WANTS_ENCRYPTION.to_owned());
        }
    }

    fn unavailable_reply(&mut self, why: &str) -> Option<Vec<u8>> {
        (self.phase != Phase::Startup).then(|| failure::fatal(why))
    }
}

impl Session {
    fn give_up(&mut self) {
        self.phase = Phase::Unseen;
        self.observed.not_understood += 1;
        self.asked.clear();
    }

    fn hear_client(&mut self, bytes: &[u8], stamp: u64) {
        let mut frames = std::mem::take(&mut self.client);
        let observed = frames.feed(
            bytes,
            |kind| b"PBDCEQ".contains(&kind),
            |message| {
                if self.ask(message, stamp).is_none() {
                    self.observed.not_understood += 1;
                }
            },
        );
        self.client = frames;
        if observed.is_err() {
            self.give_up();
        }
    }

    /// Takes a message of the client; `None` if it is not as it should be.
    fn ask(&mut self, message: Message<'_>, stamp: u64) -> Option<()> {
        let mut reader = Reader(message.body);
        let asked = match message.kind {
            b'Q' => Asked::Query {
                text: text(reader.text_or_rest(), message.is_cut),
                part: 0,
                returned: 0,
                stamp,
            },
            b'P' => self.parse(reader, message.is_cut, stamp)?,
            b'B' => self.bind(reader, stamp)?,
            b'D' => match reader.byte()? {
                b'S' => Asked::DescribeStatement(reader.text()?.into()),
                _ => Asked::DescribePortal,
            },
            b'C' => {
                let kind = reader.byte()?;
                let name = reader.text()?;
                if kind == b'S' {
                    self.prepared.remove(name);
                } else {
                    self.portals.remove(name);
                }
                Asked::Close
            }
            b'E' => {
                let name = reader.text()?;
                Asked::Execute {
                    portal: self.portals.get(name).cloned(),
                    name: name.into(),
                    returned: 0,
                    stamp,
                }
            }
            b'F' => Asked::Function,
            b'S' if self.copying => return Some(()),
            b'S' => Asked::Sync,
            b'c' | b'f' => {
                self.copying = false;
                return Some(());
            }
            // Flush, rows, passwords, farewell.
            b'H' | b'd' | b'p' | b'X' => return Some(()),
            _ => return None,
        };
        self.asked.push_back(asked);
        Some(())
    }

    fn parse(&mut self, mut reader: Reader<'_>, is_cut: bool, stamp: u64) -> Option<Asked> {
        let name: Box<[u8]> = reader.text()?.into();
        let text = text(reader.text_or_rest(), is_cut);
        let prepared = PreparedStatement {
            text: Arc::clone(&text),
            types: reader.types(),
        };
        let before = if self.prepared.len() < NAMES || self.prepared.contains_key(&name) {
            self.prepared.insert(name.clone(), prepared)
        } else {
            None
        };
        Some(Asked::Parse {
            name,
            before,
            text,
            stamp,
        })
    }

    fn bind(&mut self, mut reader: Reader<'_>, stamp: u64) -> Option<Asked> {
        let name: Box<[u8]> = reader.text()?.into();
        let statement = reader.text()?;
        let portal = self.prepared.get(statement).map(|prepared| Portal {
            statement: statement.into(),
            prepared: prepared.clone(),
            bound: reader.0.into(),
            was_fetched: false,
        });
        let before = match &portal {
            Some(portal) if self.portals.len() < NAMES || self.portals.contains_key(&name) => {
                self.portals.insert(name.clone(), portal.clone())
            }
            _ => self.portals.remove(&name),
        };
        Some(Asked::Bind {
            name,
            before,
            portal,
            stamp,
        })
    }

    /// Takes a message of the server.
    fn answer(&mut self, message: Message<'_>) {
        match message.kind {
            b'D' => match self.asked.front_mut() {
                Some(Asked::Execute { returned, .. } | Asked::Query { returned, .. }) => {
                    *returned += 1;
                }
                _ => self.observed.not_understood += 1,
            },
            b'C' => self.complete(message.body),
            b's' => self.suspend(),
            b'I' => {
                if !matches!(self.asked.front(), Some(Asked::Query { .. })) {
                    self.answered(|asked| matches!(asked, Asked::Execute { .. }));
                }
            }
            b'E' => self.fail(&failure::read(message.body)),
            b'Z' => {
                while let Some(asked) = self.asked.pop_front() {
                    if asked.is_ready_awaited() {
                        break;
                    }
                }
                // Portals end with their transactions.
                if self.asked.is_empty() && message.body == b"I" {
                    self.portals.clear();
                }
            }
            b't' => self.learn_types(message.body),
            b'1' => drop(self.answered(|asked| matches!(asked, Asked::Parse { .. }))),
            b'2' => drop(self.answered(|asked| matches!(asked, Asked::Bind { .. }))),
            b'3' => drop(self.answered(|asked| matches!(asked, Asked::Close))),
            b'T' | b'n' => {
                // Of a simple query it announces rows, and answers nothing.
                if !matches!(self.asked.front(), Some(Asked::Query { .. })) {
                    self.answered(|asked| {
                        matches!(asked, Asked::DescribeStatement(_) | Asked::DescribePortal)
                    });
                }
            }
            b'G' => {
                self.copying = true;
                // A Sync that the server meets among rows is not answered.
                while matches!(self.asked.get(1), Some(Asked::Sync)) {
                    self.asked.remove(1);
                }
            }
            // Logins, keys, settings, notices, notifications, rows of COPY, results of functions.
            b'R' | b'K' | b'S' | b'N' | b'A' | b'H' | b'W' | b'd' | b'c' | b'V' | b'v' => {}
            _ => self.observed.not_understood += 1,
        }
    }

    /// Takes the first question of a kind from the queue, and those before it, which were not answered as expected.
    fn answered(&mut self, fits: impl Fn(&Asked) -> bool) -> Option<Asked> {
        let position = self.asked.iter().position(fits);
        let Some(position) = position else {
            self.observed.not_understood += 1;
            return None;
        };
        self.observed.not_understood += position as u64;
        self.asked.drain(..position);
        self.asked.pop_front()
    }

    fn complete(&mut self, tag: &[u8]) {
        let tag = String::from_utf8_lossy(tag.strip_suffix(b"\0").unwrap_or(tag)).into_owned();
        if let Some(Asked::Query {
            text,
            part,
            returned,
            stamp,
        }) = self.asked.front_mut()
        {
            let recorded = Recorded {
                part: Some(*part),
                ..Recorded::new(Postgres, Arc::clone(text), *stamp)
            };
            let statement = counted(recorded, *returned, &tag);
            *part += 1;
            *returned = 0;
            self.observed.statements.push(statement);
            return;
        }
        let asked = self.answered(|asked| matches!(asked, Asked::Execute { .. }));
        if let Some(Asked::Execute {
            portal: Some(portal),
            returned,
            stamp,
            ..
        }) = asked
            && !portal.was_fetched
        {
            let statement = counted(self.portal(&portal, stamp), returned, &tag);
            self.observed.statements.push(statement);
        }
    }

    /// Some rows were fetched, and more may be. The statement is told now; what more is fetched is not told again.
    fn suspend(&mut self) {
        let asked = self.answered(|asked| matches!(asked, Asked::Execute { .. }));
        if let Some(Asked::Execute {
            name,
            portal: Some(portal),
            returned,
            stamp,
        }) = asked
            && !portal.was_fetched
        {
            let statement = Recorded {
                returned: Some(returned),
                ..self.portal(&portal, stamp)
            };
            self.observed.statements.push(statement);
            if let Some(portal) = self.portals.get_mut(&name) {
                portal.was_fetched = true;
            }
            for asked in &mut self.asked {
                if let Asked::Execute {
                    name: other,
                    portal: Some(portal),
                    ..
                } = asked
                    && *other == name
                {
                    portal.was_fetched = true;
                }
            }
        }
    }

    fn fail(&mut self, refusal: &Refusal) {
        let failed = |recorded: Recorded| Recorded {
            failure: Some(refusal.clone()),
            ..recorded
        };
        let statement = match self.asked.front() {
            Some(Asked::Query {
                text, part, stamp, ..
            }) => {
                let statement = failed(Recorded {
                    part: Some(*part),
                    ..Recorded::new(Postgres, Arc::clone(text), *stamp)
                });
                self.observed.statements.push(statement);
                return;
            }
            // Nobody asked: the server ends the connection.
            None | Some(Asked::Sync | Asked::Function) => return,
            Some(Asked::Parse { text, stamp, .. }) => {
                Some(Recorded::new(Postgres, Arc::clone(text), *stamp))
            }
            Some(Asked::Bind { portal, stamp, .. } | Asked::Execute { portal, stamp, .. }) => {
                portal.as_ref().map(|portal| self.portal(portal, *stamp))
            }
            Some(Asked::DescribeStatement(_) | Asked::DescribePortal | Asked::Close) => None,
        };
        self.observed.statements.extend(statement.map(failed));
        let sync = self
            .asked
            .iter()
            .position(|asked| matches!(asked, Asked::Sync));
        let skipped = self.asked.drain(..sync.unwrap_or(self.asked.len()));
        for asked in skipped.rev() {
            match asked {
                Asked::Parse { name, before, .. } => restore(&mut self.prepared, name, before),
                Asked::Bind { name, before, .. } => restore(&mut self.portals, name, before),
                _ => {}
            }
        }
    }

    fn learn_types(&mut self, body: &[u8]) {
        let Some(Asked::DescribeStatement(name)) = self.asked.front() else {
            self.observed.not_understood += 1;
            return;
        };
        if let Some(prepared) = self.prepared.get_mut(name) {
            prepared.types = Reader(body).types();
        }
    }

    /// A statement with its values.
    fn portal(&self, portal: &Portal, stamp: u64) -> Recorded {
        // Types may have become known after the values came.
        let now = self.prepared.get(&portal.statement);
        let prepared = now
            .filter(|now| Arc::ptr_eq(&now.text, &portal.prepared.text))
            .unwrap_or(&portal.prepared);
        Recorded {
            values: record::Values::Postgres(Values {
                types: Arc::clone(&prepared.types),
                bound: Arc::clone(&portal.bound),
            }),
            ..Recorded::new(Postgres, Arc::clone(&portal.prepared.text), stamp)
        }
    }
}

fn restore<T>(names: &mut HashMap<Box<[u8]>, T>, name: Box<[u8]>, before: Option<T>) {
    match before {
        Some(before) => names.insert(name, before),
        None => names.remove(&name),
    };
}

/// A statement with the rows that its tag tells of, such as `INSERT 0 1` or `SELECT 5`.
fn counted(recorded: Recorded, returned: u64, tag: &str) -> Recorded {
    let number = tag.rsplit(' ').next().and_then(|word| word.parse().ok());
    let selects = tag.starts_with("SELECT") || tag.starts_with("FETCH");
    // CREATE TABLE AS is tagged as what it reads, and returns nothing.
    let returns = returned > 0 || (selects && number == Some(0));
    Recorded {
        returned: returns.then_some(returned),
        affected: number.filter(|_| !(returns && selects)),
        ..recorded
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
