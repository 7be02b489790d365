//! What is said on the control channel.
//!
//! The driver speaks first: `Hello`, its `Targets`, and `Ready`. The core makes
//! the map and answers `Welcome`. From then on the core begins candidates and
//! actions by storing their numbers in the map, and asks for the events so far
//! by `Sync`. The doc comments here are the text of `docs/protocol.md`.

use crate::target::Target;
use crate::wire::{names, records};

/// The version of the messages and of the map. Core and driver must have the same.
pub const VERSION: u32 = 1;

names! {
    /// How a tracked input was used.
    InputUse {
        /// It was compared with the arguments for equality; any of them would satisfy.
        1 => Equal,
        /// As Equal, letters in either case being the same.
        2 => EqualIgnoringCase,
        /// It should start with the argument.
        3 => StartsWith,
        /// It should end with the argument.
        4 => EndsWith,
        /// It should contain the argument.
        5 => Contains,
        /// It was matched against the regular expression in the argument.
        6 => Pattern,
        /// It was parsed as the type in the first argument (`i32`, `f64`, `bool`, `char`, `date`, `time`, `datetime`, `uuid`, `ip`, or a type of the language), in the format of the second if there is one.
        7 => Parsed,
        /// It was compared with the tracked input in the argument.
        8 => Same,
    }
}

names! {
    /// Where in a request a parameter was looked for.
    InputLocation {
        /// The query of the URL.
        1 => Query,
        /// A header.
        2 => Header,
        /// A cookie.
        3 => Cookie,
        /// A field of a JSON body.
        4 => Field,
        /// A field of a form.
        5 => Form,
    }
}

records! {
    /// What a driver tells the core.
    enum Event {
        /// The first message on a connection.
        1 => Hello {
            /// The version that the driver speaks.
            version: u32,
            /// The language of the system under test.
            language: String,
            /// The driver's name and release.
            driver: String,
            /// The process that it lives in.
            process: u32,
        },
        /// More targets; may be sent again when more code is loaded, as long as they have cells.
        2 => Targets {
            /// The targets.
            targets: Vec<Target>,
        },
        /// All targets known at the start have been sent.
        3 => Ready {
            /// How many cells the map must have at least.
            cells: u32,
        },
        /// A statement was executed.
        4 => Statement {
            /// The action during which it was.
            action: u16,
            /// The database system, in lower case.
            database: String,
            /// The text, with bound values filled in.
            text: String,
            /// How many rows came back.
            rows: u64,
            /// What the database complained about.
            failure: Option<String>,
        },
        /// A tracked input reached a comparison or a parser.
        5 => Tracked {
            /// The action during which it did.
            action: u16,
            /// The input, as it was seen.
            input: String,
            /// What it was used for.
            role: InputUse,
            /// What it was compared with or parsed as.
            arguments: Vec<String>,
            /// The first target of the place, if it has one.
            target: Option<u32>,
        },
        /// A part of a request was looked for by name.
        6 => Parameter {
            /// The action during which it was.
            action: u16,
            /// Where it was looked for.
            place: InputLocation,
            /// Its name.
            name: String,
        },
        /// A thread panicked.
        7 => Panicked {
            /// The action during which it did.
            action: u16,
            /// The target that stands for the place, if there is one.
            target: Option<u32>,
            /// The source file.
            file: String,
            /// The line, counted from one.
            line: u32,
            /// The column, counted from one.
            column: u32,
            /// The message.
            message: String,
            /// The stack, innermost frame first; empty where it is not known.
            backtrace: String,
        },
        /// All events up to the command Sync have been sent.
        8 => Synced {
            /// The token of the command.
            token: u64,
        },
        /// The answer to a command that has a request number.
        9 => Answer {
            /// The number of the request.
            request: u32,
            /// Why it was not done.
            failure: Option<String>,
            /// The rows that a statement returned, as texts.
            rows: Vec<Vec<Option<String>>>,
        },
        /// Events were left out, because there were too many.
        10 => Dropped {
            /// How many.
            events: u32,
        },
        /// A part of the system under test is not watched, and runs as it is.
        11 => Unwatched {
            /// The class, function or file.
            name: String,
            /// Why not.
            reason: String,
        },
        /// The system under test is about to call another service.
        12 => Called {
            /// The action during which it did.
            action: u16,
            /// The URL, without query and user.
            url: String,
        },
        /// A JSON body was read into a type.
        13 => Body {
            /// The action during which it was.
            action: u16,
            /// What the type allows, as a JSON Schema.
            schema: String,
        },
    }
}

records! {
    /// What the core tells a driver.
    enum Command {
        /// The answer to Ready: scores may be recorded from now on.
        1 => Welcome {
            /// The version that the core speaks.
            version: u32,
            /// The file of the map.
            map: String,
        },
        /// More values than the markers are inputs to track, until the next of these.
        2 => Track {
            /// The values.
            inputs: Vec<String>,
        },
        /// Asks for all events so far.
        3 => Sync {
            /// Comes back in Synced.
            token: u64,
        },
        /// Asks the system under test to forget its state.
        4 => Reset {
            /// Comes back in the Answer.
            request: u32,
        },
        /// Runs SQL on the connection of the system under test.
        5 => RunSql {
            /// Comes back in the Answer.
            request: u32,
            /// The statements.
            text: String,
        },
        /// Asks for the definitions of the tables that RunSql would work on: the database system in the first row, then a statement of SQL in each.
        6 => Describe {
            /// Comes back in the Answer.
            request: u32,
        },
    }
}
