//! The queue of a drive: user requests come first, and an agent's output never piles up.
//!
//! Where only the latest value counts (the to-do list, usage, what the agent waits for), it replaces the queued one,
//! and text is joined. Everything else is queued in order. If too much is queued, the thread that reads the agent's
//! output blocks, and with it the agent.

use super::message::Message;
use crate::harness::{Progress, Signal};
use crate::prompt::tail;
use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limit of queued agent signals.
const MAX_SIGNALS: usize = 256;
/// Limit of queued agent signals in bytes. A larger one is queued alone.
const MAX_BYTES: usize = 4 << 20;
/// Limit of the text that is kept in order to show its last line, in bytes.
const TEXT: usize = 16 * 1024;

/// The sending end. There may be many.
#[derive(Debug)]
pub struct Outbox(Arc<Queue>);

/// The receiving end. There is one; without it, nothing can be sent.
#[derive(Debug)]
pub struct Inbox(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Debug, Default)]
struct State {
    orders: VecDeque<Message>,
    signals: VecDeque<(u32, Signal)>,
    bytes: usize,
    outboxes: usize,
    /// The receiver is gone.
    closed: bool,
    /// Signals of agents are dropped.
    ignores_agents: bool,
}

/// Creates a queue and returns its two ends.
pub fn mailbox() -> (Outbox, Inbox) {
    let queue =
        Arc::new(Queue { state: Mutex::new(State { outboxes: 1, ..State::default() }), ..Queue::default() });
    (Outbox(queue.clone()), Inbox(queue))
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// Sends a message. Only agent signals may block. Returns false if the receiver is gone.
    pub fn send(&self, message: Message) -> bool {
        let mut state = self.0.state();
        let Message::Agent(launch, signal) = message else {
            if state.closed {
                return false;
            }
            state.orders.push_back(message);
            self.0.filled.notify_all();
            return true;
        };
        let Some(signal) = state.joined(launch, signal) else { return true };
        let weight = weight(&signal);
        while state.is_full(weight) && !state.closed && !state.ignores_agents {
            state = self.0.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        if !state.ignores_agents {
            state.bytes += weight;
            state.signals.push_back((launch, signal));
            self.0.filled.notify_all();
        }
        true
    }
}

impl State {
    fn is_full(&self, weight: usize) -> bool {
        !self.signals.is_empty() && (self.signals.len() >= MAX_SIGNALS || self.bytes + weight > MAX_BYTES)
    }

    /// Joins a signal with a queued one, or returns it if it must be queued itself. Signals that it replaces are
    /// removed.
    fn joined(&mut self, launch: u32, signal: Signal) -> Option<Signal> {
        let Signal::Progress(progress) = &signal else { return Some(signal) };
        if let Progress::Text { text } = progress {
            let texts = self.signals.iter_mut().rev().filter(|(of, _)| *of == launch);
            let mut texts = texts.filter_map(|(_, signal)| match signal {
                Signal::Progress(Progress::Text { text }) => Some(text),
                _ => None,
            });
            if let Some(waits) = texts.next() {
                let before = waits.len();
                waits.push_str(text);
                if waits.len() > 2 * TEXT {
                    *waits = tail(waits, TEXT).to_owned();
                }
                self.bytes = self.bytes + waits.len() - before;
                return None;
            }
            return Some(signal);
        }
        let replaces = |(of, waits): &(u32, Signal)| *of == launch && is_newer(progress, waits);
        if let Some(at) = self.signals.iter().rposition(replaces)
            && let Some((_, old)) = self.signals.remove(at)
        {
            self.bytes -= weight(&old);
        }
        Some(signal)
    }

    fn next(&mut self, queue: &Queue) -> Option<Message> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        let (launch, signal) = self.signals.pop_front()?;
        self.bytes -= weight(&signal);
        queue.drained.notify_all();
        Some(Message::Agent(launch, signal))
    }
}

/// Whether the progress makes a queued signal obsolete.
fn is_newer(progress: &Progress, waits: &Signal) -> bool {
    matches!(
        (progress, waits),
        (Progress::Todo { .. }, Signal::Progress(Progress::Todo { .. }))
            | (Progress::Usage { .. }, Signal::Progress(Progress::Usage { .. }))
            | (Progress::Waiting { .. }, Signal::Progress(Progress::Waiting { .. }))
    )
}

/// The approximate size of a signal in bytes.
fn weight(signal: &Signal) -> usize {
    const LEAST: usize = 64;
    LEAST
        + match signal {
            Signal::Progress(progress) => match progress {
                Progress::Text { text } | Progress::Waiting { text } | Progress::Note { text } => text.len(),
                Progress::Tool { id, title, files, .. } => {
                    id.len() + title.len() + files.iter().map(String::len).sum::<usize>()
                }
                Progress::Todo { items } => items.iter().map(|item| LEAST + item.text.len()).sum(),
                Progress::Usage { .. } => 0,
            },
            Signal::Asked(question) => question.title.len() + question.input.to_string().len(),
            Signal::Ended(ending) => ending.message.len(),
            Signal::Left(processes) => processes.iter().map(String::len).sum(),
            Signal::Started(_) | Signal::Session(_) | Signal::Withdrawn(_) => 0,
        }
}

impl Clone for Outbox {
    fn clone(&self) -> Self {
        self.0.state().outboxes += 1;
        Self(self.0.clone())
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.0.state().outboxes -= 1;
        self.0.filled.notify_all();
    }
}

impl Inbox {
    /// Receives without waiting.
    pub fn try_recv(&self) -> Result<Message, TryRecvError> {
        self.0.state().next(&self.0).ok_or(TryRecvError::Empty)
    }

