pub fn level(n: u32) -> u32 {
    #[cfg(not(unix))]
    if n > 100 {
        return 0;
    }
    if n == 0 { 0 } else { 1 + level(n - 1) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn unused() {
        assert!(super::level(1) == 1);
    }
}
