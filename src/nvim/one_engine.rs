//! The only engine of this process.

use std::sync::{Arc, OnceLock};

use crate::engine::Engine;

/// One engine for the process, because the library stays loaded when Lua modules are reloaded.
pub fn engine() -> &'static Arc<Engine> {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}
