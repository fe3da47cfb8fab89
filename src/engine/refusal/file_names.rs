//! Names of files in messages.

use crate::terminal::visible;

/// Names of files. A repository or an agent chooses them, and each must look like one name.
pub(super) fn file_names(files: &[String]) -> String {
    files.iter().map(|file| visible(file)).collect::<Vec<_>>().join(", ")
}
