//! The events that wait for the editor, and the bell that says there are some.
//!
//! Threads push; the editor's main loop polls. Nothing here calls the editor: the bell is one byte in a pipe that the
//! editor made, and at most one byte is on its way at a time, however many events wait. A poll takes a bounded number
//! and rings again for the rest, so that no single turn of the main loop grows with the queue.

use crate::sync::locked;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

/// The last of the standard streams.
const STANDARD: RawFd = 2;

/// The queue between the engine's threads and the editor.
///
/// A panic while its lock is held leaves it usable: every change is made in one step.
#[derive(Debug, Default)]
pub struct Queue {
    inner: Mutex<Inner>,
}

/// No more events of one key wait than these. A new picture of a run may come with every line of its log, and while the
/// editor's main loop is blocked nobody takes them.
const PICTURES: usize = 8;

#[derive(Debug, Default)]
struct Inner {
    events: VecDeque<Entry>,
    /// How many were taken so far: the number of the first that waits.
    taken: u64,
    /// The number behind the last event that must arrive.
    edge: u64,
    /// The numbers of the events of each key.
    keyed: BTreeMap<String, VecDeque<u64>>,
    bell: Option<OwnedFd>,
    /// A byte is in the pipe, or was read and the poll that it asked for is still to come.
    rung: bool,
}

#[derive(Debug)]
struct Entry {
    /// Set where a newer event of the same key makes this one worthless.
    key: Option<String>,
    /// As it will be handed over: a fraction of the memory of a tree of values, and no work for the editor's main loop.
    /// None where it was dropped for newer ones of its key.
    event: Option<Arc<str>>,
}

impl Queue {
    /// An empty queue that rings nobody.
    pub const fn new() -> Self {
        Self { inner: Mutex::new(Inner::new()) }
    }

    /// Queues an event that must arrive.
    pub fn push(&self, event: Value) {
        self.push_text(None, event.to_string().into());
    }

    /// Queues an event of which only the newest matters, such as a snapshot.
    ///
    /// It replaces a queued one of the same `key`, unless an event that must arrive was queued in between: order is
    /// never changed, so whoever sees an event has seen the snapshots before it and none from after it. Of more than
    /// [`PICTURES`] that wait the oldest are dropped.
    pub fn push_latest(&self, key: &str, event: Value) {
        self.push_text(Some(key), event.to_string().into());
    }

    /// Queues an event that is written already, of which only the newest matters where it has a key.
    pub fn push_text(&self, key: Option<&str>, event: Arc<str>) {
        let mut inner = self.lock();
        inner.put(key, event);
        inner.ring();
    }

    /// Takes at most `max` events, oldest first. Rings again where some remain.
    pub fn poll(&self, max: usize) -> Vec<Arc<str>> {
        let mut inner = self.lock();
        let taken = std::iter::from_fn(|| inner.take()).take(max).collect();
        inner.rung = false;
        inner.ring();
        taken
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.lock().events.iter().filter(|entry| entry.event.is_some()).count()
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rings on `fd`, the write end of a pipe, from now on; at once where events wait already.
    ///
    /// The descriptor is duplicated: the caller may close its own, and a number that is used again for something
    /// else is never written to. Anything but the write end of a pipe is refused, for a byte on a terminal or on the
    /// editor's own channel would do harm.
    pub fn attach(&self, fd: RawFd) -> io::Result<()> {
        let bell = write_end(fd)?;
        let mut inner = self.lock();
        inner.bell = Some(bell);
        inner.rung = false;
        inner.ring();
        Ok(())
    }

    /// Rings nobody from now on. Events are kept for the next who polls.
    pub fn detach(&self) {
        let mut inner = self.lock();
        inner.bell = None;
        inner.rung = false;
    }

    /// Runs `body` while the lock is held: for the drill, which panics there.
    pub(super) fn hold(&self, body: impl FnOnce()) {
        let _guard = self.lock();
        body();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        locked(&self.inner)
    }
}

impl Inner {
    const fn new() -> Self {
        Self { events: VecDeque::new(), taken: 0, edge: 0, keyed: BTreeMap::new(), bell: None, rung: false }
    }

