//! The thread for work that takes locks, replays journals or runs git, so that the editor's main loop does not wait for
//! it. Jobs run in the order in which they were sent.

use crate::sync::locked;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Instant;

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The thread, started with the first job.
#[derive(Default)]
pub(super) struct Worker {
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    outbox: Sender<Job>,
    /// Disconnected when the thread ends.
    end: Receiver<()>,
}

impl Worker {
    /// Sends a job; the error says why no thread could be started.
    pub fn send(&self, job: Job) -> Result<(), String> {
        let mut thread = locked(&self.thread);
        if let Some(Thread { outbox, .. }) = &*thread {
            match outbox.send(job) {
                Ok(()) => return Ok(()),
                // A panic has ended the thread; start another.
                Err(unsent) => return begin(&mut thread, unsent.0),
            }
        }
        begin(&mut thread, job)
    }

    /// Takes no more jobs and waits for those sent; false if they did not finish in time.
    pub fn close(&self, until: Instant) -> bool {
        let Some(Thread { outbox, end }) = locked(&self.thread).take() else { return true };
        drop(outbox);
        let left = until.saturating_duration_since(Instant::now());
        !matches!(end.recv_timeout(left), Err(std::sync::mpsc::RecvTimeoutError::Timeout))
    }
}

fn begin(thread: &mut Option<Thread>, job: Job) -> Result<(), String> {
    let (outbox, inbox) = channel::<Job>();
    let (ended, end) = channel();
    let builder = Builder::new().name("superpower-worker".into());
    let work = move || {
        let _ended: Sender<()> = ended;
        for job in inbox {
            job();
        }
    };
    builder.spawn(work).map_err(|error| error.to_string())?;
    outbox.send(job).map_err(|error| error.to_string())?;
    *thread = Some(Thread { outbox, end });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn jobs_run_in_order_and_close_waits_for_them() {
        let worker = Worker::default();
        let (done, is_done) = channel();
        for n in 0..100 {
            let done = done.clone();
            worker.send(Box::new(move || done.send(n).unwrap())).unwrap();
        }
        assert!(worker.close(Instant::now() + Duration::from_secs(20)));
        assert_eq!(is_done.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        worker.send(Box::new(move || done.send(100).unwrap())).unwrap();
        assert_eq!(is_done.recv(), Ok(100), "a new thread starts after close");
    }

    #[test]
    fn close_does_not_wait_for_a_job_that_takes_too_long() {
        let worker = Worker::default();
        let (go, wait) = channel::<()>();
        worker.send(Box::new(move || wait.recv().unwrap())).unwrap();
        assert!(!worker.close(Instant::now()));
        go.send(()).unwrap();
    }

    #[test]
    fn a_panic_ends_only_its_own_job() {
        let worker = Worker::default();
        let (done, is_done) = channel();
        worker.send(Box::new(|| panic!("in a job"))).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        // Jobs sent before the thread is seen to have ended are lost with it.
        while is_done.recv_timeout(Duration::from_millis(5)).is_err() {
            assert!(Instant::now() < end);
            let done = done.clone();
            worker.send(Box::new(move || done.send(()).unwrap())).unwrap();
        }
    }
}
