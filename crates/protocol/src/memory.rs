//! A file mapped as shared words; the only unsafe code of this crate.
//!
//! The words are atomics, so that any number of threads of any number of
//! processes may use them at once, whatever they do.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// Words of a file, shared with every process that has the same file open.
#[derive(Debug)]
pub(crate) struct Memory {
    start: *mut AtomicU64,
    words: usize,
}

#[cfg(all(unix, target_pointer_width = "64"))]
#[expect(unsafe_code, reason = "shared memory comes from mmap")]
mod system {
    use super::{AtomicU64, Deref, File, Memory, io};
    use std::ffi::{c_int, c_void};
    use std::os::fd::AsRawFd;

    // The values are those of Linux and of macOS.
    const READ_AND_WRITE: c_int = 1 | 2;
    const SHARED: c_int = 1;

    // SAFETY: the signatures are those of POSIX where `off_t` has 64 bits, which
    // all 64-bit systems have; the standard library links the C library already.
    unsafe extern "C" {
        fn mmap(
            address: *mut c_void,
            length: usize,
            protection: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn munmap(address: *mut c_void, length: usize) -> c_int;
    }

    impl Memory {
        /// Maps the first words of a file, which must be at least that long.
        ///
        /// A file that is truncated later ends whoever touches the lost part, so
        /// nobody may shorten it; the owner removes it instead.
        pub(crate) fn map(file: &File, words: usize) -> io::Result<Self> {
            let bytes = words.saturating_mul(size_of::<u64>());
            let length = file.metadata()?.len();
            if bytes == 0 || length < bytes as u64 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!("the file holds {length} bytes, {bytes} are needed"),
                ));
            }
            // SAFETY: a fresh mapping at an address of the system's choice aliases
            // nothing of ours; the descriptor is open for the length of the call.
            let start = unsafe {
                mmap(
                    std::ptr::null_mut(),
                    bytes,
                    READ_AND_WRITE,
                    SHARED,
                    file.as_raw_fd(),
                    0,
                )
            };
            if start.addr() == usize::MAX {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                start: start.cast(),
                words,
            })
        }
    }

    impl Deref for Memory {
        type Target = [AtomicU64];

        fn deref(&self) -> &[AtomicU64] {
            // SAFETY: `map` made `words` words at a page boundary, and they stay
            // until `drop`; every bit pattern is a valid atomic.
            unsafe { std::slice::from_raw_parts(self.start, self.words) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: exactly what `map` got, and nothing borrows it any more.
            unsafe { munmap(self.start.cast(), self.words * size_of::<u64>()) };
        }
    }

    // SAFETY: the memory is not tied to a thread.
    unsafe impl Send for Memory {}
    // SAFETY: all access is through atomics.
    unsafe impl Sync for Memory {}
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
#[expect(unsafe_code, reason = "the same promises as on other systems")]
mod system {
    use super::{AtomicU64, Deref, File, Memory, io};

    impl Memory {
        /// Always refuses: drivers need a 64-bit Unix.
        pub(crate) fn map(_: &File, _: usize) -> io::Result<Self> {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }
    }

    impl Deref for Memory {
        type Target = [AtomicU64];

        fn deref(&self) -> &[AtomicU64] {
            let _ = (self.start, self.words);
            &[]
        }
    }

    // SAFETY: there is never one, since `map` refuses.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}
}
