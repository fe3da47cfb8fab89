//! The checkpoint protocol: `metadata.json` tells every tool how far each step is.
//!
//! The runner writes it, from what it sees of the agent, and agrees with whoever else does. A driver needs four things:
//!
//! 1. [`Place`]: where the document is. [`Place::of_track`] where the run has an input `track_id`, else (or where that
//!    is refused, which is said) [`Place::of_run`].
//! 2. [`keys`]: each stage's key, once a run.
//! 3. [`Checkpoints`]: [`Checkpoints::started`], `todo`, `files`, then `ended` (with [`End::of`]) or `interrupted`. None of them
//!    waits; a thread writes, keeps the times of the protocol, and tries again. A launch that `started` refuses must not
//!    be made: its stage is blocked. A run that is resumed gives its journal's ended steps to `restored` first.
//! 4. [`parameters`] for a skill of the protocol, with [`Checkpoints::resume_from`] where an interrupted `EXECUTE` has
//!    lost its session.
//!
//! Below that, pure: [`record`] (the document), [`status`] (what may follow what), [`mod@keys`], [`merge`], [`figures`] (a
//! to-do list as progress), [`update`] (what is written when), [`params`], [`view`]. With the disk: [`lock`], [`owner`],
//! [`store`], [`mod@head`], `waiting` (what could not be written, for a later process), and the thread behind [`writer`].

mod attempt;
pub mod end;
pub mod figures;
pub mod head;
pub mod keys;
pub mod lock;
pub mod merge;
mod opening;
pub mod owner;
pub mod params;
pub mod place;
pub mod record;
mod report;
pub mod status;
mod step;
pub mod store;
mod thread;
pub mod update;
pub mod view;
mod waiting;
pub mod writer;

pub use attempt::Attempt;
pub use end::End;
pub use keys::keys;
pub use opening::{Find, Opening};
pub use params::parameters;
pub use place::{NoTrack, Place, planned};
pub use report::{Report, State};
pub use store::read;
pub use update::{Past, Start};
pub use view::{Row, lines, rows};
pub use writer::{Checkpoints, TooManyFixes};
