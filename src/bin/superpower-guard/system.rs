//! The system calls that std does not have, each with what makes it safe.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

/// A number of the system's, or its error.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A session of its own: nothing that ends the editor's terminal, session or group reaches this process.
pub fn own_session() {
    // SAFETY: no arguments.
    unsafe { libc::setsid() };
}

/// What the list of processes calls this one; at most 15 bytes are kept.
pub fn name(name: &str) {
    let mut bytes = [0u8; 16];
    let length = name.len().min(15);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    // SAFETY: the system reads up to the NUL, which is there.
    unsafe { libc::prctl(libc::PR_SET_NAME, bytes.as_ptr()) };
}

/// Orphans below this process become its children.
pub fn adopt_orphans() -> io::Result<()> {
    // SAFETY: no arguments but numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Blocks what ends others, which is nothing to this process, and gives a descriptor that is readable when a child has
/// ended.
pub fn children_signal() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the sets are made before they are read, and the descriptor is nobody else's.
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

/// Does something with no signal blocked: a program inherits what is blocked when it is started.
pub fn with_none_blocked<T>(what: impl FnOnce() -> T) -> T {
    let (mut none, mut before) =
        (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
    // SAFETY: the sets are made before they are read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), before.as_mut_ptr());
    }
    let done = what();
    // SAFETY: as above.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    done
}

/// Empties it.
pub fn forget_signals(signals: &OwnedFd) {
    let mut bytes = [0u8; 4 * size_of::<libc::signalfd_siginfo>()];
    // SAFETY: the length is the buffer's.
    while unsafe { libc::read(signals.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {}
}

/// Closes every descriptor but the standard streams: nothing of the editor's is kept open by this process.
pub fn close_others() {
    // SAFETY: nothing of this process has such a descriptor yet.
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

/// Takes what standard input is, and leaves nothing to be read there.
pub fn take_stdin() -> io::Result<OwnedFd> {
    let nothing = std::fs::File::open("/dev/null")?;
    let taken = io::stdin().as_fd().try_clone_to_owned()?;
    // SAFETY: both are open.
    checked(unsafe { libc::dup2(nothing.as_raw_fd(), 0) })?;
    Ok(taken)
}

/// A copy of this process: 0 in the copy, whose id the other one gets.
pub fn fork() -> io::Result<u32> {
    // SAFETY: this process has one thread.
    checked(unsafe { libc::fork() }).map(|pid| pid as u32)
}

/// Ends this process here and now.
pub fn exit(status: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(status) }
}

/// What `wait` says of a child that ended.
pub enum Waited {
    /// This one, with its status.
    Ended(u32, i32),
    /// There are children, and none of them has ended.
    Nobody,
    /// There is no child.
    Alone,
}

/// Takes the status of a child that ended.
pub fn take_ended() -> Waited {
    let mut status = 0;
    loop {
        // SAFETY: the status is ours.
        match checked(unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) }) {
            Ok(0) => return Waited::Nobody,
            Ok(pid) => return Waited::Ended(pid as u32, status),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Waited::Alone,
        }
    }
}

/// Whether a child has ended, which leaves it to be reaped.
pub fn has_ended(pid: u32) -> bool {
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    let kept = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the record is ours, and zeros are a value of it: no process.
    unsafe {
        libc::waitid(libc::P_PID, pid, found.as_mut_ptr(), kept) == 0 && found.assume_init().si_pid() != 0
    }
}

/// Sends a signal to a process.
pub fn kill(pid: u32, signal: i32) {
    // SAFETY: no arguments but numbers.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Sends a signal to a group.
pub fn kill_group(group: u32, signal: i32) {
    // SAFETY: no arguments but numbers.
    unsafe { libc::killpg(group as libc::pid_t, signal) };
}

/// Waits until one of them can be read, its end included, at most so long. Says of each whether it can.
pub fn wait_to_read<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], limit: Option<Duration>) -> [bool; N] {
    let entry = |fd: Option<BorrowedFd<'_>>| libc::pollfd {
        // A negative one is left out.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries = fds.map(entry);
    let limit = limit.map_or(-1, |limit| limit.as_millis().min(60_000) as libc::c_int);
    // SAFETY: the number is the array's.
    if unsafe { libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, limit) } < 0 {
        return [false; N];
    }
    entries.map(|entry| entry.revents != 0)
}

/// A message with the descriptors that came with it.
pub struct Message<const N: usize> {
    /// The text; empty where there is no message any more.
    pub text: Vec<u8>,
    /// The descriptors, as far as there was room for them in this process.
    pub descriptors: [Option<OwnedFd>; N],
}

/// Receives one message.
pub fn receive<const N: usize>(socket: BorrowedFd<'_>) -> io::Result<Message<N>> {
    let mut text = [0u8; 512];
    let mut space = [0u64; 16];
    let mut part = libc::iovec { iov_base: text.as_mut_ptr().cast(), iov_len: text.len() };
    // SAFETY: a header of zeros is an empty one.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
    header.msg_control = space.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&space) as _;
    // SAFETY: text and space live longer than the call, and their lengths are their own.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, libc::MSG_CMSG_CLOEXEC) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    let mut descriptors = [const { None }; N];
    // SAFETY: the system filled the header, and each descriptor in it is this process's alone.
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
