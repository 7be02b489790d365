//! Reads whatever comes as messages of the driver protocol and as a table of targets.
#![no_main]

use isobath_protocol::{Command, Event, Table, channel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = channel::parse::<Event>(bytes);
    let _ = channel::parse::<Command>(bytes);
    let mut stream = bytes;
    while let Ok(event) = channel::receive::<Event>(&mut stream) {
        let mut again = Vec::new();
        channel::push(&mut again, &event).expect("what was read can be written");
    }
    let _ = Table::read(&mut &bytes[..]);
});
