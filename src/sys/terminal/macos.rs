//! Waits for a terminal by `select`: `poll` of macOS does not support devices (poll(2), "Bugs").

use super::Input;
use nix::errno::Errno;
use nix::sys::select::{FdSet, select};
use nix::sys::time::{TimeVal, TimeValLike as _};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Waits for input.
///
/// The end of the terminal ends the wait only if `listen` is true or nothing is left to read. A window that was closed
/// sends HUP as well.
pub(super) fn wait_for(fd: BorrowedFd<'_>, patience: Duration, listen: bool) -> io::Result<Input> {
    let now = Duration::ZERO;
    if !is_readable(Some(fd), if listen { patience } else { now })? {
        if !listen {
            is_readable(None, patience)?;
        }
        return Ok(Input::Quiet);
    }
    // A terminal or pipe that can be read and holds no byte has ended.
    match rustix::io::ioctl_fionread(fd) {
        Ok(0) | Err(_) => Ok(Input::Gone),
        Ok(_) if listen => Ok(Input::Ready),
        Ok(_) => {
            is_readable(None, patience)?;
            Ok(Input::Quiet)
        }
    }
}

/// Waits at most this long, and without a file exactly this long. A signal ends the wait.
fn is_readable(fd: Option<BorrowedFd<'_>>, patience: Duration) -> io::Result<bool> {
    let mut set = FdSet::new();
    if let Some(fd) = fd {
        set.insert(fd);
    }
    let millis = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX);
    let mut limit = TimeVal::milliseconds(millis);
    match select(None, &mut set, None, None, &mut limit) {
        Ok(count) => Ok(count > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
