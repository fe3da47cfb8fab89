//! Editor features for declarations. They do no I/O: input is a checked text, a position and what is known of the
//! project; output is plain data.

mod answers;
mod complete;
mod complete_text;
mod context;
mod flow;
mod hover;
mod jump;
mod occurrences;
mod offer;
mod outline;
mod project;
mod scaffold;

pub use answers::{Action, Completion, Hint, Hover, Kind, Location, Symbol, Verdict};
pub use complete::complete;
pub use hover::{hover, hover_of_names};
pub use jump::{definition, prepare_rename, references, rename};
pub use occurrences::{Entity, Occurrence, occurrences};
pub use outline::{actions, hints, symbols};
pub use project::{FactNow, Project, Worker};
pub use scaffold::scaffold;
