//! The items of a process's inbox.

/// A stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    /// The events and answers of its server.
    Served,
}

/// An item of a process's inbox; `T` is the type of the owner's orders.
#[derive(Debug)]
pub enum Item<T> {
    /// Output of the process with this id.
    Chunk(u32, Stream, Vec<u8>),
    /// The end of a stream of the process with this id.
    End(u32),
    /// The process with this id has exited, and is not reaped yet.
    Exited(u32),
    /// An order for the owner, from another thread.
    Order(T),
}
