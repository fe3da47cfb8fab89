//! Rules over a declaration.
