//! Declarations that are open in the editor, or asked about: what is wrong in them, what is offered, what they would do.

pub mod assist;
pub mod checks;
pub mod context;
mod declaration_file;
pub mod declarations;
pub mod documents;
mod inlay_hints;
pub mod input_view;
pub mod loaded;
mod lsp_types;
pub mod open_documents;
pub mod preview;
pub mod project_cache;
