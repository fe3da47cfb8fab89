//! The engine of this process.

use std::sync::{Arc, OnceLock};

use crate::engine::Engine;

/// One engine a process: the library stays loaded, however often Lua's modules are loaded anew.
pub fn engine() -> &'static Arc<Engine> {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}
