//! Pairs the commands of a client with the responses of the server.
//!
//! Commands are packets with the number 0; they are answered in their order. What an answer looks
//! like depends on the command, and on what client and server agreed on at the beginning.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use isobath_sql::DialectName::MySql;

use super::packets::{Packet, Packets};
use super::value::{Kind, Values};
use super::{failure, greeting};
use crate::tap::reader::Reader;
use crate::tap::record::{self, Recorded, text};
use crate::tap::{ENCRYPTED, Forwarded, LONGEST, Observed};

/// Prepared statements of one connection that are remembered.
const STATEMENTS: usize = 10_000;
/// What is kept of a packet of the server: enough for any message.
const ANSWER: usize = 4096;
/// The longest greeting.
const GREETING: usize = 1024;
/// Further results follow.
const MORE: u64 = 8;
/// Rows are to be fetched by a command of their own.
const CURSOR: u64 = 64;
/// Stands for the statement that was prepared last.
const LAST: u32 = u32::MAX;
/// What the user should know when a client does not log in.
const LEFT: &str = "a client left without logging in; if it insists on TLS, switch that off for the test database (ssl-mode=DISABLED, sslMode=DISABLED, useSSL=false)";

/// A connection between a client and a MySQL or MariaDB server.
#[derive(Debug, Default)]
pub(in crate::tap) struct Session {
    phase: Phase,
    greeting: Vec<u8>,
    /// What the server offered, then what the client took of it.
    agreed: u64,
    client: Packets,
    server: Packets,
    prepared: HashMap<u32, PreparedStatement>,
    last: Option<u32>,
    asked: VecDeque<Asked>,
    /// Whether the client sends a file.
    sends_file: bool,
    observed: Observed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The server speaks first.
    #[default]
    Greeting,
    /// The client is to log in.
    Hello,
    /// The login continues.
    Login,
    Commands,
    Unseen,
}

/// A prepared statement.
#[derive(Clone, Debug)]
struct PreparedStatement {
    text: Arc<str>,
    parameters: usize,
    /// As they were sent last.
    kinds: Arc<[Kind]>,
    long: BTreeMap<u16, Vec<u8>>,
    /// Executed, with rows to be fetched.
    cursor: Option<Recorded>,
}

/// What waits for an answer.
#[derive(Debug)]
enum Asked {
    /// One packet, whatever it is.
    Simple,
    /// A login in the middle of a connection.
    ChangeUser,
    /// Descriptions of columns up to an end.
    Columns,
    /// A statement to prepare.
    Prepare { text: Arc<str>, stamp: u64 },
    /// Descriptions of parameters and columns of a prepared statement.
    Described { left: usize },
    /// Statements to run.
    Run {
        statement: Box<Recorded>,
        /// The prepared statement, if it is one.
        id: Option<u32>,
        stage: Stage,
        returned: u64,
    },
    /// Rows of a statement that ran before.
    Fetch { id: u32, returned: u64 },
}

/// How much of an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing.
    First,
    /// So many columns are still to be described.
    Columns(u64),
    /// The end of the columns is to come.
    EndOfColumns,
    /// Rows.
    Rows,
}

impl super::super::Session for Session {
    fn on_client_bytes(&mut self, bytes: &[u8], stamp: u64) -> Forwarded {
        if !matches!(self.phase, Phase::Greeting | Phase::Unseen) {
            let mut packets = std::mem::take(&mut self.client);
            packets.feed(bytes, LONGEST, |packet| {
                if self.ask(packet, stamp).is_none() {
                    self.observed.not_understood += 1;
                }
            });
            self.client = packets;
        }
        Forwarded::default()
    }

    fn on_server_bytes(&mut self, bytes: &[u8]) -> Forwarded {
        match self.phase {
            Phase::Unseen => Forwarded::default(),
            Phase::Greeting => self.greet(bytes),
            Phase::Hello | Phase::Login | Phase::Commands => {
                self.hear_server(bytes);
                Forwarded::default()
            }
        }
    }

    fn drain_into(&mut self, observed: &mut Observed) {
        observed.statements.append(&mut self.observed.statements);
        observed.warnings.append(&mut self.observed.warnings);
        observed.not_understood += std::mem::take(&mut self.observed.not_understood);
    }

