//! System calls that std does not have, each with the reason why it is safe.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

/// The result of a system call, or its error.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Starts a session, so that a signal to the editor's terminal, session or group does not reach this process.
pub fn own_session() {
    // SAFETY: no arguments.
    unsafe { libc::setsid() };
}

/// Sets the name of this process; at most 15 bytes.
pub fn set_name(name: &str) {
    let mut bytes = [0u8; 16];
    let length = name.len().min(15);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    // SAFETY: the system reads up to the NUL, which is there.
    unsafe { libc::prctl(libc::PR_SET_NAME, bytes.as_ptr()) };
}

/// Makes orphans among the descendants of this process its children.
pub fn adopt_orphans() -> io::Result<()> {
    // SAFETY: the arguments are numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Blocks the signals that would end this process, and SIGCHLD. Returns a descriptor that is readable when a child has
/// ended.
pub fn child_signals() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the sets are initialized before they are read, and nothing else owns the descriptor.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGPIPE, libc::SIGCHLD]
        {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        checked(libc::signalfd(-1, set.as_ptr(), flags)).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Calls `body` with no signal blocked, because a program inherits the blocked signals of its parent.
pub fn with_none_blocked<T>(body: impl FnOnce() -> T) -> T {
    let (mut none, mut before) =
        (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
    // SAFETY: the sets are initialized before they are read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), before.as_mut_ptr());
    }
    let result = body();
    // SAFETY: as above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

/// Reads and drops all queued signals.
pub fn drain_signals(signals: &OwnedFd) {
    let mut bytes = [0u8; 4 * size_of::<libc::signalfd_siginfo>()];
    // SAFETY: the length is that of the buffer.
    while unsafe { libc::read(signals.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {}
}

/// Closes every descriptor except the standard streams, so that nothing of the editor stays open.
pub fn close_others() {
    // SAFETY: this process has not opened any descriptor yet.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        // Before Linux 5.9.
        for fd in 3..libc::sysconf(libc::_SC_OPEN_MAX).clamp(0, 1 << 16) as RawFd {
            libc::close(fd);
        }
    }
}

/// Takes the descriptor of standard input, and replaces it by `/dev/null`.
pub fn take_stdin() -> io::Result<OwnedFd> {
    let nothing = std::fs::File::open("/dev/null")?;
    let taken = io::stdin().as_fd().try_clone_to_owned()?;
    // SAFETY: both are open.
    checked(unsafe { libc::dup2(nothing.as_raw_fd(), 0) })?;
    Ok(taken)
}

/// Forks this process. Returns 0 in the new process, and its id in the old one.
pub fn fork() -> io::Result<u32> {
    // SAFETY: this process has one thread.
    checked(unsafe { libc::fork() }).map(|pid| pid as u32)
}

/// Exits without any clean-up.
pub fn exit(status: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(status) }
}

/// The result of `wait`.
pub enum Waited {
    /// This child has ended, with this status.
    Ended(u32, i32),
    /// No child has ended.
    NoneEnded,
    /// There is no child.
    NoChildren,
}

/// Reaps a child that has ended.
pub fn reap() -> Waited {
    let mut status = 0;
    loop {
        // SAFETY: the status is valid memory.
        match checked(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) }) {
            Ok(0) => return Waited::NoneEnded,
            Ok(pid) => return Waited::Ended(pid as u32, status),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Waited::NoChildren,
        }
    }
}

/// Whether a child has ended. Does not reap it.
pub fn has_ended(pid: u32) -> bool {
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    let kept = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the record is valid memory, and all zeros is a valid value that means no process.
    unsafe {
        libc::waitid(libc::P_PID, pid, found.as_mut_ptr(), kept) == 0 && found.assume_init().si_pid() != 0
    }
}

/// Sends a signal to a process.
pub fn kill(pid: u32, signal: i32) {
    // SAFETY: the arguments are numbers.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Sends a signal to a group.
pub fn kill_group(group: u32, signal: i32) {
    // SAFETY: the arguments are numbers.
    unsafe { libc::killpg(group as libc::pid_t, signal) };
}

/// Waits until one of the descriptors can be read or is closed, or until the limit. Returns which of them are.
pub fn wait_to_read<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], limit: Option<Duration>) -> [bool; N] {
    let entry = |fd: Option<BorrowedFd<'_>>| libc::pollfd {
        // `poll` ignores negative descriptors.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries = fds.map(entry);
    let limit = limit.map_or(-1, |limit| limit.as_millis().min(60_000) as libc::c_int);
    // SAFETY: the count is the length of the array.
    if unsafe { libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, limit) } < 0 {
        return [false; N];
    }
    entries.map(|entry| entry.revents != 0)
}

/// A message, with the descriptors that were sent with it.
pub struct Message<const N: usize> {
    /// The text; empty when the socket is closed.
    pub text: Vec<u8>,
    /// The descriptors; `None` for those that this process had no room for.
    pub descriptors: [Option<OwnedFd>; N],
}

/// Receives one message.
pub fn receive<const N: usize>(socket: BorrowedFd<'_>) -> io::Result<Message<N>> {
    let mut text = [0u8; 512];
    let mut space = [0u64; 16];
    let mut part = libc::iovec { iov_base: text.as_mut_ptr().cast(), iov_len: text.len() };
    // SAFETY: all zeros is a valid header, which is empty.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
    header.msg_control = space.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&space) as _;
    // SAFETY: the buffers outlive the call, and their lengths are correct.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, libc::MSG_CMSG_CLOEXEC) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    let mut descriptors = [const { None }; N];
    // SAFETY: the kernel has filled the header, and this process owns each descriptor in it.
    unsafe {
        let mut entry = libc::CMSG_FIRSTHDR(&header);
        while !entry.is_null() {
            if (*entry).cmsg_level == libc::SOL_SOCKET && (*entry).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*entry).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let first = libc::CMSG_DATA(entry).cast::<RawFd>();
                for at in 0..bytes / size_of::<RawFd>() {
                    let fd = OwnedFd::from_raw_fd(first.add(at).read_unaligned());
                    if let Some(place) = descriptors.get_mut(at) {
                        *place = Some(fd);
                    }
                }
            }
            entry = libc::CMSG_NXTHDR(&header, entry);
        }
    }
    Ok(Message { text: text[..got].to_vec(), descriptors })
}
