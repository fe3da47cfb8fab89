//! The process's environment, as the editor's main thread last saw it.
//!
//! That thread alone changes it (`vim.env`), and C gives no safe way to read it from another thread meanwhile. So the
//! main thread takes a copy with every call, and everybody reads the copy; so it is with the local time.

use crate::sync::locked;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString};
use std::sync::{Arc, Mutex};

/// Variables by name.
pub type Variables = BTreeMap<OsString, OsString>;

static SEEN: Mutex<Option<Arc<Variables>>> = Mutex::new(None);

/// Takes the environment as it is now. For the editor's main thread.
pub fn capture() {
    *locked(&SEEN) = Some(Arc::new(std::env::vars_os().collect()));
    crate::zone::capture();
}

/// What was captured last, else the environment as it is.
pub fn variables() -> Arc<Variables> {
    let seen = locked(&SEEN).clone();
    seen.unwrap_or_else(|| Arc::new(std::env::vars_os().collect()))
}

/// A variable that is not empty.
pub fn get(name: &str) -> Option<OsString> {
    variables().get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
}

/// Who sits here: the name that they log in with.
pub fn user() -> String {
    let named = get("USER").or_else(|| get("LOGNAME"));
    named
        .map(|name| name.to_string_lossy().into_owned())
        .or_else(account)
        .unwrap_or_else(|| "somebody".into())
}

/// The name of the process's own account. Editors in containers have it, and none of the variables.
fn account() -> Option<String> {
    let user = rustix::process::getuid().as_raw();
    let mut buffer = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    let mut record = std::mem::MaybeUninit::<libc::passwd>::uninit();
    // SAFETY: the record and the buffer outlive the call, which is told the buffer's length; what it found lies in them.
    unsafe {
        libc::getpwuid_r(user, record.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found);
        if found.is_null() {
            return None;
        }
        Some(CStr::from_ptr((*found).pw_name).to_str().ok()?.to_owned()).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_account_has_the_name_that_the_system_gives_it() {
        let told = std::process::Command::new("id").arg("-un").output().unwrap();
        // Where the account has none, its number is told, as a failure.
        let name = told.status.success().then(|| String::from_utf8(told.stdout).unwrap().trim().to_owned());
        assert_eq!(super::account(), name);
    }
}