    fn unanswered(&self) -> Vec<Recorded> {
        let asked = self.asked.iter();
        asked
            .filter_map(|asked| match asked {
                Asked::Run { statement, .. } => Some(Recorded::clone(statement)),
                // A table that is locked lets nobody even prepare.
                Asked::Prepare { text, stamp } => {
                    Some(Recorded::new(MySql, Arc::clone(text), *stamp))
                }
                _ => None,
            })
            .collect()
    }

    fn client_left(&mut self) {
        if self.phase == Phase::Hello {
            self.observed.warnings.push(LEFT.to_owned());
        }
    }

    fn unavailable_reply(&mut self, why: &str) -> Option<Vec<u8>> {
        Some(failure::fatal(why))
    }
}

impl Session {
    fn give_up(&mut self) {
        self.phase = Phase::Unseen;
        self.observed.not_understood += 1;
        self.asked.clear();
    }

    /// Holds the greeting back until it is whole, and takes out what we could not read.
    fn greet(&mut self, bytes: &[u8]) -> Forwarded {
        self.greeting.extend_from_slice(bytes);
        let mut whole = None;
        if let Some(&[a, b, c, _]) = self.greeting.first_chunk() {
            let length = 4 + u32::from_le_bytes([a, b, c, 0]) as usize;
            if length > GREETING {
                self.give_up();
                whole = Some(self.greeting.len());
            } else if let Some(body) = self.greeting.get_mut(4..length) {
                match greeting::adapt(body) {
                    Some(offer) if offer & greeting::PROTOCOL_41 != 0 => {
                        self.agreed = offer;
                        self.phase = Phase::Hello;
                    }
                    // A server that refuses the connection says so in its greeting.
                    None if body.first() == Some(&0xff) => {
                        self.phase = Phase::Unseen;
                    }
                    _ => self.give_up(),
                }
                whole = Some(length);
            }
        }
        let forward = match whole {
            None => Vec::new(),
            Some(length) => {
                let all = std::mem::take(&mut self.greeting);
                if self.phase == Phase::Hello {
                    self.hear_server(all.get(length..).unwrap_or_default());
                }
                all
            }
        };
        Forwarded {
            forward: Some(forward),
            back: Vec::new(),
        }
    }

    fn hear_server(&mut self, bytes: &[u8]) {
        let mut packets = std::mem::take(&mut self.server);
        packets.feed(bytes, ANSWER, |packet| {
            if self.answer(packet).is_none() {
                self.observed.not_understood += 1;
            }
        });
        self.server = packets;
    }

    /// Takes a packet of the client; `None` if it is not as it should be.
    fn ask(&mut self, packet: Packet<'_>, stamp: u64) -> Option<()> {
        match self.phase {
            Phase::Hello => return self.log_in(packet),
            Phase::Commands if packet.number == 0 && !self.sends_file => {}
            Phase::Commands if self.sends_file => {
                // An empty packet ends the file.
                self.sends_file = packet.length > 0;
                return Some(());
            }
            // Passwords, at the beginning or for another user.
            _ => return Some(()),
        }
        let (&command, rest) = packet.body.split_first()?;
        let mut reader = Reader(rest);
        let asked = match command {
            // Farewell, and a statement that is not needed any more: not answered.
            0x01 => return Some(()),
            0x19 => {
                self.prepared.remove(&(reader.number(4)? as u32));
                return Some(());
            }
            0x18 => return self.long_data(reader),
            0x03 => Asked::Run {
                statement: Box::new(Recorded {
                    part: Some(0),
                    ..Recorded::new(MySql, text(rest, packet.is_cut()), stamp)
                }),
                id: None,
                stage: Stage::First,
                returned: 0,
            },
            0x16 => Asked::Prepare {
                text: text(rest, packet.is_cut()),
                stamp,
            },
            0x17 => self.execute(reader, stamp)?,
            0x1c => Asked::Fetch {
                id: reader.number(4)? as u32,
                returned: 0,
            },
            0x04 => Asked::Columns,
            // A list of what the server does: rows, but of no statement.
            0x0a => Asked::Run {
                statement: Box::new(Recorded::new(MySql, Arc::from("SHOW PROCESSLIST"), stamp)),
                id: None,
                stage: Stage::First,
                returned: 0,
            },
            0x11 => {
                self.prepared.clear();
                Asked::ChangeUser
            }
            0x1f => {
                self.prepared.clear();
                Asked::Simple
            }
            0x1a => {
                let id = reader.number(4)? as u32;
                if let Some(prepared) = self.prepared.get_mut(&id) {
                    prepared.long.clear();
                    prepared.cursor = None;
                }
                Asked::Simple
            }
            // Database, refresh, shutdown, statistics, kill, debug, ping, time, options.
            0x02 | 0x05..=0x09 | 0x0c..=0x0f | 0x1b => Asked::Simple,
            // Replication, and whatever comes after our time: answers of any shape.
            _ => {
                self.phase = Phase::Unseen;
                return None;
            }
        };
        self.asked.push_back(asked);
        Some(())
    }

