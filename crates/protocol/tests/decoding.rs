//! What arrives is read back, and garbage is refused without a panic.

use isobath_protocol::message::{Command, Event, InputLocation, InputUse};
use isobath_protocol::wire::Wire;
use isobath_protocol::{ChannelError, Target, TargetKind, TargetTable, channel};
use proptest::prelude::*;

fn target() -> impl Strategy<Value = Target> {
    (
        any::<(u32, u32, u32)>(),
        any::<(String, String)>(),
        0..TargetKind::ALL.len(),
    )
        .prop_map(|((id, line, column), (file, text), kind)| Target {
            id,
            kind: TargetKind::ALL[kind],
            unit: "unit".into(),
            file,
            line,
            column,
            compiled_column: column,
            function: text.clone(),
            text,
        })
}

fn event() -> impl Strategy<Value = Event> {
    let text = any::<String>;
    prop_oneof![
        (any::<(u32, u32)>(), text(), text()).prop_map(|((version, process), language, driver)| {
            Event::Hello {
                version,
                language,
                driver,
                process,
            }
        }),
        prop::collection::vec(target(), 0..4).prop_map(|targets| Event::Targets { targets }),
        any::<u32>().prop_map(|cells| Event::Ready { cells }),
        (any::<(u16, u64)>(), text(), text(), any::<Option<String>>()).prop_map(
            |((action, rows), database, text, failure)| Event::Statement {
                action,
                database,
                text,
                rows,
                failure,
            }
        ),
        (
            any::<u16>(),
            text(),
            0..InputUse::ALL.len(),
            any::<Vec<String>>(),
            any::<Option<u32>>()
        )
            .prop_map(|(action, input, role, arguments, target)| Event::Tracked {
                action,
                input,
                role: InputUse::ALL[role],
                arguments,
                target,
            }),
        (any::<u16>(), text()).prop_map(|(action, schema)| Event::Body { action, schema }),
        (any::<u16>(), 0..InputLocation::ALL.len(), text()).prop_map(|(action, place, name)| {
            Event::Parameter {
                action,
                place: InputLocation::ALL[place],
                name,
            }
        }),
        (
            any::<(u16, u32, u32)>(),
            any::<Option<u32>>(),
            text(),
            text(),
            text()
        )
            .prop_map(
                |((action, line, column), target, file, message, backtrace)| Event::Panicked {
                    action,
                    target,
                    file,
                    line,
                    column,
                    message,
                    backtrace,
                }
            ),
        any::<u64>().prop_map(|token| Event::Synced { token }),
        (
            any::<u32>(),
            any::<Option<String>>(),
            any::<Vec<Vec<Option<String>>>>()
        )
            .prop_map(|(request, failure, rows)| Event::Answer {
                request,
                failure,
                rows
            }),
        any::<u32>().prop_map(|events| Event::Dropped { events }),
        (text(), text()).prop_map(|(name, reason)| Event::Unwatched { name, reason }),
        (any::<u16>(), text()).prop_map(|(action, url)| Event::Called { action, url }),
    ]
}

fn bytes(message: &impl Wire) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

proptest! {
    #[test]
    fn every_event_is_read_back(event in event()) {
        prop_assert_eq!(channel::parse::<Event>(&bytes(&event)), Ok(event));
    }

    #[test]
    fn garbage_is_refused_or_is_a_message(garbage in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(event) = channel::parse::<Event>(&garbage) {
            prop_assert_eq!(bytes(&event), garbage.clone());
        }
        if let Ok(command) = channel::parse::<Command>(&garbage) {
            prop_assert_eq!(bytes(&command), garbage.clone());
        }
        let _ = channel::receive::<Event>(&mut garbage.as_slice());
        let _ = TargetTable::read(&mut garbage.as_slice());
    }

    #[test]
    fn a_message_that_was_hit_is_refused_or_is_another(
        event in event(), at in any::<prop::sample::Index>(), value in any::<u8>()
    ) {
        let mut hit = bytes(&event);
        let at = at.index(hit.len());
        hit[at] = value;
        let _ = channel::parse::<Event>(&hit);
    }

    #[test]
    fn a_message_cut_short_is_refused(event in event(), at in any::<prop::sample::Index>()) {
        let whole = bytes(&event);
        let cut = &whole[..at.index(whole.len())];
        prop_assert!(channel::parse::<Event>(cut).is_err());
    }

    #[test]
    fn messages_follow_each_other(events in prop::collection::vec(event(), 0..5)) {
        let mut stream = Vec::new();
        for event in &events {
            channel::push(&mut stream, event).expect("short enough");
        }
        let mut rest = stream.as_slice();
        for event in events {
            prop_assert_eq!(channel::receive::<Event>(&mut rest).expect("sent"), event);
        }
        prop_assert!(matches!(channel::receive::<Event>(&mut rest), Err(ChannelError::Closed)));
    }
}

#[test]
fn a_made_up_length_reserves_nothing() {
    let huge = [0xFF; 12];
    assert!(matches!(
        channel::receive::<Event>(&mut huge.as_slice()),
        Err(ChannelError::TooLong(_))
    ));
    let list = [2, 0xFF, 0xFF, 0xFF, 0xFF];
    assert!(channel::parse::<Event>(&list).is_err());
}

#[test]
fn dying_within_a_message_is_not_the_same_as_going() {
    let mut stream = Vec::new();
    channel::push(&mut stream, &Event::Synced { token: 1 }).unwrap();
    for cut in 1..stream.len() {
        assert!(matches!(
            channel::receive::<Event>(&mut &stream[..cut]),
            Err(ChannelError::Io(_))
        ));
    }
}
