//! The messages between the engine, the launcher and an init. The guard's program includes this file, so it uses only std.
//!
//! For each launch the engine sends the launcher a message with the run's mark and four descriptors: one end of a socket,
//! and the program's standard streams. Everything else is sent over that socket, between the engine and the init: a
//! [`Request`], then [`Command`]s of two bytes, and [`Answer`]s of fixed length in the other direction.

#![allow(dead_code, reason = "each side uses its half")]

use std::ffi::CString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The argument that starts the guard's program as a launcher.
pub const LAUNCH: &str = "launch";
/// The process name of an init. `ancestry` looks for it among a process's ancestors.
pub const INIT: &str = "superpower-init";
/// The process name of the launcher, which adopts the descendants of an init that was killed.
pub const LAUNCHER: &str = "superpower-main";
/// The number of descriptors sent for a launch.
pub const DESCRIPTORS: usize = 4;
/// A request above this size, in bytes, is invalid. The system's limit for arguments and environment is far below.
const LONGEST: u32 = 64 << 20;

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The working directory.
    pub directory: CString,
    /// The path of the program.
    pub program: CString,
    /// Its arguments, without its name.
    pub arguments: Vec<CString>,
    /// Its environment, as `NAME=VALUE`.
    pub environment: Vec<CString>,
}

impl Request {
    pub fn new(directory: &Path, program: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: CString::new(directory.as_os_str().as_bytes())?,
            program: CString::new(program.as_os_str().as_bytes())?,
            arguments: Vec::new(),
            environment: Vec::new(),
        })
    }

    /// The request as it is sent: its length, the number of arguments, and every text with a NUL at its end.
    pub fn bytes(&self) -> Vec<u8> {
        let mut texts = (self.arguments.len() as u32).to_le_bytes().to_vec();
        let all =
            [&self.directory, &self.program].into_iter().chain(&self.arguments).chain(&self.environment);
        for text in all {
            texts.extend_from_slice(text.as_bytes_with_nul());
        }
        [&(texts.len() as u32).to_le_bytes()[..], &texts].concat()
    }

    /// Reads a request that [`Request::bytes`] has written.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut number = [0; 4];
        from.read_exact(&mut number)?;
        let length = u32::from_le_bytes(number);
        if !(4..=LONGEST).contains(&length) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut texts = vec![0; length as usize];
        from.read_exact(&mut texts)?;
        let (count, texts) = texts.split_at(4);
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]) as usize;
        let mut texts = texts.split_inclusive(|&byte| byte == 0).map(text);
        let mut next = || texts.next().unwrap_or_else(|| Err(io::ErrorKind::InvalidData.into()));
        let (directory, program) = (next()?, next()?);
        let arguments = (0..count).map(|_| next()).collect::<io::Result<_>>()?;
        Ok(Self { directory, program, arguments, environment: texts.collect::<io::Result<_>>()? })
    }
}

/// A text from its bytes, with the NUL at its end.
fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::from_vec_with_nul(bytes.to_vec()).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// A command of the engine to an init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Send this signal to the program's group, if the program is still running.
    Signal(u8),
    /// End all descendants: SIGTERM, then SIGKILL after a moment.
    End,
    /// Kill all descendants now.
    Kill,
}

impl Command {
    pub const fn bytes(self) -> [u8; 2] {
        match self {
            Self::Signal(signal) => [b's', signal],
            Self::End => [b'e', 0],
            Self::Kill => [b'k', 0],
        }
    }

    pub const fn read(bytes: [u8; 2]) -> Option<Self> {
        match bytes {
            [b's', signal] => Some(Self::Signal(signal)),
            [b'e', 0] => Some(Self::End),
            [b'k', 0] => Some(Self::Kill),
            _ => None,
        }
    }
}

/// The step of a start that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Becoming the process that adopts orphans.
    Adopt,
    /// Forking a process.
    Fork,
    /// Entering the working directory.
    Directory,
    /// Executing the program.
    Execute,
}

impl Step {
    const ALL: [Self; 4] = [Self::Adopt, Self::Fork, Self::Directory, Self::Execute];

    /// The step with this number, as it is sent.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// An answer of an init to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The program has started.
    Started {
        pid: u32,
        /// 0 if unknown.
        start_time: u64,
        /// The process id of the init.
        init: u32,
    },
    /// It could not be started.
    Failed {
        step: Step,
        /// The system's error.
        errno: i32,
    },
    /// The program has exited, with this status of `wait`.
    Exited(i32),
    /// Nothing is left of the launch.
    Over,
}

impl Answer {
    /// The size of an answer, in bytes.
    pub const SIZE: usize = 20;

    pub fn bytes(self) -> [u8; Self::SIZE] {
        let (kind, step, number, time, init) = match self {
            Self::Started { pid, start_time, init } => (1, 0, pid, start_time, init),
            Self::Failed { step, errno } => (2, step as u8, errno as u32, 0, 0),
            Self::Exited(status) => (3, 0, status as u32, 0, 0),
            Self::Over => (4, 0, 0, 0, 0),
        };
        let mut bytes = [0; Self::SIZE];
        (bytes[0], bytes[1]) = (kind, step);
        bytes[4..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..16].copy_from_slice(&time.to_le_bytes());
        bytes[16..].copy_from_slice(&init.to_le_bytes());
        bytes
    }

    pub fn read(bytes: [u8; Self::SIZE]) -> Option<Self> {
        let [kind, step, _, _, rest @ ..] = bytes;
        let [a, b, c, d, time @ .., e, f, g, h] = rest;
        let (number, time) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(time));
        match kind {
            1 => {
                let init = u32::from_le_bytes([e, f, g, h]);
                Some(Self::Started { pid: number, start_time: time, init })
            }
            2 => Some(Self::Failed { step: Step::of(step)?, errno: number as i32 }),
            3 => Some(Self::Exited(number as i32)),
            4 => Some(Self::Over),
            _ => None,
        }
    }
}