    /// What the client takes of the offer.
    fn log_in(&mut self, packet: Packet<'_>) -> Option<()> {
        let taken = Reader(packet.body).number(4);
        let Some(taken) = taken.filter(|taken| taken & greeting::PROTOCOL_41 != 0) else {
            self.phase = Phase::Unseen;
            return None;
        };
        if taken & (greeting::SSL | greeting::COMPRESS) != 0 {
            // It was not offered, and it is taken: from here on nothing can be read.
            self.phase = Phase::Unseen;
            self.observed.warnings.push(ENCRYPTED.to_owned());
            return None;
        }
        self.agreed &= taken;
        self.phase = Phase::Login;
        Some(())
    }

    fn long_data(&mut self, mut reader: Reader<'_>) -> Option<()> {
        let id = reader.number(4)? as u32;
        let number = reader.number(2)? as u16;
        let id = if id == LAST { self.last? } else { id };
        let long = self.prepared.get_mut(&id)?.long.entry(number).or_default();
        let room = LONGEST.saturating_sub(long.len());
        long.extend_from_slice(reader.0.get(..room).unwrap_or(reader.0));
        Some(())
    }

    fn execute(&mut self, mut reader: Reader<'_>, stamp: u64) -> Option<Asked> {
        let id = reader.number(4)? as u32;
        // Flags, and a count that is always 1.
        reader.take(5)?;
        let id = if id == LAST {
            self.last.unwrap_or(LAST)
        } else {
            id
        };
        let statement = match self.prepared.get_mut(&id) {
            Some(prepared) => {
                let values = prepared.bind(reader);
                Recorded {
                    values: values.map_or(record::Values::None, record::Values::MySql),
                    ..Recorded::new(MySql, Arc::clone(&prepared.text), stamp)
                }
            }
            None => {
                self.observed.not_understood += 1;
                Recorded::new(MySql, Arc::from("…"), stamp)
            }
        };
        Some(Asked::Run {
            statement: Box::new(statement),
            id: Some(id),
            stage: Stage::First,
            returned: 0,
        })
    }

    /// Takes a packet of the server; `None` if it is not as it should be.
    fn answer(&mut self, packet: Packet<'_>) -> Option<()> {
        let (&first, rest) = packet.body.split_first()?;
        if self.phase != Phase::Commands {
            if first == 0 && self.phase == Phase::Login {
                self.phase = Phase::Commands;
            }
            return Some(());
        }
        let ends_early = self.agreed & greeting::DEPRECATE_EOF != 0;
        let is_end = first == 0xfe && packet.length < if ends_early { 0xff_ffff } else { 9 };
        let is_error = first == 0xff;
        let asked = self.asked.front_mut()?;
        let is_done = match asked {
            Asked::Simple => true,
            Asked::ChangeUser => first == 0 || is_error,
            Asked::Columns => is_end || is_error,
            Asked::Described { left } => {
                *left -= 1;
                *left == 0
            }
            Asked::Prepare { text, stamp } if is_error => {
                self.observed.statements.push(Recorded {
                    failure: Some(failure::read(packet.body)),
                    ..Recorded::new(MySql, Arc::clone(text), *stamp)
                });
                true
            }
            Asked::Prepare { text, .. } => {
                let mut reader = Reader(rest);
                let id = reader.number(4)? as u32;
                let columns = reader.number(2)? as usize;
                let parameters = reader.number(2)? as usize;
                let prepared = PreparedStatement {
                    text: Arc::clone(text),
                    parameters,
                    kinds: Arc::default(),
                    long: BTreeMap::new(),
                    cursor: None,
                };
                if self.prepared.len() < STATEMENTS {
                    self.prepared.insert(id, prepared);
                    self.last = Some(id);
                }
                let end = |count: usize| count + usize::from(count > 0 && !ends_early);
                let left = end(parameters) + end(columns);
                *asked = Asked::Described { left };
                left == 0
            }
            Asked::Fetch { id, returned } => {
                if !is_end && !is_error {
                    *returned += 1;
                } else if let Some(prepared) = self.prepared.get_mut(id)
                    && let Some(cursor) = prepared.cursor.take()
                {
                    self.observed.statements.push(Recorded {
                        returned: Some(*returned),
                        failure: is_error.then(|| failure::read(packet.body)),
                        ..cursor
                    });
                }
                is_end || is_error
            }
            Asked::Run { .. } => self.result(packet)?,
        };
        if is_done {
            self.asked.pop_front();
        }
        Some(())
    }

