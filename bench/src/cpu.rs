//! CPU time, from the system's own account: what other programs do meanwhile does not count.

pub(crate) use isobath_exec::cpu::spent;

/// User and system time of finished children; `None` where there is no account.
pub(crate) fn children_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name may hold blanks, so fields are counted from its closing parenthesis.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}
