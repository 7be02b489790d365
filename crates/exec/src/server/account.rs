//! The system user that a database server runs as.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// A user of the system, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The account to run a server as: the first of `names` that exists, or a
/// powerless one, when we are root; `None` when we are not and stay who we are.
///
/// Servers refuse to run as root, and have no business to.
pub(super) fn for_server(names: &[&str]) -> Option<Account> {
    let is_root = fs::metadata("/proc/self").map_or_else(
        |_| {
            tempfile::tempfile()
                .and_then(|file| file.metadata())
                .is_ok_and(|data| data.uid() == 0)
        },
        |data| data.uid() == 0,
    );
    if !is_root {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    names
        .iter()
        .chain(&["nobody"])
        .find_map(|name| look_up(&passwd, name))
}

/// Finds a user in the text of /etc/passwd.
fn look_up(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let uid: u32 = fields.nth(1)?.parse().ok()?;
        let gid: u32 = fields.next()?.parse().ok()?;
        (uid != 0).then_some(Account { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_whole_name_and_root_is_none() {
        let passwd = "root:x:0:0::/root:/bin/sh\npostgresx:x:7:8::/:/bin/sh\npostgres:x:101:104:a,b:/var:/bin/sh\nbad:x\n";
        assert_eq!(
            look_up(passwd, "postgres"),
            Some(Account { uid: 101, gid: 104 })
        );
        assert_eq!(look_up(passwd, "root"), None);
        assert_eq!(look_up(passwd, "bad"), None);
        assert_eq!(look_up(passwd, "nobody"), None);
    }
}
