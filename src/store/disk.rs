//! The seam between the engine and the disk. Every write, flush, rename and read passes here, so that a test can make
//! any of them fail or end the process there.

use crate::sync::locked;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The operation that is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Write,
    /// A flush to the disk.
    Flush,
    /// A rename over another file.
    Rename,
    Read,
}

/// Decides whether an operation may happen; an error makes it fail.
pub type Probe = Box<dyn FnMut(Op, &Path) -> io::Result<()> + Send>;

static ARMED: AtomicBool = AtomicBool::new(false);
static PROBE: Mutex<Option<Probe>> = Mutex::new(None);

/// Asks the probe, if there is one, whether this operation may happen.
pub fn pass(op: Op, path: &Path) -> io::Result<()> {
    if !ARMED.load(Ordering::Relaxed) {
        return Ok(());
    }
    match locked(&PROBE).as_mut() {
        Some(probe) => probe(op, path),
        None => Ok(()),
    }
}

/// Sets or removes the probe of the whole process. For tests.
pub fn set_probe(probe: Option<Probe>) {
    let mut place = locked(&PROBE);
    ARMED.store(probe.is_some(), Ordering::Relaxed);
    *place = probe;
}

/// Called with every base folder and path that a door is asked for.
pub type Witness = Box<dyn FnMut(&Path, &Path) + Send>;

static WATCHED: AtomicBool = AtomicBool::new(false);
static WITNESS: Mutex<Option<Witness>> = Mutex::new(None);

/// Reports a path to the witness, if there is one.
pub fn asked(base: &Path, inner: &Path) {
    if WATCHED.load(Ordering::Relaxed)
        && let Some(witness) = locked(&WITNESS).as_mut()
    {
        witness(base, inner);
    }
}

/// Sets or removes the witness of the whole process. For tests.
pub fn set_witness(witness: Option<Witness>) {
    let mut place = locked(&WITNESS);
    WATCHED.store(witness.is_some(), Ordering::Relaxed);
    *place = witness;
}

/// Sets the probe from `SUPERPOWER_FAULT`: `die:N` ends the process at the Nth operation; `fail:N` makes every
/// operation from the Nth on fail as on a full disk. For tests that kill a whole process.
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
            // SAFETY: `_exit` ends the process at once without running any more of its code, as a crash does.
            0 if die => unsafe { libc::_exit(137) },
            0 => Err(rustix::io::Errno::NOSPC.into()),
            _ => Ok(()),
        }
    })));
}
