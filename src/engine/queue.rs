//! The events that wait for the editor, and the pipe that wakes it.
//!
//! Threads push events and the editor's main loop polls. Nothing here calls the editor: one byte in a pipe that the editor
//! made wakes it, and at most one byte is in the pipe, however many events wait. A poll takes a bounded number and writes
//! another byte for the rest, so that no turn of the main loop grows with the queue.

use super::bell::write_end;
use crate::sync::locked;
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::Shutdown;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

/// The queue between the engine's threads and the editor's main thread.
///
/// It stays usable after a panic while the lock is held, because every change is made in one step.
#[derive(Debug, Default)]
pub struct Queue {
    inner: Mutex<Inner>,
}

/// Maximum number of queued events per key. A snapshot may come with each log line, and while the editor's main loop is
/// blocked nothing takes them.
const MAX_SNAPSHOTS: usize = 8;

#[derive(Debug, Default)]
struct Inner {
    events: VecDeque<Entry>,
    /// What the queued events need, in bytes.
    bytes: usize,
    /// The connection of the reader, which is ended when they need more bytes than this.
    limit: Option<(usize, UnixStream)>,
    /// It was ended for that: nothing is queued any more.
    closed: bool,
    /// The number of events taken so far, which is the number of the first one in the queue.
    taken: u64,
    /// The number after that of the newest event without a key.
    edge: u64,
    /// The numbers of the queued events, by key.
    keyed: BTreeMap<String, VecDeque<u64>>,
    bell: Option<OwnedFd>,
    /// Whether a byte is in the pipe, or was read and the poll after it is still to come.
    rung: bool,
}

#[derive(Debug)]
struct Entry {
    /// Set if a newer event with the same key replaces this one.
    key: Option<String>,
    /// Serialized when it is queued: this needs less memory than a tree of values, and no work on the main thread. `None`
    /// if newer events with its key replaced it.
    event: Option<Arc<str>>,
}

impl Queue {
    /// An empty queue without a pipe.
    pub const fn new() -> Self {
        Self { inner: Mutex::new(Inner::new()) }
    }

    /// An empty queue for the reader at the other end of a connection. When more bytes than this wait for it they are
    /// dropped, and the connection is ended. One event alone may be larger.
    pub fn bounded(bytes: usize, connection: UnixStream) -> Self {
        let inner = Inner { limit: Some((bytes, connection)), ..Inner::new() };
        Self { inner: Mutex::new(inner) }
    }

    /// Queues an event that must be delivered.
    pub fn push(&self, event: Value) {
        self.push_text(None, event.to_string().into());
    }

    /// Queues an event of which only the newest matters, such as a snapshot.
    ///
    /// It replaces a queued event with the same `key`, unless an event that must be delivered was queued after that one:
    /// the order never changes, so a listener never sees a snapshot that is newer than the event before it. If more than
    /// [`MAX_SNAPSHOTS`] wait, the oldest is dropped.
    pub fn push_latest(&self, key: &str, event: Value) {
        self.push_text(Some(key), event.to_string().into());
    }

    /// Queues a serialized event; with a key, only the newest matters.
    pub fn push_text(&self, key: Option<&str>, event: Arc<str>) {
        let mut inner = self.lock();
        if inner.closed {
            return;
        }
        inner.put(key, event);
        inner.end_if_full();
        inner.ring();
    }

    /// Takes at most `max` events, oldest first, and wakes the editor again if some remain.
    pub fn poll(&self, max: usize) -> Vec<Arc<str>> {
        let mut inner = self.lock();
        let taken = std::iter::from_fn(|| inner.take()).take(max).collect();
        inner.rung = false;
        inner.ring();
        taken
    }

    /// The number of queued events.
    pub fn len(&self) -> usize {
        self.lock().events.iter().filter(|entry| entry.event.is_some()).count()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes the editor through `fd`, the write end of a pipe, from now on; at once if events wait already.
    ///
    /// The descriptor is duplicated, so the caller may close its own, and a reused number is never written to. Anything
    /// but the write end of a pipe is refused, because a byte on a terminal or on the editor's own channel would do harm.
    pub fn attach(&self, fd: RawFd) -> io::Result<()> {
        let bell = write_end(fd)?;
        let mut inner = self.lock();
        inner.bell = Some(bell);
        inner.rung = false;
        inner.ring();
        Ok(())
    }

    /// Stops waking the editor. Events stay queued for the next poll.
    pub fn detach(&self) {
        let mut inner = self.lock();
        inner.bell = None;
        inner.rung = false;
    }

    /// Runs `body` with the lock held, so that a test can panic there.
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
        Self {
            events: VecDeque::new(),
            bytes: 0,
            limit: None,
            closed: false,
            taken: 0,
            edge: 0,
            keyed: BTreeMap::new(),
            bell: None,
            rung: false,
        }
    }

