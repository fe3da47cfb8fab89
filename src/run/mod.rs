//! A run: its state, what can happen to it, and what follows. Pure: no I/O, no clock, no threads.
//!
//! [`machine::step`] is the only writer of run state. Everything from outside comes as an [`event::Event`] with its
//! time, everything to be done leaves as an [`effect::Effect`], so that a run can be replayed from its journal.

mod attempt;
pub mod decide;
pub mod drift;
pub mod effect;
pub mod event;
pub mod failure;
mod gate;
pub mod gate_record;
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