    fn put(&mut self, key: Option<&str>, event: Arc<str>) {
        let next = self.taken + self.events.len() as u64;
        match key {
            None => self.edge = next + 1,
            Some(key) => {
                let waiting = self.keyed.entry(key.to_owned()).or_default();
                let newest = waiting.back().copied().filter(|number| *number >= self.edge);
                if let Some(entry) = newest.and_then(|at| self.events.get_mut((at - self.taken) as usize)) {
                    entry.event = Some(event);
                    return;
                }
                waiting.push_back(next);
                if waiting.len() > PICTURES
                    && let Some(oldest) = waiting.pop_front()
                    && let Some(entry) = self.events.get_mut((oldest - self.taken) as usize)
                {
                    (entry.key, entry.event) = (None, None);
                }
            }
        }
        self.events.push_back(Entry { key: key.map(str::to_owned), event: Some(event) });
    }

    /// The oldest event that was not dropped.
    fn take(&mut self) -> Option<Arc<str>> {
        loop {
            let Entry { key, event } = self.events.pop_front()?;
            self.taken += 1;
            if let Some(key) = key
                && let Some(waiting) = self.keyed.get_mut(&key)
            {
                waiting.pop_front();
                if waiting.is_empty() {
                    self.keyed.remove(&key);
                }
            }
            if event.is_some() {
                return event;
            }
        }
    }

