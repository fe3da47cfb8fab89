//! Reads a declaration's file, up to the size limit and only if it is a regular file.
//!
//! A name may lead to a device or a pipe that never ends, or to gigabytes; neither may block the editor.

use crate::check::{self, Checked, Context, MAX_BYTES};
use crate::diagnostic::Code;
use crate::engine::refusal::Refusal;
use crate::store::beneath::{self, Door, Refused};
use std::io;
use std::path::Path;

/// The content of a declaration's path.
pub enum File {
    /// A file that may be a declaration.
    Bytes(Vec<u8>),
    /// Something else than a declaration, with the diagnostic that says so.
    Unfit(Code, String),
}

/// Reads a file inside or outside of a project.
pub fn read(root: Option<&Path>, path: &Path) -> Result<File, Refusal> {
    bounded(root, path).map_err(|error| Refusal::disk(format!("cannot read \"{}\"", path.display()), error))
}

/// The checker's result; a file that cannot be read gives one diagnostic.
pub fn checked(root: Option<&Path>, path: &Path, context: &Context) -> Checked {
    match bounded(root, path) {
        Ok(file) => file.checked(context),
        Err(error) => Checked::refused(Code::YamlSyntax, format!("cannot read this file: {error}")),
    }
}

fn bounded(root: Option<&Path>, path: &Path) -> io::Result<File> {
    let door = match root {
        Some(root) => Door::to(root, path),
        None => Door::home(path.parent().unwrap_or(path)),
    };
    let file = match door.open(path) {
        Ok(file) => file,
        Err(error) => return unfit(error),
    };
    let size = file.metadata()?.len();
    if size > MAX_BYTES as u64 {
        return Ok(File::Unfit(Code::Limit, check::too_large(size)));
    }
    // The size is checked again while reading: the file may grow, and files in /proc report size 0.
    match beneath::read_from(&file, path, MAX_BYTES as u64) {
        Ok(bytes) => Ok(File::Bytes(bytes)),
        Err(error) => unfit(error),
    }
}

/// A diagnostic for something that is not a declaration; other errors are returned.
fn unfit(error: io::Error) -> io::Result<File> {
    let message = match Refused::of(&error) {
        Some(Refused::NotAFile(_, "folder")) => "expected a file, found a directory",
        Some(Refused::NotAFile(..)) => "not a regular file; it was not read",
        Some(Refused::TooLarge(..)) => {
            return Ok(File::Unfit(Code::Limit, check::too_large(MAX_BYTES as u64 + 1)));
        }
        _ => return Err(error),
    };
    Ok(File::Unfit(Code::YamlSyntax, message.to_owned()))
}

impl File {
    /// The checker's result.
    pub fn checked(&self, context: &Context) -> Checked {
        match self {
            File::Bytes(bytes) => check::check_bytes(bytes, context),
            File::Unfit(code, message) => Checked::refused(*code, message),
        }
    }

    /// The bytes; empty for something that is not a declaration.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            File::Bytes(bytes) => bytes,
            File::Unfit(..) => Vec::new(),
        }
    }
}
