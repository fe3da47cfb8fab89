//! Who is at the other end of a socket.

use crate::engine::Peer;
use crate::process;
use std::io;
use std::os::unix::net::UnixStream;

/// The peer, if it is a process of this user that can be seen. The error is for the peer.
pub fn of(stream: &UnixStream) -> Result<Peer, String> {
    let (user, pid) = credentials(stream).map_err(|error| format!("cannot tell who you are: {error}"))?;
    if user != rustix::process::geteuid().as_raw() {
        return Err("the driver belongs to another user".to_owned());
    }
    let unseen = "the driver cannot see your process: it is in another container";
    let process = pid.and_then(process::record).ok_or(unseen)?;
    Ok(Peer { program: process::name(process.pid), process })
}

/// The peer's user and process; no process where it is in another pid namespace.
#[cfg(target_os = "linux")]
fn credentials(stream: &UnixStream) -> io::Result<(u32, Option<u32>)> {
    use std::os::fd::AsRawFd;
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the socket is open, and `length` is the size of what `peer` points to.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((peer.uid, u32::try_from(peer.pid).ok().filter(|pid| *pid > 0)))
}

#[cfg(not(target_os = "linux"))]
fn credentials(stream: &UnixStream) -> io::Result<(u32, Option<u32>)> {
    use std::os::fd::AsRawFd;
    let (mut user, mut group) = (0, 0);
    let mut pid: libc::pid_t = 0;
    let mut length = size_of::<libc::pid_t>() as libc::socklen_t;
    // SAFETY: the socket is open, the pointers are to locals, and `length` is the size of what `pid` points to.
    let failed = unsafe {
        libc::getpeereid(stream.as_raw_fd(), &mut user, &mut group) != 0
            || libc::getsockopt(
                stream.as_raw_fd(),
                libc::SOL_LOCAL,
                libc::LOCAL_PEERPID,
                (&raw mut pid).cast(),
                &mut length,
            ) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok((user, u32::try_from(pid).ok().filter(|pid| *pid > 0)))
}
