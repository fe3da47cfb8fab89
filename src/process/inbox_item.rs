//! What threads put into a process's inbox.

/// Which of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// What it serves, once it is connected.
    Served,
}

/// What threads put into a process's inbox; `T` is what its owner is told by others.
#[derive(Debug)]
pub enum Item<T> {
    /// Output of the process of this id.
    Chunk(u32, Stream, Vec<u8>),
    /// The end of a stream of the process of this id.
    End(u32),
    /// The process of this id is dead, and not yet reaped.
    Exited(u32),
    /// Something for the owner.
    Order(T),
}
