//! The drivers that there are, for `:checkhealth` and for ending one.

use super::socket_path::{self, SocketPath};
use super::wire::{Hello, PROTOCOL, VERSION, read_line};
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a driver may take to say what it is.
const SOON: Duration = Duration::from_millis(500);
/// How long it may take to end its agents and itself.
const END: Duration = Duration::from_secs(10);
/// Limit of a line that is read here, in bytes.
const MAX_LINE: u64 = 64 << 10;

/// What listens on each socket of this user: what it is and drives, or why it cannot be told.
pub(super) fn drivers() -> Value {
    let all = socket_path::sockets().into_iter().map(|socket| {
        let mut known = match open(&socket).and_then(|(hello, stream)| asked(hello, stream)) {
            Ok(known) => known,
            Err(error) => json!({ "problem": error.to_string() }),
        };
        known["socket"] = json!(socket);
        known
    });
    all.collect()
}

/// Ends a project's driver: its runs are interrupted. Returns what it was; null where there was none.
pub(super) fn end(root: &Path) -> Result<Value, String> {
    for socket in SocketPath::all_of(root)? {
        match open(&socket) {
            Ok((hello, stream)) => return end_at(hello, stream),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {}
            Err(error) => return Err(format!("cannot talk to \"{}\": {error}", socket.display())),
        }
    }
    Ok(Value::Null)
}

fn end_at(hello: Hello, mut stream: UnixStream) -> Result<Value, String> {
    let mut ended = || {
        writeln!(stream, "{}", json!({ "op": "leave", "id": 1, "now": true }))?;
        stream.set_read_timeout(Some(END))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let answer = loop {
            let line = read_line(&mut reader, super::wire::MAX_EVENT)?.unwrap_or_default();
            match serde_json::from_slice::<Value>(&line)? {
                answer if answer["id"] == 1 => break answer["answer"].clone(),
                _ => continue,
            }
        };
        if answer["err"].is_null() {
            // Its end closes the connection.
            while read_line(&mut reader, super::wire::MAX_EVENT)?.is_some() {}
        }
        Ok(answer)
    };
    let answer = ended()
        .map_err(|error: io::Error| format!("cannot end the driver (process {}): {error}", hello.pid))?;
    match answer["err"]["message"].as_str() {
        Some(refused) => Err(refused.to_owned()),
        None => Ok(json!({ "pid": hello.pid, "superpower": hello.superpower })),
    }
}

fn open(socket: &Path) -> io::Result<(Hello, UnixStream)> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(SOON))?;
    stream.set_write_timeout(Some(SOON))?;
    // One byte at a time, so that nothing that follows is lost with the reader.
    let mut reader = BufReader::with_capacity(1, &stream);
    let line = read_line(&mut reader, MAX_LINE)?.unwrap_or_default();
    let hello = serde_json::from_slice(&line).map_err(|_| io::Error::other("not a driver of superpower"))?;
    Ok((hello, stream))
}

/// What a driver says of its work.
fn asked(hello: Hello, mut stream: UnixStream) -> io::Result<Value> {
    let mut known = json!(hello);
    known["current"] = json!(hello.superpower == VERSION && hello.protocol == PROTOCOL);
    writeln!(stream, "{}", json!({ "op": "status", "id": 1 }))?;
    let mut reader = BufReader::new(stream);
    let answer: Value = loop {
        let line = read_line(&mut reader, super::wire::MAX_EVENT)?.unwrap_or_default();
        let line: Value = serde_json::from_slice(&line).map_err(|_| io::Error::other("it did not answer"))?;
        if line["id"] == 1 {
            break line["answer"]["ok"].clone();
        }
    };
    if answer["state"].is_string() {
        known["run"] = json!({
            "run_id": answer["run_id"], "superpower": answer["superpower"], "state": answer["state"],
            "stage": answer["current_stage"], "total": answer["total"],
        });
    }
    Ok(known)
}
