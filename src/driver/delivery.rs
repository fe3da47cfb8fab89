//! Who gets an event, and for how long it counts. A run may be followed by several editors, and by some that come late.

/// Who gets an event, and for how long it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery<'a> {
    /// Everybody who follows; it is never dropped.
    Everyone,
    /// Everybody; a newer event with the same key replaces one that still waits.
    Newest(&'a str),
    /// Everybody, and whoever follows later, until [`Delivery::Settled`] comes with the same id.
    Question(&'a str),
    /// Everybody; the question with this id is no longer open.
    Settled(&'a str),
    /// The editor that was used last, because Lua has to answer; another one, if that leaves before it does.
    Lua(&'a str),
}
