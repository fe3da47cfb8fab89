//! The engine's tests, without Neovim: one binary, one file a subject.

mod harness;
mod process;
