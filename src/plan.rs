//! Stages in order.
