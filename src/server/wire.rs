//! What goes over a driver's socket: JSON, one object a line, each line bounded.
//!
//! The driver speaks first ([`Hello`], or [`Refused`]). A client sends [`Call`]s. The driver sends the engine's events, and
//! an `answered` event for each call. `hello`, `status`, `pause`, `cancel` and `leave` never change between versions.

use crate::environ::Variables;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, BufRead, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The version of calls and events.
pub const PROTOCOL: u32 = 1;
/// The version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Limit of a client's line, in bytes.
pub const MAX_CALL: u64 = 16 << 20;
/// Limit of a driver's line, in bytes: the picture of a run with ten thousand stages has a part of this.
pub const MAX_EVENT: u64 = 256 << 20;

/// The driver's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The program's version.
    pub superpower: String,
    pub protocol: u32,
    pub pid: u32,
    /// The project.
    pub root: PathBuf,
    /// Whether it is a process of its own, and not a command that serves its run meanwhile.
    #[serde(default)]
    pub driver: bool,
}

/// The driver's first and last line to somebody whom it does not serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub refused: String,
}

/// A client's line.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// Names the call in its answer; unique in a connection.
    #[serde(default)]
    pub id: u64,
    #[serde(flatten)]
    pub act: Act,
}

/// What a client asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Act {
    /// Who the client is: whether it is an editor that has Lua. Answered with what the driver is.
    Hello {
        #[serde(default)]
        lua: bool,
    },
    /// The project's run.
    Status,
    Pause {
        run_id: Option<String>,
    },
    Cancel {
        run_id: Option<String>,
    },
    /// Ends the driver: at once, or as soon as it drives nothing.
    Leave {
        #[serde(default)]
        now: bool,
    },
    /// Interrupts this run, if it is the one that is driven; its agents end.
    Interrupt {
        run_id: String,
    },
    /// Somebody uses this client now.
    Used,
    /// An operation of the engine.
    Call {
        request: Map<String, Value>,
        /// The caller's configuration, if it differs from that of the client's earlier calls.
        config: Option<Value>,
        /// The caller's environment, likewise.
        environment: Option<Vec<String>>,
    },
}

/// Reads a line of at most `max` bytes; `None` at the end.
pub fn read_line(reader: &mut impl BufRead, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = reader.by_ref().take(max).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(line));
    }
    match read {
        0 => Ok(None),
        _ if read as u64 == max => Err(io::Error::other("a line is too long")),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// An environment as text. What is not UTF-8 is marked and encoded.
pub fn packed(variables: &Variables) -> Vec<String> {
    let pack = |(name, value): (&OsString, &OsString)| {
        let bytes = [name.as_bytes(), value.as_bytes()].join(&b'=');
        String::from_utf8(bytes).unwrap_or_else(|error| format!("={}", STANDARD.encode(error.as_bytes())))
    };
    variables.iter().map(pack).collect()
}

/// The environment of a packed one; entries without a name are left out.
pub fn unpacked(packed: &[String]) -> Variables {
    let unpack = |entry: &String| {
        let bytes = match entry.strip_prefix('=') {
            Some(encoded) => STANDARD.decode(encoded).ok()?,
            None => entry.clone().into_bytes(),
        };
        let at = bytes.iter().position(|&byte| byte == b'=').filter(|&at| at > 0)?;
        let value = OsString::from_vec(bytes[at + 1..].to_vec());
        Some((OsString::from_vec(bytes[..at].to_vec()), value))
    };
    packed.iter().filter_map(unpack).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_arrives_as_it_was() {
        let of = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let variables = Variables::from([
            (of(b"A"), of(b"b=c\nd")),
            (of(b"EMPTY"), of(b"")),
            (of(b"BYTES"), of(b"\xff\xfe=")),
        ]);
        assert_eq!(unpacked(&packed(&variables)), variables);
        assert!(unpacked(&["=".into(), "noname".into(), "=AD1=".into()]).is_empty());
    }

    #[test]
    fn lines_are_bounded_and_whole() {
        let lines = |text: &str| {
            let mut reader = text.as_bytes();
            let mut all = Vec::new();
            loop {
                match read_line(&mut reader, 8) {
                    Ok(Some(line)) => all.push(String::from_utf8(line).unwrap()),
                    Ok(None) => return (all, None),
                    Err(error) => return (all, Some(error.to_string())),
                }
            }
        };
        assert_eq!(lines("a\n\nbcdefgh\n"), (vec!["a".into(), "".into(), "bcdefgh".into()], None));
        assert_eq!(lines("a\n12345678\n").1.as_deref(), Some("a line is too long"));
        assert!(lines("a\nhalf").1.is_some(), "a line that was cut off is none");
    }
}
