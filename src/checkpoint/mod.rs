//! The checkpoint protocol: `metadata.json` tells other tools how far each step is.
//!
//! The plugin writes it from what it observes of the agent, and merges with what other tools write. A driver needs
//! four things:
//!
//! 1. [`Place`]: where the document is. [`Place::of_track`] if the run has an input `track_id`; else, or if that is
//!    refused (which is reported), [`Place::of_run`].
//! 2. [`keys`]: each stage's key, once per run.
//! 3. [`Checkpoints`]: [`Checkpoints::started`], `todo`, `files`, then `ended` (with [`End::of`]) or `interrupted`.
//!    None of them blocks: a thread writes, obeys the protocol's intervals, and retries. If `started` refuses a launch,
//!    the stage is blocked. For a resumed run, call `restored` first with the ended steps of its journal.
//! 4. [`parameters`] for a skill of the protocol, with [`Checkpoints::resume_from`] if an interrupted `EXECUTE` has
//!    lost its session.
//!
//! The pure parts below that: [`record`] (the document), [`status`] (transitions), [`mod@keys`], [`merge`],
//! [`figures`] (progress from a to-do list), [`update`] (what is written when), [`params`], [`view`]. The parts that
//! use the disk: [`lock`], [`owner`], [`store`], [`mod@head`], `waiting` (unwritten steps for a later process), and
//! the thread behind [`writer`].

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
mod unfit;
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
