//! The state machine of a run. It does no I/O, reads no clock and starts no threads.
//!
//! [`machine::step`] is the only writer of run state. Input arrives as an [`event::Event`] with its time, and work for
//! the driver is returned as an [`effect::Effect`], so that a run can be replayed from its journal.

mod attempt;
pub mod decide;
pub mod drift;
pub mod effect;
pub mod event;
pub mod failure;
mod gate;
pub mod gate_record;
pub mod how;
pub mod log;
pub mod machine;
pub mod reason;
mod refusal;
pub mod replace;
pub mod shown;
pub mod snapshot;
pub mod state;
mod trust;
mod verbs;
mod walk;
