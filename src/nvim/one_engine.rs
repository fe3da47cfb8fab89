//! The only door of this process to its engine and to drivers.

use std::sync::OnceLock;

use crate::engine::Home;
use crate::server::Router;

/// One for the process, because the library stays loaded when Lua modules are reloaded.
pub fn router() -> &'static Router {
    static ROUTER: OnceLock<Router> = OnceLock::new();
    ROUTER.get_or_init(|| Router::new(Home::Editor))
}
