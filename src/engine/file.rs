//! A declaration's file: read as far as a declaration may be long, and only where it is a file.
//!
//! A name may lead to a device or a pipe that never ends, or to gigabytes; neither holds the editor up.

use super::Refusal;
use crate::check::{self, Checked, Context, MAX_BYTES};
use crate::diagnostic::Code;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// What was found under a name.
pub enum File {
    /// A file that may be a declaration.
    Bytes(Vec<u8>),
    /// Something that cannot be one, and why.
    Unfit(Code, String),
}

/// Reads a file.
pub fn read(path: &Path) -> Result<File, Refusal> {
    bounded(path)
        .map_err(|error| Refusal::new("disk", format!("cannot read \"{}\": {error}", path.display())))
}

/// What the checker says of a file; where it cannot be read, that.
pub fn checked(path: &Path, context: &Context) -> Checked {
    match bounded(path) {
        Ok(file) => file.checked(context),
        Err(error) => Checked::refused(Code::YamlSyntax, format!("this cannot be read: {error}")),
    }
}

fn bounded(path: &Path) -> io::Result<File> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        let message = if meta.is_dir() {
            "this is a directory: a superpower is a file"
        } else {
            "this is no regular file, and was not read"
        };
        return Ok(File::Unfit(Code::YamlSyntax, message.to_owned()));
    }
    let too_large = |bytes: u64| File::Unfit(Code::Limit, check::too_large(bytes));
    if meta.len() > MAX_BYTES as u64 {
        return Ok(too_large(meta.len()));
    }
    // It may grow while it is read, and files of the system's own say that they are empty.
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > MAX_BYTES { too_large(bytes.len() as u64) } else { File::Bytes(bytes) })
}

impl File {
    /// What the checker says of it.
    pub fn checked(&self, context: &Context) -> Checked {
        match self {
            File::Bytes(bytes) => check::check_bytes(bytes, context),
            File::Unfit(code, message) => Checked::refused(*code, message),
        }
    }

    /// What was read.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            File::Bytes(bytes) => bytes,
            File::Unfit(..) => Vec::new(),
        }
    }
}