    fn end_if_full(&mut self) {
        let full = |(most, _): &mut (usize, UnixStream)| self.bytes > *most && self.events.len() > 1;
        if let Some((_, connection)) = self.limit.take_if(full) {
            while self.take().is_some() {}
            self.closed = true;
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn put(&mut self, key: Option<&str>, event: Arc<str>) {
        let next = self.taken + self.events.len() as u64;
        self.bytes += event.len();
        match key {
            None => self.edge = next + 1,
            Some(key) => {
                let waiting = self.keyed.entry(key.to_owned()).or_default();
                let newest = waiting.back().copied().filter(|number| *number >= self.edge);
                if let Some(entry) = newest.and_then(|at| self.events.get_mut((at - self.taken) as usize)) {
                    let old = entry.event.replace(event);
                    self.bytes -= old.map_or(0, |old| old.len());
                    return;
                }
                waiting.push_back(next);
                if waiting.len() > MAX_SNAPSHOTS
                    && let Some(oldest) = waiting.pop_front()
                    && let Some(entry) = self.events.get_mut((oldest - self.taken) as usize)
                {
                    self.bytes -= entry.event.take().map_or(0, |old| old.len());
                    entry.key = None;
                }
            }
        }
        self.events.push_back(Entry { key: key.map(str::to_owned), event: Some(event) });
    }

    /// Takes the oldest event that was not dropped.
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
            if let Some(event) = event {
                self.bytes -= event.len();
                return Some(event);
            }
        }
    }

    /// Writes a byte, if none is in the pipe. A full pipe and a closed one are not errors: the first wakes the reader
    /// anyway, the second has no reader.
    fn ring(&mut self) {
        let Some(bell) = &self.bell else { return };
        if self.rung || self.events.is_empty() {
            return;
        }
        self.rung = matches!(rustix::io::write(bell, b"!"), Ok(1) | Err(Errno::AGAIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{OFlags, fcntl_setfl};
    use serde_json::json;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn polled(queue: &Queue, max: usize) -> Vec<Value> {
        queue.poll(max).iter().map(|event| serde_json::from_str(event).unwrap()).collect()
    }

    /// The read end, non-blocking, and the write end.
    fn pipe() -> (io::PipeReader, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
        (reader, writer)
    }

    /// The number of bytes in the pipe.
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
    fn snapshots_do_not_pile_up_while_nothing_polls() {
        let queue = Queue::new();
        for n in 0..10_000 {
            queue.push_latest("run", json!(["picture", n]));
            queue.push_latest("other", json!(["other", n / 5_000]));
            queue.push(json!(n));
        }
        assert_eq!(queue.len(), 10_000 + 2 * MAX_SNAPSHOTS);
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        while let [first, ..] = &*polled(&queue, 1) {
            seen.extend((first[0] == "picture").then(|| (first[1].clone(), all.len())));
            all.extend(first.is_number().then(|| first.clone()));
        }
        assert!(all.iter().enumerate().all(|(n, event)| *event == json!(n)) && all.len() == 10_000);
        let newest = 10_000 - MAX_SNAPSHOTS..10_000;
        assert_eq!(seen, newest.map(|n| (json!(n), n)).collect::<Vec<_>>(), "each before its own event");
        assert!(queue.is_empty() && locked(&queue.inner).keyed.is_empty());
        queue.push_latest("run", json!("again"));
        queue.push_latest("run", json!("and again"));
        assert_eq!(polled(&queue, 10), [json!("and again")]);
    }

    #[test]
    fn a_bounded_queue_ends_the_connection_of_a_reader_that_takes_nothing() {
        let (connection, mut reader) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        let queue = Queue::bounded(1000, connection);
        queue.push_text(None, "x".repeat(2000).into());
        assert_eq!(queue.poll(9).len(), 1, "one event may be larger");
        for round in 0..100 {
            queue.push_latest("run", json!("picture"));
            queue.push(json!("y".repeat(300)));
            assert_eq!(queue.poll(9).len(), 2, "what was taken does not count, {round}");
        }
        assert!(reader.read(&mut [0]).is_err(), "it is still open");
        (0..4).for_each(|_| queue.push(json!("y".repeat(400))));
        assert_eq!(reader.read(&mut [0]).unwrap(), 0, "it is ended");
        assert!(queue.is_empty() && queue.lock().bytes == 0, "and nothing is queued any more");
    }

    #[test]
    fn many_events_wake_once_and_a_bounded_poll_wakes_again_for_the_rest() {
        let (mut reader, writer) = pipe();
        let queue = Queue::new();
        queue.attach(writer.as_raw_fd()).unwrap();
        (0..1000).for_each(|n| queue.push(json!(n)));
        assert_eq!(rings(&mut reader), 1);
        assert_eq!(queue.poll(400).len(), 400);
        assert_eq!(rings(&mut reader), 1);
        assert_eq!(queue.poll(600).len(), 600);
        assert_eq!(rings(&mut reader), 0, "an empty queue does not wake the editor");
        queue.push(json!("again"));
        assert_eq!(rings(&mut reader), 1);
    }

    #[test]
    fn events_queued_before_attach_wake_on_attach() {
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
    fn a_closed_pipe_end_is_not_an_error() {
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
    fn no_event_of_any_thread_is_lost() {
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