    /// Takes a packet of the response to statements; says whether it is the last.
    fn result(&mut self, packet: Packet<'_>) -> Option<bool> {
        let (&first, rest) = packet.body.split_first()?;
        let ends_early = self.agreed & greeting::DEPRECATE_EOF != 0;
        let is_end = first == 0xfe && packet.length < if ends_early { 0xff_ffff } else { 9 };
        let Some(Asked::Run {
            statement,
            id,
            stage,
            returned,
        }) = self.asked.front_mut()
        else {
            return None;
        };
        if first == 0xff {
            self.observed.statements.push(Recorded {
                failure: Some(failure::read(packet.body)),
                ..Recorded::clone(statement)
            });
            return Some(true);
        }
        let mut reader = Reader(rest);
        let status = match *stage {
            Stage::First => match first {
                0x00 => {
                    let affected = reader.length()?;
                    reader.length()?;
                    let status = reader.number(2)?;
                    self.observed.statements.push(Recorded {
                        affected: Some(affected),
                        ..Recorded::clone(statement)
                    });
                    status
                }
                0xfb => {
                    self.sends_file = true;
                    return Some(false);
                }
                _ => {
                    *stage = Stage::Columns(Reader(packet.body).length()?);
                    return Some(false);
                }
            },
            Stage::Columns(left) => {
                *stage = match left {
                    2.. => Stage::Columns(left - 1),
                    _ if ends_early => Stage::Rows,
                    _ => Stage::EndOfColumns,
                };
                return Some(false);
            }
            Stage::EndOfColumns | Stage::Rows if is_end => {
                let status = if ends_early {
                    reader.length()?;
                    reader.length()?;
                    reader.number(2)?
                } else {
                    reader.take(2)?;
                    reader.number(2)?
                };
                let has_cursor = status & CURSOR != 0 && *returned == 0;
                if has_cursor && let Some(prepared) = id.and_then(|id| self.prepared.get_mut(&id)) {
                    prepared.cursor = Some(Recorded::clone(statement));
                    return Some(true);
                }
                if *stage == Stage::EndOfColumns {
                    *stage = Stage::Rows;
                    return Some(false);
                }
                self.observed.statements.push(Recorded {
                    returned: Some(*returned),
                    ..Recorded::clone(statement)
                });
                status
            }
            Stage::EndOfColumns => return None,
            Stage::Rows => {
                *returned += 1;
                return Some(false);
            }
        };
        *stage = Stage::First;
        *returned = 0;
        statement.part = statement.part.map(|part| part + 1);
        Some(status & MORE == 0)
    }
}

impl PreparedStatement {
    /// The values of a command to execute, after its head.
    fn bind(&mut self, mut reader: Reader<'_>) -> Option<Values> {
        let long = Arc::new(std::mem::take(&mut self.long));
        if self.parameters == 0 {
            return None;
        }
        let nulls = reader.take(self.parameters.div_ceil(8))?;
        if reader.number(1)? == 1 {
            let kinds = (0..self.parameters).map(|_| {
                let [kind, flags] = reader.array()?;
                Some((kind, flags & 0x80 != 0))
            });
            self.kinds = kinds.collect::<Option<_>>()?;
        }
        Some(Values {
            kinds: Arc::clone(&self.kinds),
            nulls: nulls.into(),
            bound: reader.0.into(),
            long,
        })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
