//! A client of a driver's socket that only listens.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

/// Prints the first line that comes over a socket.
pub fn reads_the_first_line(socket: &str) {
    let mut line = String::new();
    BufReader::new(UnixStream::connect(socket).unwrap()).read_line(&mut line).unwrap();
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
