//! Declarations open in the editor: diagnostics, editor features and the preview of a run.

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
