//! The engine's tests, without Neovim: one binary, one file a subject.

mod architecture;
mod check;
mod check_fixtures;
mod check_random;
mod checkpoint_lock;
mod checkpoint_record;
mod checkpoint_thread;
mod checkpoint_update;
mod checkpoint_writers;
mod claude;
mod condition;
mod disk;
mod examples;
mod harness;
mod invariants;
mod main_job;
mod opencode;
mod process;
mod project;
mod project_review;
mod project_trust;
mod real_declarations;
mod template;
mod transcripts;
mod verbs;
mod world;
