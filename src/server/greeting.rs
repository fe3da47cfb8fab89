//! The first line of a connection: whether what listens is the project's driver.

use super::socket_path::SocketPath;
use super::wire::{Hello, Refused, read_line};
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a driver may take to say what it is, and to take a line.
const SOON: Duration = Duration::from_secs(2);
/// Limit of the first line, in bytes.
const MAX_FIRST: u64 = 64 << 10;

/// A driver that has said what it is.
pub(super) struct Greeted {
    pub(super) hello: Hello,
    pub(super) stream: UnixStream,
    /// Reads the same stream.
    pub(super) reader: BufReader<UnixStream>,
}

/// Connects to a project's driver; `None` if there is none. The error says what is there instead.
pub(super) fn greet(root: &Path) -> Result<Option<Greeted>, String> {
    for socket in SocketPath::all_of(root)? {
        if let Some(greeted) = greet_at(&socket, root)? {
            return Ok(Some(greeted));
        }
    }
    Ok(None)
}

fn greet_at(socket: &Path, root: &Path) -> Result<Option<Greeted>, String> {
    let stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("cannot connect to \"{}\": {error}", socket.display())),
    };
    let failed = |error: io::Error| format!("cannot talk to \"{}\": {error}", socket.display());
    stream.set_read_timeout(Some(SOON)).map_err(failed)?;
    stream.set_write_timeout(Some(SOON)).map_err(failed)?;
    let mut reader = BufReader::new(stream.try_clone().map_err(failed)?);
    let first = match read_line(&mut reader, MAX_FIRST) {
        Ok(Some(line)) => line,
        // It ended as we came.
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
        Err(_) => {
            return Err(format!("what listens on \"{}\" does not answer as a driver", socket.display()));
        }
    };
    if let Ok(Refused { refused }) = serde_json::from_slice(&first) {
        return Err(refused);
    }
    let hello: Hello = serde_json::from_slice(&first)
        .map_err(|_| format!("what listens on \"{}\" is not a driver of superpower", socket.display()))?;
    if hello.root != root {
        return Err(format!("the driver on \"{}\" serves \"{}\"", socket.display(), hello.root.display()));
    }
    stream.set_read_timeout(None).map_err(failed)?;
    Ok(Some(Greeted { hello, stream, reader }))
}
