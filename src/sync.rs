//! Locks that a panic elsewhere does not spoil, waits that end, and what a panic said.
//!
//! A panic while a lock is held poisons it, and everybody after that would panic too. What we keep under locks is changed
//! in one step, so that it can be used on.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Takes a lock, also one under which somebody panicked.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until somebody rings.
pub fn wait<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    bell.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits until somebody rings or the time is over. Rings without a reason are possible.
pub fn wait_until<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>, until: Instant) -> MutexGuard<'a, T> {
    let left = until.saturating_duration_since(Instant::now());
    bell.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
}

/// What a panic said.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Something that happens once, and can be waited for.
#[derive(Debug, Default)]
pub struct Once {
    happened: Mutex<bool>,
    bell: Condvar,
}

impl Once {
    /// It has happened.
    pub fn set(&self) {
        *locked(&self.happened) = true;
        self.bell.notify_all();
    }

    /// Whether it has.
    pub fn is_set(&self) -> bool {
        *locked(&self.happened)
    }

    /// Waits for it; whether it has happened by then.
    pub fn wait(&self, until: Instant) -> bool {
        let mut happened = locked(&self.happened);
        while !*happened && Instant::now() < until {
            happened = wait_until(&self.bell, happened, until);
        }
        *happened
    }
}

/// Lets something have happened when it is dropped, also by a panic.
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
    fn what_happens_once_is_waited_for_and_not_longer_than_asked() {
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
    fn a_panic_under_a_lock_leaves_it_usable_and_its_words_are_known() {
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
