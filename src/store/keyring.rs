//! The key that seals the files of a run, and for each run the newest seal of its journal.

use super::seal::{Key, Seal, Sealer};
use super::state::{self, State};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The folder of the newest seals in our state.
const NEWEST: &str = "newest";

/// Our state and its key. Without a key no file is ours, and no run can be driven.
#[derive(Clone, Debug, Default)]
pub struct Keyring {
    state: Option<State>,
    /// The real path of our state, as far as it exists.
    real: PathBuf,
    /// Shared by all copies, so that a key created by one is known to all.
    key: Arc<OnceLock<Key>>,
}

/// Why the files of a run cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no folder for our state.
    #[error("no home folder for the key that seals runs; set HOME or XDG_STATE_HOME")]
    NoHome,
    /// Our state is inside the project, so the repository may have brought the key along.
    #[error("the folder \"{}\" of the key that seals runs is inside the project; set XDG_STATE_HOME to a folder outside", .0.display())]
    InProject(PathBuf),
    #[error("cannot write the folder \"{}\" of the key that seals runs: {error}", .dir.display())]
    Unwritable { dir: PathBuf, error: io::Error },
}

impl KeyError {
    /// For callers that report I/O errors.
    pub fn into_io(self) -> io::Error {
        io::Error::other(self)
    }
}

impl Keyring {
    /// Reads the key, and creates nothing.
    pub fn open(state: Option<State>) -> Self {
        // Without a readable key every run is foreign.
        let key = state.as_ref().and_then(|state| Key::read(state).ok().flatten());
        let real = state.as_ref().map(State::real).unwrap_or_default();
        Self { state, real, key: Arc::new(key.map_or_else(OnceLock::new, OnceLock::from)) }
    }

    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    fn is_outside(&self, root: &Path) -> bool {
        !self.real.starts_with(root)
    }

    /// Checks the seals of a run's files; `None` without a key. `what` is the kind of file.
    pub fn sealer(&self, what: &str, root: &Path, run_id: &str) -> Option<Sealer> {
        self.key.get().filter(|_| self.is_outside(root)).map(|key| Sealer::new(key, what, root, run_id))
    }

    /// Makes the seals of a run's files, and creates the key if there is none.
    pub fn make_sealer(&self, what: &str, root: &Path, run_id: &str) -> Result<Sealer, KeyError> {
        let state = self.state.as_ref().ok_or(KeyError::NoHome)?;
        if !self.is_outside(root) {
            return Err(KeyError::InProject(state.dir().to_owned()));
        }
        if self.key.get().is_none() {
            let key = Key::read_or_make(state).map_err(unwritable(state))?;
            let _ = self.key.set(key);
        }
        self.sealer(what, root, run_id).ok_or(KeyError::NoHome)
    }

    /// The error for a newest seal that could not be written.
    pub fn seal_error(&self, error: io::Error) -> KeyError {
        self.state.as_ref().map_or(KeyError::NoHome, |state| unwritable(state)(error))
    }

    /// The newest seal of a run's journal; `None` if there is none in our state.
    pub fn newest(&self, root: &Path, run_id: &str) -> Option<Seal> {
        let state = self.state.as_ref()?;
        let text = state.door().read(&newest_of(state, root).join(run_id), 2 * Seal::DIGITS as u64).ok()?;
        Seal::parse(text.strip_suffix(b"\n")?)
    }

    /// Opens the file of the newest seal. If our state cannot be written, the run cannot be driven.
    pub fn keep_newest(&self, root: &Path, run_id: &str) -> Result<Newest, KeyError> {
        let state = self.state.as_ref().ok_or(KeyError::NoHome)?;
        let dir = newest_of(state, root);
        let file =
            state.door().create_dirs(&dir).and_then(|()| state.door().open_or_create(&dir.join(run_id)));
        Ok(Newest { file: file.map_err(unwritable(state))? })
    }

    /// Deletes the newest seals of runs that the project no longer has.
    pub fn forget_others(&self, root: &Path, kept: &[String]) {
        let Some(state) = &self.state else { return };
        let dir = newest_of(state, root);
        for entry in state.door().list(&dir).unwrap_or_default() {
            if !kept.iter().any(|id| id.as_str() == entry.name) {
                let _ = state.door().remove_file(&dir.join(entry.name));
            }
        }
    }
}

fn newest_of(state: &State, root: &Path) -> PathBuf {
    state.dir().join(NEWEST).join(state::project(root))
}

fn unwritable(state: &State) -> impl Fn(io::Error) -> KeyError {
    let dir = state.dir().to_owned();
    move |error| KeyError::Unwritable { dir: dir.clone(), error }
}

/// The file with the newest seal. It is written after the journal's flush, so it names a record that is on the disk.
/// A journal without that record has lost records, or was cut.
#[derive(Debug)]
pub struct Newest {
    file: File,
}

impl Newest {
    /// Saves the first seal of a run and flushes it, so that the file survives a crash of the machine.
    pub fn first(&self, seal: &Seal) -> io::Result<()> {
        self.put(seal)?;
        self.file.sync_all()
    }

    /// Saves a later seal in one write. An error is ignored: it only makes it less certain whether the journal was
    /// cut.
    pub fn keep(&self, seal: &Seal) {
        let _ = self.put(seal);
    }

    fn put(&self, seal: &Seal) -> io::Result<()> {
        self.file.write_all_at(format!("{seal}\n").as_bytes(), 0)
    }
}
