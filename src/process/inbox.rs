//! A queue with one reader. Writers of data block when it is full; orders never block.

use crate::sync::{locked, wait, wait_until};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// Maximum number of queued pieces of data. A piece is at most one read.
const CAPACITY: usize = 16;

/// A queue with one reader and many writers.
#[derive(Debug)]
pub struct Inbox<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Debug)]
struct State<T> {
    orders: VecDeque<T>,
    data: VecDeque<T>,
    closed: bool,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        let state = State { orders: VecDeque::new(), data: VecDeque::new(), closed: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), drained: Condvar::new() }
    }
}

impl<T> Inbox<T> {
    /// Adds an order, which is read before data. Never blocks.
    pub fn order(&self, item: T) {
        locked(&self.state).orders.push_back(item);
        self.filled.notify_all();
    }

    /// Adds data, and blocks while the queue is full. Returns `false` if the reader is gone.
    pub fn data(&self, item: T) -> bool {
        let mut state = locked(&self.state);
        while state.data.len() >= CAPACITY && !state.closed {
            state = wait(&self.drained, state);
        }
        if state.closed {
            return false;
        }
        state.data.push_back(item);
        self.filled.notify_all();
        true
    }

    /// Takes the next item, orders first. `None` when `until` has passed; without `until` it waits forever.
    pub fn next(&self, until: Option<Instant>) -> Option<T> {
        let mut state = locked(&self.state);
        loop {
            if let Some(order) = state.orders.pop_front() {
                return Some(order);
            }
            if let Some(data) = state.data.pop_front() {
                self.drained.notify_all();
                return Some(data);
            }
            state = match until {
                None => wait(&self.filled, state),
                Some(until) if Instant::now() >= until => return None,
                Some(until) => wait_until(&self.filled, state, until),
            };
        }
    }

    /// Marks that there is a reader again.
    pub fn open(&self) {
        locked(&self.state).closed = false;
    }

    /// Marks that the reader is gone, so that writers of data no longer block.
    pub fn close(&self) {
        let mut state = locked(&self.state);
        state.closed = true;
        state.data.clear();
        self.drained.notify_all();
    }
}
