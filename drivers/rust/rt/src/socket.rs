//! Sending without waiting: the service must not block when the core does not read.

use std::io;
use std::os::unix::net::UnixStream;

pub(crate) use system::send_now;

#[expect(
    unsafe_code,
    reason = "the standard library sends without waiting only where reading does not wait either"
)]
mod system {
    use super::{UnixStream, io};
    use std::ffi::{c_int, c_void};
    use std::os::fd::AsRawFd;

    // Do not wait, and raise no signal when the other side is gone.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const FLAGS: c_int = 0x40 | 0x4000;
    // Elsewhere the signal is ignored by every Rust program that does not ask for it.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const FLAGS: c_int = 0x80;

    // SAFETY: the signature is that of POSIX; the standard library links the C library already.
    unsafe extern "C" {
        fn send(socket: c_int, bytes: *const c_void, length: usize, flags: c_int) -> isize;
    }

    /// Sends as much as the system takes now; `WouldBlock` when that is nothing.
    pub(crate) fn send_now(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the bytes are borrowed and the descriptor is open for the length of the call.
        let sent = unsafe {
            send(
                stream.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                FLAGS,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}
