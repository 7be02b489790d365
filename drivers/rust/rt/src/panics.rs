//! Panics are told to the core at once; the process may not live long.

use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use isobath_protocol::{Event, TargetKind};

use crate::{link, queue};

/// A place that panics in every request is told with its stack so often; stacks are slow.
const STACKS: u32 = 2;

/// File, line and column.
type Site = (String, u32, u32);

static SEEN: Mutex<Option<HashMap<Site, u32>>> = Mutex::new(None);

/// Watches panics from now on, in front of whoever watched before.
pub(crate) fn watch() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tell(info);
        before(info);
    }));
}

fn tell(info: &PanicHookInfo<'_>) {
    let Some(map) = link::map() else { return };
    let (file, line, column) = info.location().map_or((String::new(), 0, 0), |at| {
        (at.file().to_owned(), at.line(), at.column())
    });
    let target = target(&file, line, column);
    if let Some((id, _)) = target {
        map.cover(id);
    }
    let backtrace = if first(&file, line, column) {
        Backtrace::force_capture().to_string()
    } else {
        String::new()
    };
    queue::push(&Event::Panicked {
        action: map.action(),
        target: target.map(|(id, _)| id),
        file,
        line,
        column: target.map_or(column, |(_, column)| column),
        message: message(info).to_owned(),
        backtrace,
    });
    queue::flush();
}

fn message<'a>(info: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("(no message)")
}

/// The target that stands for the place, and its column in the source.
fn target(file: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let targets = link::table()?.targets().iter();
    let here = targets.filter(|target| {
        target.kind == TargetKind::Fault && target.line == line && target.file == file
    });
    // The compiler names the start of an expression, or an operator inside it.
    here.filter(|target| target.compiled_column <= column)
        .max_by_key(|target| target.compiled_column)
        .map(|target| (target.id, target.column))
}

fn first(file: &str, line: u32, column: u32) -> bool {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = seen.get_or_insert_default();
    let times = seen.entry((file.to_owned(), line, column)).or_default();
    *times += 1;
    *times <= STACKS
}
