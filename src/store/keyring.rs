//! What makes the files of a run ours: this user's key, and for each run the newest seal that its journal had.

use super::seal::{Key, Seal, Sealer};
use super::state::{self, State};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The folder of the newest seals in our state.
const NEWEST: &str = "newest";

/// Our state with its key. Without a key nothing is ours, and nothing can be driven.
#[derive(Clone, Debug, Default)]
pub struct Keyring {
    state: Option<State>,
    /// Where our state really is, as far as there is anything of it.
    real: PathBuf,
    /// Shared by all copies, so that the one that makes it makes it for all.
    key: Arc<OnceLock<Key>>,
}

/// Why a run cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no place for our state.
    #[error("there is no home folder to keep the key of the runs in; set HOME or XDG_STATE_HOME")]
    NoHome,
    /// Our state lies in the project, so the project may have brought the key along.
    #[error("the folder \"{}\", where the key of the runs is kept, lies in the project; set XDG_STATE_HOME to one outside", .0.display())]
    InProject(PathBuf),
    /// It cannot be written.
    #[error("cannot write \"{}\", where the key of the runs is kept: {error}", .dir.display())]
    Unwritable {
        /// Our state.
        dir: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl KeyError {
    /// As an error of the disk, for those who know no others.
    pub fn into_io(self) -> io::Error {
        io::Error::other(self)
    }
}

impl Keyring {
    /// The key as it is now. Reads only.
    pub fn open(state: Option<State>) -> Self {
        // A key that cannot be read seals nothing: what lies in projects is foreign until it can.
        let key = state.as_ref().and_then(|state| Key::read(state).ok().flatten());
        let real = state.as_ref().map(State::real).unwrap_or_default();
        Self { state, real, key: Arc::new(key.map_or_else(OnceLock::new, OnceLock::from)) }
    }

    /// Our state.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    fn is_outside(&self, root: &Path) -> bool {
        !self.real.starts_with(root)
    }

    /// What checks the seals of a run's files; none without a key. `what` is the kind of file.
    pub fn sealer(&self, what: &str, root: &Path, run_id: &str) -> Option<Sealer> {
        self.key.get().filter(|_| self.is_outside(root)).map(|key| Sealer::new(key, what, root, run_id))
    }

    /// What makes them. The key is made where there is none yet.
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

    /// Why a newest seal could not be written.
    pub fn unkept(&self, error: io::Error) -> KeyError {
        self.state.as_ref().map_or(KeyError::NoHome, |state| unwritable(state)(error))
    }

    /// The newest seal of a run's journal, as our state has it; none where nothing was kept.
    pub fn newest(&self, root: &Path, run_id: &str) -> Option<Seal> {
        let state = self.state.as_ref()?;
        let text = state.door().read(&newest_of(state, root).join(run_id), 2 * Seal::DIGITS as u64).ok()?;
        Seal::parse(text.strip_suffix(b"\n")?)
    }

    /// Where the newest seal is kept. Fails where our state cannot be written: nothing is driven then.
    pub fn keep_newest(&self, root: &Path, run_id: &str) -> Result<Newest, KeyError> {
        let state = self.state.as_ref().ok_or(KeyError::NoHome)?;
        let dir = newest_of(state, root);
        let file =
            state.door().create_dirs(&dir).and_then(|()| state.door().open_or_create(&dir.join(run_id)));
        Ok(Newest { file: file.map_err(unwritable(state))? })
    }

    /// Forgets the newest seals of runs that a project no longer has.
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

/// The file with the newest seal. It is written after the journal's flush, so it names a record that is on the disk:
/// a journal that does not hold it has lost records, or was cut.
#[derive(Debug)]
pub struct Newest {
    file: File,
}

impl Newest {
    /// Keeps a run's first one, flushed: a machine that crashes later must find the file.
    pub fn first(&self, seal: &Seal) -> io::Result<()> {
        self.put(seal)?;
        self.file.sync_all()
    }

    /// Keeps a later one, in one write. What cannot be kept only makes less certain what was cut later.
    pub fn keep(&self, seal: &Seal) {
        let _ = self.put(seal);
    }

    fn put(&self, seal: &Seal) -> io::Result<()> {
        self.file.write_all_at(format!("{seal}\n").as_bytes(), 0)
    }
}