    /// A full pipe holds bytes enough, and a closed one has nobody to wake: neither is a fault.
    fn ring(&mut self) {
        let Some(bell) = &self.bell else { return };
        if self.rung || self.events.is_empty() {
            return;
        }
        self.rung = matches!(rustix::io::write(bell, b"!"), Ok(1) | Err(Errno::AGAIN));
    }
}

/// A duplicate of `fd`, close-on-exec and non-blocking, if it is the write end of a pipe. The standard streams may be
/// pipes too, the editor's own channel among them: they are never ours.
fn write_end(fd: RawFd) -> io::Result<OwnedFd> {
    let not_a_pipe =
        || io::Error::new(io::ErrorKind::InvalidInput, format!("\"{fd}\" is not the write end of a pipe"));
    if fd <= STANDARD {
        return Err(not_a_pipe());
    }
    // SAFETY: it is no negative number, and the calls below answer an error for one that is not open.
    let theirs = unsafe { BorrowedFd::borrow_raw(fd) };
    let flags = fcntl_getfl(theirs)?;
    let is_pipe = FileType::from_raw_mode(fstat(theirs)?.st_mode) == FileType::Fifo;
    if !is_pipe || flags & OFlags::RWMODE == OFlags::RDONLY {
        return Err(not_a_pipe());
    }
    let copy = fcntl_dupfd_cloexec(theirs, STANDARD + 1)?;
    fcntl_setfl(&copy, flags | OFlags::NONBLOCK)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn polled(queue: &Queue, max: usize) -> Vec<Value> {
        queue.poll(max).iter().map(|event| serde_json::from_str(event).unwrap()).collect()
    }

    /// The read end, set not to block, and the write end.
    fn pipe() -> (io::PipeReader, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
        (reader, writer)
    }

    /// How many bytes are in the pipe.
    fn rings(reader: &mut io::PipeReader) -> usize {
        let mut bytes = [0; 64];
        reader.read(&mut bytes).unwrap_or(0)
    }

    #[test]
    fn events_come_out_in_the_order_they_went_in() {
        let queue = Queue::new();
        (0..5).for_each(|n| queue.push(json!(n)));
        assert_eq!(polled(&queue, 2), [json!(0), json!(1)]);
        assert_eq!(polled(&queue, usize::MAX), [json!(2), json!(3), json!(4)]);
        assert!(queue.poll(1).is_empty());
    }

    #[test]
    fn only_the_newest_of_a_key_is_kept() {
        let queue = Queue::new();
        for n in 0..1000 {
            queue.push_latest("a", json!(["a", n]));
            queue.push_latest("b", json!(["b", n]));
        }
        assert_eq!(polled(&queue, 10), [json!(["a", 999]), json!(["b", 999])]);
    }

    #[test]
    fn a_newer_event_does_not_overtake_one_that_must_arrive() {
        let queue = Queue::new();
        queue.push_latest("run", json!("before"));
        queue.push(json!("gate"));
        queue.push_latest("run", json!("after"));
        queue.push_latest("run", json!("long after"));
        assert_eq!(polled(&queue, 10), [json!("before"), json!("gate"), json!("long after")]);
    }

    #[test]
    fn while_nobody_polls_no_more_pictures_pile_up_than_a_few() {
        let queue = Queue::new();
        for n in 0..10_000 {
            queue.push_latest("run", json!(["picture", n]));
            queue.push_latest("other", json!(["other", n / 5_000]));
            queue.push(json!(n));
        }
        assert_eq!(queue.len(), 10_000 + 2 * PICTURES);
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        while let [first, ..] = &*polled(&queue, 1) {
            seen.extend((first[0] == "picture").then(|| (first[1].clone(), all.len())));
            all.extend(first.is_number().then(|| first.clone()));
        }
        assert!(all.iter().enumerate().all(|(n, event)| *event == json!(n)) && all.len() == 10_000);
        let newest = 10_000 - PICTURES..10_000;
        assert_eq!(seen, newest.map(|n| (json!(n), n)).collect::<Vec<_>>(), "each before its own event");
        assert!(queue.is_empty() && locked(&queue.inner).keyed.is_empty());
        queue.push_latest("run", json!("again"));
        queue.push_latest("run", json!("and again"));
        assert_eq!(polled(&queue, 10), [json!("and again")]);
    }

    #[test]
    fn many_events_ring_once_and_a_bounded_poll_rings_for_the_rest() {
        let (mut reader, writer) = pipe();
        let queue = Queue::new();
        queue.attach(writer.as_raw_fd()).unwrap();
        (0..1000).for_each(|n| queue.push(json!(n)));
        assert_eq!(rings(&mut reader), 1);
        assert_eq!(queue.poll(400).len(), 400);
        assert_eq!(rings(&mut reader), 1);
        assert_eq!(queue.poll(600).len(), 600);
        assert_eq!(rings(&mut reader), 0, "nothing waits, nothing rings");
        queue.push(json!("again"));
        assert_eq!(rings(&mut reader), 1);
    }

    #[test]
    fn events_queued_before_attach_ring_on_attach() {
        let (mut reader, writer) = pipe();
        let queue = Queue::new();
        queue.push(json!("early"));
        queue.attach(writer.as_raw_fd()).unwrap();
        assert_eq!(rings(&mut reader), 1);
        queue.detach();
        queue.push(json!("unheard"));
        assert_eq!(rings(&mut reader), 0);
        assert_eq!(queue.poll(10).len(), 2, "a detached queue keeps its events");
    }

    #[test]
    fn the_caller_may_close_its_end_and_the_reader_may_go() {
        let (mut reader, writer) = pipe();
        let queue = Queue::new();
        queue.attach(writer.as_raw_fd()).unwrap();
        drop(writer);
        queue.push(json!(1));
        assert_eq!(rings(&mut reader), 1);
        drop(reader);
        queue.poll(10);
        (0..10).for_each(|n| queue.push(json!(n)));
        assert_eq!(queue.poll(100).len(), 10);
    }

    #[test]
    fn a_full_pipe_does_not_block() {
        let (_reader, writer) = pipe();
        let queue = Queue::new();
        queue.attach(writer.as_raw_fd()).unwrap();
        for n in 0..200_000 {
            queue.push(json!(n));
            queue.poll(1);
        }
    }

    #[test]
    fn what_is_no_pipe_to_write_to_is_refused() {
        let (reader, _writer) = pipe();
        let file = tempfile::tempfile().unwrap();
        let queue = Queue::new();
        for fd in [-1, 0, 1, 2, i32::MIN, i32::MAX, 100_000, reader.as_raw_fd(), file.as_raw_fd()] {
            assert!(queue.attach(fd).is_err(), "{fd}");
        }
        queue.push(json!("quiet"));
    }

    #[test]
    fn a_panic_under_the_lock_leaves_the_queue_usable() {
        let queue = Arc::new(Queue::new());
        let held = AssertUnwindSafe(&queue);
        let panicked = catch_unwind(|| {
            held.hold(|| panic!("under the lock"));
        });
        assert!(panicked.is_err() && queue.inner.is_poisoned());
        queue.push(json!("after"));
        assert_eq!(polled(&queue, 10), [json!("after")]);
    }

    #[test]
    fn threads_lose_nothing() {
        let queue = Arc::new(Queue::new());
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || (0..1000).for_each(|n| queue.push(json!(n))))
            })
            .collect();
        let mut seen = 0;
        while seen < 8000 {
            seen += queue.poll(200).len();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(queue.is_empty());
    }
}
