//! Numbers of targets: each crate has a range of its own, kept from build to build.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The first number for a crate that needs so many.
///
/// A crate keeps its range as long as it fits, so that other crates need not be compiled again.
///
/// # Errors
///
/// When the list of ranges cannot be read or written.
pub(crate) fn first(state: &Path, key: &str, needed: u32) -> io::Result<u32> {
    let mut file: File = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(state.join("ranges"))?;
    // Cargo calls the wrapper for several crates at once.
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut ranges: Vec<(String, u32, u32)> = text.lines().filter_map(range).collect();
    if let Some((_, start, length)) = ranges.iter().find(|(name, ..)| name == key)
        && *length >= needed
    {
        return Ok(*start);
    }
    ranges.retain(|(name, ..)| name != key);
    let start = ranges
        .iter()
        .map(|(_, start, length)| start + length)
        .max()
        .unwrap_or(0);
    ranges.push((key.to_owned(), start, needed + needed / 8));
    let lines: Vec<String> = ranges
        .iter()
        .map(|(name, start, length)| format!("{name} {start} {length}\n"))
        .collect();
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(lines.concat().as_bytes())?;
    Ok(start)
}

fn range(line: &str) -> Option<(String, u32, u32)> {
    let mut words = line.split(' ');
    Some((
        words.next()?.to_owned(),
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stay_as_long_as_they_fit() {
        let state = tempfile::tempdir().unwrap();
        let first = |key, needed| first(state.path(), key, needed).unwrap();
        assert_eq!(first("a", 80), 0);
        assert_eq!(first("b", 10), 90);
        assert_eq!(first("a", 90), 0);
        assert_eq!(first("a", 91), 101);
        assert_eq!(first("b", 11), 90);
    }
}
