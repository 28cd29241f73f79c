//! The system calls of macOS that no safe crate of the build offers.
//!
//! This is the only file with `unsafe` code, and other systems do not compile it.

#![expect(
    unsafe_code,
    reason = "libproc, sysctl(3) and sigaction(2) have no safe interface in nix or rustix"
)]

use nix::errno::Errno;
use nix::libc::{self, c_char, c_int, c_uint};
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// `PROC_PIDUNIQIDENTIFIERINFO` of xnu's `bsd/sys/proc_info_private.h`.
const UNIQUE_IDENTIFIERS: c_int = 17;

/// Size of `struct proc_uniqidentifierinfo`, which xnu asserts.
pub(super) const UNIQUE_IDENTIFIERS_SIZE: usize = 56;

/// `SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT` of `unistd.h`: to the medium, and wait for it.
const FULL_SYNC_AND_WAIT: c_int = 0x01 | 0x02;

unsafe extern "C" {
    /// `unistd.h`, since macOS 10.8.
    fn sync_volume_np(path: *const c_char, flags: c_int) -> c_int;
}

/// Reads a value of sysctl(3). A value of more than `most` bytes is an error (ENOMEM) or cut, as its owner decides.
pub(super) fn sysctl(name: &mut [c_int], most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; most];
    let mut length = most;
    let parts = c_uint::try_from(name.len()).map_err(io::Error::other)?;
    // SAFETY: `name` holds `parts` numbers, and `bytes` can take `length` bytes. The kernel writes no more than that.
    let status = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            parts,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    Errno::result(status)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns the size in bytes that a value of sysctl(3) has now.
pub(super) fn sysctl_size(name: &mut [c_int]) -> io::Result<usize> {
    let mut length = 0;
    let parts = c_uint::try_from(name.len()).map_err(io::Error::other)?;
    // SAFETY: without a buffer the kernel writes only `length`.
    let status = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            parts,
            ptr::null_mut(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    Errno::result(status)?;
    Ok(length)
}

/// Returns the `struct proc_uniqidentifierinfo` of a process of any user. Zombies have one, too.
pub(super) fn unique_identifiers(pid: c_int) -> io::Result<[u8; UNIQUE_IDENTIFIERS_SIZE]> {
    let mut bytes = [0_u8; UNIQUE_IDENTIFIERS_SIZE];
    let size = c_int::try_from(bytes.len()).map_err(io::Error::other)?;
    // SAFETY: `bytes` can take `size` bytes. The kernel writes no more than that.
    let written =
        unsafe { libc::proc_pidinfo(pid, UNIQUE_IDENTIFIERS, 1, bytes.as_mut_ptr().cast(), size) };
    if written == size {
        Ok(bytes)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// True if this process ignores the signal.
pub(super) fn is_ignored(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only fills `action`, which is read only after it succeeded.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Refuses debuggers, which could read the memory of this process, from now on.
pub(super) fn refuse_debuggers() -> io::Result<()> {
    // SAFETY: this request uses neither the address nor the number.
    let status = unsafe { libc::ptrace(libc::PT_DENY_ATTACH, 0, ptr::null_mut(), 0) };
    Errno::result(status)?;
    Ok(())
}

/// Waits until all that was written to the volume of this path is on its medium.
pub(super) fn sync_volume(path: &CStr) -> io::Result<()> {
    // SAFETY: `path` ends with NUL, and the call only reads it.
    let status = unsafe { sync_volume_np(path.as_ptr(), FULL_SYNC_AND_WAIT) };
    Errno::result(status)?;
    Ok(())
}
