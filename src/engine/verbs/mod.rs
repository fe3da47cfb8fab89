//! Operations that drive runs, and the questions before them.

mod admission;
mod adoption;
mod adoption_claim;
mod answers;
mod approval;
mod continuation;
pub mod decide;
pub mod gate_lists;
mod idle_run;
mod preflight;
pub mod replies;
pub mod run;
pub mod run_id;
pub mod run_lookup;
pub mod shown;
pub mod stop;
mod target_run;
pub mod trust;
pub mod trust_question;
