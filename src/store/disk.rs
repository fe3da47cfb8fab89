//! The one seam between the engine and the disk: every write, flush, rename and read passes here, so that a
//! test can make any of them fail, or be the last thing that happens.

use crate::sync::locked;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes are written.
    Write,
    /// Written bytes are flushed to the disk.
    Flush,
    /// A file is renamed over another.
    Rename,
    /// A file is read.
    Read,
}

/// Decides whether an operation may happen.
pub type Probe = Box<dyn FnMut(Op, &Path) -> io::Result<()> + Send>;

static ARMED: AtomicBool = AtomicBool::new(false);
static PROBE: Mutex<Option<Probe>> = Mutex::new(None);

/// Asks the probe, if one is set, whether this may happen.
pub fn pass(op: Op, path: &Path) -> io::Result<()> {
    if !ARMED.load(Ordering::Relaxed) {
        return Ok(());
    }
    match locked(&PROBE).as_mut() {
        Some(probe) => probe(op, path),
        None => Ok(()),
    }
}

/// Sets the probe for the whole process, or takes it away. For tests.
pub fn set_probe(probe: Option<Probe>) {
    let mut place = locked(&PROBE);
    ARMED.store(probe.is_some(), Ordering::Relaxed);
    *place = probe;
}

/// Hears of every path that the door to files is asked for, below the folder that is known.
pub type Witness = Box<dyn FnMut(&Path, &Path) + Send>;

static WATCHED: AtomicBool = AtomicBool::new(false);
static WITNESS: Mutex<Option<Witness>> = Mutex::new(None);

/// Tells the witness, if there is one, which path below which folder is asked for.
pub fn asked(base: &Path, inner: &Path) {
    if WATCHED.load(Ordering::Relaxed)
        && let Some(witness) = locked(&WITNESS).as_mut()
    {
        witness(base, inner);
    }
}

/// Sets the witness for the whole process, or takes it away. For tests.
pub fn set_witness(witness: Option<Witness>) {
    let mut place = locked(&WITNESS);
    WATCHED.store(witness.is_some(), Ordering::Relaxed);
    *place = witness;
}

/// Arms the probe from `SUPERPOWER_FAULT`: `die:N` ends the process at the N-th operation, `fail:N` makes every
/// operation from the N-th on fail as on a full disk. For tests that must lose a whole process.
pub fn arm_from_environment() {
    let Ok(setting) = std::env::var("SUPERPOWER_FAULT") else { return };
    let Some((what, n)) = setting.split_once(':') else { return };
    let Ok(mut left) = n.parse::<u64>() else { return };
    let die = what == "die";
    set_probe(Some(Box::new(move |op, _| {
        if op == Op::Read {
            return Ok(());
        }
        left = left.saturating_sub(1);
        match left {
            // SAFETY: ends the process without running anything else of it, which is the point.
            0 if die => unsafe { libc::_exit(137) },
            0 => Err(rustix::io::Errno::NOSPC.into()),
            _ => Ok(()),
        }
    })));
}
