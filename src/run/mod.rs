//! A run: state, events, effects.