    /// Waits for a message, for at most `limit`.
    pub fn recv_timeout(&self, limit: Duration) -> Result<Message, RecvTimeoutError> {
        let until = Instant::now().checked_add(limit);
        let mut state = self.0.state();
        loop {
            if let Some(message) = state.next(&self.0) {
                return Ok(message);
            }
            if state.outboxes == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            let left = until.map_or(limit, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(RecvTimeoutError::Timeout);
            }
            state = self.0.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// From now on signals of agents are dropped: they no longer count, and no agent must block.
    pub fn ignore_agents(&self) {
        let mut state = self.0.state();
        state.ignores_agents = true;
        state.signals.clear();
        state.bytes = 0;
        self.0.drained.notify_all();
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.close();
    }
}

impl Inbox {
    /// Refuses all further messages; their senders are told.
    pub fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        let left = (std::mem::take(&mut state.orders), std::mem::take(&mut state.signals));
        self.0.drained.notify_all();
        drop(state);
        // Dropping the messages drops the reply channels in them.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::TodoItem;
    use crate::outcome::Usage;

    fn agent(progress: Progress) -> Message {
        Message::Agent(1, Signal::Progress(progress))
    }

    fn tool(n: usize) -> Message {
        let (id, title, status) = (format!("t{n}"), "Bash x".to_owned(), "running".to_owned());
        agent(Progress::Tool { id, title, status, parent: None, files: Vec::new() })
    }

    fn usage(tokens: u64) -> Message {
        agent(Progress::Usage { usage: Usage { tokens: Some(tokens), cost: None } })
    }

    #[test]
    fn new_progress_replaces_queued_progress_and_texts_are_joined() {
        let (outbox, inbox) = mailbox();
        let text = |text: &str| agent(Progress::Text { text: text.to_owned() });
        let todo = |text: &str| {
            let item = TodoItem { text: text.to_owned(), status: "pending".to_owned() };
            agent(Progress::Todo { items: vec![item] })
        };
        for n in 0..100_000 {
            assert!(outbox.send(usage(n)));
            assert!(outbox.send(todo(&n.to_string())));
            assert!(outbox.send(text("word ")));
        }
        let mut got = Vec::new();
        while let Ok(Message::Agent(1, Signal::Progress(progress))) = inbox.try_recv() {
            got.push(progress);
        }
        assert!(got.len() < MAX_SIGNALS, "{}", got.len());
        assert!(got.iter().any(|it| matches!(it, Progress::Usage { usage } if usage.tokens == Some(99_999))));
        assert!(got.iter().any(|it| matches!(it, Progress::Todo { items } if items[0].text == "99999")));
        assert_eq!(got.iter().filter(|it| matches!(it, Progress::Usage { .. })).count(), 1);
    }

    #[test]
    fn agent_signals_block_when_full_and_user_requests_never_do() {
        let (outbox, inbox) = mailbox();
        let agents = outbox.clone();
        let flood =
            std::thread::spawn(move || (0..10 * MAX_SIGNALS).filter(|&n| agents.send(tool(n))).count());
        while inbox.0.state().signals.len() < MAX_SIGNALS {
            std::thread::yield_now();
        }
        assert!(outbox.send(Message::Checkpoints));
        assert!(matches!(inbox.try_recv(), Ok(Message::Checkpoints)), "ahead of the agent's signals");
        assert!(outbox.send(Message::Leave(Duration::ZERO)));
        assert!(
            matches!(inbox.recv_timeout(Duration::from_secs(9)), Ok(Message::Leave(_))),
            "ahead of the agent's signals"
        );
        let mut seen = 0;
        while seen < 5 * MAX_SIGNALS {
            assert!(inbox.0.state().signals.len() <= MAX_SIGNALS);
            let Ok(Message::Agent(_, Signal::Progress(Progress::Tool { id, .. }))) =
                inbox.recv_timeout(Duration::from_secs(9))
            else {
                panic!("a tool")
            };
            assert_eq!(id, format!("t{seen}"), "in order, none lost");
            seen += 1;
        }
        inbox.ignore_agents();
        assert_eq!(flood.join().unwrap(), 10 * MAX_SIGNALS, "no sender is left blocked");
        assert!(inbox.try_recv().is_err());
    }

    #[test]
    fn the_queue_is_limited_in_bytes_too() {
        let (outbox, inbox) = mailbox();
        let agents = outbox.clone();
        let big = move |_: &i32| agents.send(agent(Progress::Note { text: "x".repeat(MAX_BYTES / 2) }));
        let flood = std::thread::spawn(move || (0..8).filter(big).count());
        for _ in 0..4 {
            assert!(inbox.recv_timeout(Duration::from_secs(9)).is_ok());
            assert!(inbox.0.state().bytes <= MAX_BYTES);
        }
        drop(inbox);
        assert!(flood.join().unwrap() < 8, "the sender is told that the receiver is gone");
        assert!(!outbox.send(Message::Checkpoints));
    }

    #[test]
    fn a_closed_inbox_refuses_messages() {
        let (outbox, inbox) = mailbox();
        inbox.close();
        assert!(!outbox.send(Message::Checkpoints));
        assert!(inbox.try_recv().is_err());
    }

    #[test]
    fn the_receiver_is_told_when_all_senders_are_gone() {
        let (outbox, inbox) = mailbox();
        assert!(matches!(inbox.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout)));
        drop(outbox);
        assert!(matches!(inbox.recv_timeout(Duration::from_secs(9)), Err(RecvTimeoutError::Disconnected)));
    }
}
