//! The engine's side of the launcher: starts the launcher's process, and asks it for an init for each launch.
//!
//! The launcher is the guard's program, started with an argument. If it was killed, the next launch starts another one; the
//! inits of the killed one end their launches themselves.

use super::guard_client;
use super::init_client::InitClient;
use super::launch_protocol::{LAUNCH, Request};
use super::{Environment, Mark, Spec};
use crate::sync::locked;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use std::ffi::CString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);

struct Launcher {
    child: Child,
    socket: OwnedFd,
}

/// Starts the program of `spec` with these standard streams.
pub fn launch(spec: &Spec, environment: &Environment, streams: &[OwnedFd; 3]) -> io::Result<InitClient> {
    let request = request(spec, environment)?;
    // If the launcher is killed during the request, its init ends what it started, so trying once more is safe.
    match once(&request, &spec.mark, streams)? {
        Some(init) => Ok(init),
        None => once(&request, &spec.mark, streams)?.ok_or_else(|| {
            io::Error::other(
                "the launcher \"superpower-guard\" ended; run `make build` if it is of another version",
            )
        }),
    }
}

/// Asks the launcher once; `None` if the launcher or the init was killed before the program ran.
fn once(request: &Request, mark: &Mark, streams: &[OwnedFd; 3]) -> io::Result<Option<InitClient>> {
    let (ours, theirs) = UnixStream::pair()?;
    let [stdin, stdout, stderr] = streams;
    let text = format!("{} {}", mark.run_id.replace(char::is_whitespace, "_"), mark.launch);
    send(text.as_bytes(), [theirs.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
    drop(theirs);
    InitClient::begin(ours, request)
}

/// Sends the launcher a message, and starts one first if there is none.
fn send(text: &[u8], descriptors: [BorrowedFd<'_>; 4]) -> io::Result<()> {
    let mut launcher = locked(&LAUNCHER);
    if let Some(known) = &mut *launcher {
        if known.send(text, &descriptors).is_ok() {
            return Ok(());
        }
        // It was killed, or no longer works.
        let _ = known.child.kill();
        let _ = known.child.wait();
        *launcher = None;
    }
    launcher.insert(Launcher::start()?).send(text, &descriptors)
}

/// Continues the launcher if something has stopped it.
pub fn wake() {
    if let Some(launcher) = &*locked(&LAUNCHER) {
        launcher.wake();
    }
}

impl Launcher {
    /// Its id is not reused, because it is not reaped yet.
    fn wake(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
    }

    fn start() -> io::Result<Self> {
        let missing = || {
            io::Error::other("the launcher \"superpower-guard\" is not beside the library; run `make build`")
        };
        let program = guard_client::program().ok_or_else(missing)?;
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut command = Command::new(program);
        // It must not keep a directory, a terminal or a pipe of the editor open.
        command.arg(LAUNCH).env_clear().current_dir("/");
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("cannot start the launcher \"superpower-guard\": {error}"))
        })?;
        Ok(Self { child, socket: ours })
    }

    fn send(&self, text: &[u8], descriptors: &[BorrowedFd<'_>; 4]) -> io::Result<()> {
        self.wake();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(descriptors));
        sendmsg(&self.socket, &[IoSlice::new(text)], &mut rights, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

fn request(spec: &Spec, environment: &Environment) -> io::Result<Request> {
    let mut request = Request::new(&spec.root, &spec.program)?;
    let arguments = spec.args.iter().map(|argument| CString::new(argument.clone().into_vec()));
    request.arguments = arguments.collect::<Result<_, _>>()?;
    let mut variables = environment.for_child(&spec.mark, &spec.root);
    variables.extend(spec.env.iter().map(|(name, value)| (name.into(), value.into())));
    let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        CString::new([name.into_vec(), value.into_vec()].join(&b'='))
    };
    request.environment = variables.into_iter().map(variable).collect::<Result<_, _>>()?;
    Ok(request)
}
