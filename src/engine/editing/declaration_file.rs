//! A declaration's file: read as far as a declaration may be long, and only where it is a file.
//!
//! A name may lead to a device or a pipe that never ends, or to gigabytes; neither holds the editor up.

use crate::check::{self, Checked, Context, MAX_BYTES};
use crate::diagnostic::Code;
use crate::engine::refusal::Refusal;
use crate::store::beneath::{self, Door, Refused};
use std::io;
use std::path::Path;

/// What was found under a name.
pub enum File {
    /// A file that may be a declaration.
    Bytes(Vec<u8>),
    /// Something that cannot be one, and why.
    Unfit(Code, String),
}

/// Reads a file: of a project, or from elsewhere.
pub fn read(root: Option<&Path>, path: &Path) -> Result<File, Refusal> {
    bounded(root, path).map_err(|error| Refusal::disk(format!("cannot read \"{}\"", path.display()), error))
}

/// What the checker says of a file; where it cannot be read, that.
pub fn checked(root: Option<&Path>, path: &Path, context: &Context) -> Checked {
    match bounded(root, path) {
        Ok(file) => file.checked(context),
        Err(error) => Checked::refused(Code::YamlSyntax, format!("this cannot be read: {error}")),
    }
}

fn bounded(root: Option<&Path>, path: &Path) -> io::Result<File> {
    let door = Door::to(root.unwrap_or(path), path);
    let file = match door.open(path) {
        Ok(file) => file,
        Err(error) => return unfit(error),
    };
    let size = file.metadata()?.len();
    if size > MAX_BYTES as u64 {
        return Ok(File::Unfit(Code::Limit, check::too_large(size)));
    }
    // It may grow while it is read, and files of the system's own say that they are empty.
    match beneath::read_from(&file, path, MAX_BYTES as u64) {
        Ok(bytes) => Ok(File::Bytes(bytes)),
        Err(error) => unfit(error),
    }
}

/// What is there and cannot be a declaration, in words; else the error.
fn unfit(error: io::Error) -> io::Result<File> {
    let message = match Refused::of(&error) {
        Some(Refused::NotAFile(_, "folder")) => "this is a directory: a superpower is a file",
        Some(Refused::NotAFile(..)) => "this is no regular file, and was not read",
        Some(Refused::TooLarge(..)) => {
            return Ok(File::Unfit(Code::Limit, check::too_large(MAX_BYTES as u64 + 1)));
        }
        _ => return Err(error),
    };
    Ok(File::Unfit(Code::YamlSyntax, message.to_owned()))
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
