//! Locks that survive a panic, waits with a deadline, and the message of a panic.
//!
//! A panic while a lock is held poisons it, so that every later user would panic too. Our locked data is changed in one
//! step, so it is still valid after a panic.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Takes a lock, even if a thread panicked while it held it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification.
pub fn wait<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    bell.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification or the deadline. Spurious wake-ups are possible.
pub fn wait_until<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>, until: Instant) -> MutexGuard<'a, T> {
    let left = until.saturating_duration_since(Instant::now());
    bell.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
}

pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// An event that happens once and can be waited for.
#[derive(Debug, Default)]
pub struct Once {
    happened: Mutex<bool>,
    bell: Condvar,
}

impl Once {
    pub fn set(&self) {
        *locked(&self.happened) = true;
        self.bell.notify_all();
    }

    pub fn is_set(&self) -> bool {
        *locked(&self.happened)
    }

    /// Waits until it happens or until the deadline. Returns whether it happened.
    pub fn wait(&self, until: Instant) -> bool {
        let mut happened = locked(&self.happened);
        while !*happened && Instant::now() < until {
            happened = wait_until(&self.bell, happened, until);
        }
        *happened
    }
}

/// Sets the event when dropped, even during a panic.
#[derive(Debug)]
pub struct AtEnd(pub Arc<Once>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    #[test]
    fn waiting_for_an_event_ends_at_the_deadline() {
        let once = Arc::new(Once::default());
        assert!(!once.wait(Instant::now() + Duration::from_millis(5)));
        let thread = std::thread::spawn({
            let once = once.clone();
            move || once.wait(Instant::now() + Duration::from_secs(60))
        });
        let end = AtEnd(once.clone());
        assert!(
            catch_unwind(AssertUnwindSafe(|| {
                let _end = end;
                panic!("at the end");
            }))
            .is_err()
        );
        assert!(thread.join().unwrap() && once.is_set());
        assert!(once.wait(Instant::now()), "it stays so");
    }

    #[test]
    fn a_lock_stays_usable_after_a_panic_and_the_message_is_known() {
        let lock = Mutex::new(1);
        let held = AssertUnwindSafe(&lock);
        let panic = catch_unwind(|| {
            let mut number = locked(&held);
            *number = 2;
            panic!("number {number}");
        });
        assert_eq!(panic_text(&*panic.unwrap_err()), "number 2");
        assert!(lock.is_poisoned());
        assert_eq!(*locked(&lock), 2);
        assert_eq!(panic_text(&*catch_unwind(|| panic!("as it is")).unwrap_err()), "as it is");
        assert_eq!(panic_text(&7), "no message");
    }
}
