//! A copy of the process environment, taken on the editor's main thread.
//!
//! Only the main thread changes the environment (`vim.env`), and C has no safe way to read it from another thread at
//! the same time. So the main thread takes a copy on every call, and all other threads read the copy. [`crate::zone`]
//! does the same for the local time.

use crate::sync::locked;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString};
use std::sync::{Arc, Mutex};

pub type Variables = BTreeMap<OsString, OsString>;

static SEEN: Mutex<Option<Arc<Variables>>> = Mutex::new(None);

thread_local! {
    static OURS: RefCell<Option<Arc<Variables>>> = const { RefCell::new(None) };
}

/// Captures the current environment. Call it on the editor's main thread only.
pub fn capture() {
    *locked(&SEEN) = Some(Arc::new(std::env::vars_os().collect()));
    crate::zone::capture();
}

/// Replaces the capture: from now on another process's environment counts, the one of whoever asked.
pub fn replace(variables: Arc<Variables>) {
    *locked(&SEEN) = Some(variables);
}

/// Does `work` in the environment of somebody else, if one is given.
pub fn within<T>(variables: Option<Arc<Variables>>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<Variables>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OURS.set(self.0.take());
        }
    }
    let _restore = Restore(OURS.replace(variables));
    work()
}

/// Work for a new thread, which is done there in this thread's environment.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let ours = OURS.with_borrow(Clone::clone);
    move || within(ours, work)
}

/// This thread's environment, the last capture, or else the current environment.
pub fn variables() -> Arc<Variables> {
    if let Some(ours) = OURS.with_borrow(Clone::clone) {
        return ours;
    }
    let seen = locked(&SEEN).clone();
    seen.unwrap_or_else(|| Arc::new(std::env::vars_os().collect()))
}

/// A variable, if it is not empty.
pub fn get(name: &str) -> Option<OsString> {
    variables().get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
}

/// The name of the user who is logged in.
pub fn user() -> String {
    let named = get("USER").or_else(|| get("LOGNAME"));
    named
        .map(|name| name.to_string_lossy().into_owned())
        .or_else(account)
        .unwrap_or_else(|| "somebody".into())
}

/// The account name of the process. Editors in containers have it, but not the variables.
fn account() -> Option<String> {
    let user = rustix::process::getuid().as_raw();
    let mut buffer = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    let mut record = std::mem::MaybeUninit::<libc::passwd>::uninit();
    // SAFETY: the record and the buffer outlive the call, which gets the buffer's length; the result points into them.
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
    use super::*;

    #[test]
    fn the_environment_of_somebody_else_counts_in_one_thread_and_those_it_starts() {
        let one = |value: &str| Some(Arc::new(Variables::from([("A".into(), value.into())])));
        let elsewhere = || std::thread::spawn(|| get("A")).join().unwrap();
        let before = get("A");
        within(one("outer"), || {
            assert!(std::panic::catch_unwind(|| within(one("inner"), || panic!("inside"))).is_err());
            assert_eq!(get("A"), Some("outer".into()));
            let carried = std::thread::spawn(carried(|| get("A"))).join().unwrap();
            assert_eq!(carried, Some("outer".into()));
            assert_eq!(elsewhere(), before, "no other thread sees it");
        });
        assert_eq!(get("A"), before);
    }

    #[test]
    fn the_account_name_matches_the_system() {
        let told = std::process::Command::new("id").arg("-un").output().unwrap();
        // If the account has no name, `id` prints its number and fails.
        let name = told.status.success().then(|| String::from_utf8(told.stdout).unwrap().trim().to_owned());
        assert_eq!(super::account(), name);
    }
}
