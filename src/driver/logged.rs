//! The log lines that a drive has announced, for those who come late.

/// The log of a run while it is driven: each line has a number, so that whoever reads what there is and then follows
/// neither loses a line nor gets one twice.
#[derive(Clone, Debug, Default)]
pub struct Logged {
    /// The number of lines from before this drive, which the journal has.
    pub before: usize,
    /// Those of this drive, in order.
    pub lines: Vec<String>,
}

impl Logged {
    /// Adds a line, and returns its number in the run's log, counted from one.
    pub(super) fn push(&mut self, line: &str) -> usize {
        self.lines.push(line.to_owned());
        self.before + self.lines.len()
    }
}
