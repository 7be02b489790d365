//! Each message, as a person reads it and as it travels.

use isobath_protocol::{Command, Event, InputLocation, InputUse, Target, TargetKind, channel};
use serde_json::{Value, json};

/// One message of each kind, with its bytes in hexadecimal, the length in front.
pub fn all() -> Vec<Value> {
    let events = events().into_iter().map(|event| {
        let mut bytes = Vec::new();
        let sent = channel::push(&mut bytes, &event);
        (format!("{event:?}"), sent.map(|()| bytes))
    });
    let commands = commands().into_iter().map(|command| {
        let mut bytes = Vec::new();
        let sent = channel::push(&mut bytes, &command);
        (format!("{command:?}"), sent.map(|()| bytes))
    });
    events
        .map(|event| ("driver", event))
        .chain(commands.map(|command| ("core", command)))
        .map(|(from, (message, bytes))| {
            let bytes = bytes.unwrap_or_default();
            let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "from": from, "message": message, "bytes": bytes })
        })
        .collect()
}

fn events() -> Vec<Event> {
    vec![
        Event::Hello {
            version: isobath_protocol::VERSION,
            language: "rust".into(),
            driver: "isobath-rt 0.1.0".into(),
            process: 4711,
        },
        Event::Targets {
            targets: vec![Target {
                id: 3,
                kind: TargetKind::True,
                unit: "shop".into(),
                file: "src/main.rs".into(),
                line: 12,
                column: 8,
                compiled_column: 40,
                function: "price".into(),
                text: "n > 3".into(),
            }],
        },
        Event::Ready { cells: 4 },
        Event::Statement {
            action: 1,
            database: "sqlite".into(),
            text: "SELECT 'ä'".into(),
            rows: 1,
            failure: None,
        },
        Event::Tracked {
            action: 2,
            input: "_isobath_7_input".into(),
            role: InputUse::Equal,
            arguments: vec!["open".into(), "closed".into()],
            target: Some(3),
        },
        Event::Parameter {
            action: 0,
            place: InputLocation::Header,
            name: "x-tenant".into(),
        },
        Event::Panicked {
            action: 65535,
            target: None,
            file: "src/main.rs".into(),
            line: 20,
            column: 5,
            message: "index out of bounds".into(),
            backtrace: String::new(),
        },
        Event::Synced { token: u64::MAX },
        Event::Answer {
            request: 9,
            failure: Some("no such table: t".into()),
            rows: vec![vec![Some("1".into()), None]],
        },
        Event::Dropped { events: 12 },
        Event::Unwatched {
            name: "shop.Prices".into(),
            reason: "too long".into(),
        },
        Event::Called {
            action: 4,
            url: "https://rates.example/v1/latest".into(),
        },
        Event::Body {
            action: 5,
            schema: r#"{"type":"object"}"#.into(),
        },
    ]
}

fn commands() -> Vec<Command> {
    vec![
        Command::Welcome {
            version: isobath_protocol::VERSION,
            map: "/dev/shm/isobath/map".into(),
        },
        Command::Track {
            inputs: vec!["3156-42-77".into()],
        },
        Command::Sync { token: 5 },
        Command::Reset { request: 6 },
        Command::RunSql {
            request: 7,
            text: "DELETE FROM t".into(),
        },
        Command::Describe { request: 8 },
    ]
}
