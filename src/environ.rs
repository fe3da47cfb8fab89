//! The process's environment, as the editor's main thread last saw it.
//!
//! That thread alone changes it (`vim.env`), and C gives no safe way to read it from another thread meanwhile. So the
//! main thread takes a copy with every call, and everybody reads the copy.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

/// Variables by name.
pub type Variables = BTreeMap<OsString, OsString>;

static SEEN: Mutex<Option<Arc<Variables>>> = Mutex::new(None);

/// Takes the environment as it is now. For the editor's main thread.
pub fn capture() {
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(std::env::vars_os().collect()));
}

/// What was captured last, else the environment as it is.
pub fn variables() -> Arc<Variables> {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    seen.unwrap_or_else(|| Arc::new(std::env::vars_os().collect()))
}

/// A variable that is not empty.
pub fn get(name: &str) -> Option<OsString> {
    variables().get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
}
