//! Any bytes of a service and its database, in any pieces: nothing breaks, and the pieces do not matter.

#![no_main]

use isobath_exec::tap::{Sender, overheard};
use isobath_sql::DialectName;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u8, Vec<(bool, Vec<u8>)>)| {
    let (is_postgres, size, turns) = input;
    let dialect = if is_postgres {
        DialectName::Postgres
    } else {
        DialectName::MySql
    };
    let turns: Vec<(Sender, &[u8])> = turns
        .iter()
        .map(|(is_client, bytes)| {
            let sender = if *is_client {
                Sender::Client
            } else {
                Sender::Server
            };
            (sender, bytes.as_slice())
        })
        .collect();
    let whole = overheard(dialect, turns.iter().copied());
    let size = usize::from(size.max(1));
    let pieces = turns
        .iter()
        .flat_map(|&(sender, bytes)| bytes.chunks(size).map(move |piece| (sender, piece)));
    assert_eq!(whole, overheard(dialect, pieces));
});
