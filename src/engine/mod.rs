//! The handle that the editor's binding holds: requests in, answers and events out.

pub mod queue;
