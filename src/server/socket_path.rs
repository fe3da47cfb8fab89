//! Where a driver's socket is: in a folder of this user outside of every project and home, named after the project.

use crate::store::state::project;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The longest path that a socket can have on every system, in bytes.
const LONGEST: usize = 103;
/// The folder in the runtime directory.
const FOLDER: &str = "superpower";

/// The path of one project's socket.
#[derive(Debug)]
pub struct SocketPath {
    dir: OwnedFd,
    path: PathBuf,
    name: String,
}

/// Held for a driver's life: only its holder makes or removes the socket.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl SocketPath {
    /// The place for a project, in a folder that is made if need be. The error says why it cannot be used.
    pub fn of(root: &Path) -> Result<Self, String> {
        let (dir, path) = folder()?;
        Ok(Self { dir, path, name: project(root) })
    }

    pub fn socket(&self) -> PathBuf {
        self.path.join(format!("{}.sock", self.name))
    }

    /// Where a project's driver may listen: our place first, and those of a session with another environment, such as that
    /// of a login, of ssh, or of cron.
    pub fn all_of(root: &Path) -> Result<Vec<PathBuf>, String> {
        let own = Self::of(root)?;
        let others = other_folders().into_iter().filter(|path| *path != own.path && is_private(path));
        let others = others.map(|path| path.join(format!("{}.sock", own.name)));
        Ok([own.socket()].into_iter().chain(others).collect())
    }

    /// Takes the lock; `None` if another process has it.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let name = format!("{}.lock", self.name);
        let file = File::from(openat(&self.dir, &name, flags, Mode::RUSR | Mode::WUSR)?);
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other(format!("\"{name}\" is no file")));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Its holder removes the file at the end: the lock counts only on the file that is there.
        let (held, there) = (fstat(&file)?, statat(&self.dir, &name, AtFlags::SYMLINK_NOFOLLOW));
        if !there.is_ok_and(|there| (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)) {
            return Ok(None);
        }
        Ok(Some(Lock { _file: file }))
    }

    /// Removes a socket that is there, which only the holder of the lock may do.
    pub fn clear(&self, _lock: &Lock) -> io::Result<()> {
        self.remove("sock")
    }

    /// Removes the socket, and then the lock.
    pub fn leave(&self, lock: &Lock) -> io::Result<()> {
        self.clear(lock)?;
        self.remove("lock")
    }

    fn remove(&self, suffix: &str) -> io::Result<()> {
        match unlinkat(&self.dir, format!("{}.{suffix}", self.name), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The sockets that there are, of all projects of this user.
pub fn sockets() -> Vec<PathBuf> {
    let Ok((dir, path)) = folder() else { return Vec::new() };
    let Ok(entries) = rustix::fs::Dir::read_from(dir.as_fd()) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let mut sockets: Vec<PathBuf> =
        names.filter(|name| name.ends_with(".sock")).map(|name| path.join(name)).collect();
    sockets.sort();
    sockets
}

/// The folders that are used where nothing names another one.
fn other_folders() -> [PathBuf; 2] {
    let user = rustix::process::getuid().as_raw();
    [
        PathBuf::from(format!("/run/user/{user}")).join(FOLDER),
        PathBuf::from(format!("/tmp/superpower-{user}")),
    ]
}

/// Whether a folder is there, this user's own, and closed to others.
fn is_private(path: &Path) -> bool {
    own(path).is_ok_and(|dir| fstat(&dir).is_ok_and(|stat| stat.st_mode & 0o077 == 0))
}

/// The folder for sockets: below `$XDG_RUNTIME_DIR` where that is this user's own and short enough, else below `/tmp`.
fn folder() -> Result<(OwnedFd, PathBuf), String> {
    let user = rustix::process::getuid().as_raw();
    let runtime = crate::environ::get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let fits = |dir: &PathBuf| dir.is_absolute() && dir.as_os_str().len() + FOLDER.len() + 25 <= LONGEST;
    if let Some(runtime) = runtime.filter(fits)
        && own(&runtime).is_ok()
        && let Ok(folder) = made(&runtime.join(FOLDER))
    {
        return Ok(folder);
    }
    made(&PathBuf::from(format!("/tmp/superpower-{user}")))
}

/// Opens a private folder of this user's, which is made if need be.
fn made(path: &Path) -> Result<(OwnedFd, PathBuf), String> {
    let failed = |error: Errno| format!("cannot use \"{}\" for sockets: {error}", path.display());
    match mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(failed(error)),
    }
    let dir = own(path)?;
    let mode = fstat(&dir).map_err(failed)?.st_mode;
    if mode & 0o077 != 0 {
        return Err(format!(
            "cannot use \"{}\" for sockets: others may enter it; chmod 700 it, or remove it",
            path.display()
        ));
    }
    Ok((dir, path.to_owned()))
}

/// Opens a folder that is this user's, and no link.
fn own(path: &Path) -> Result<OwnedFd, String> {
    let refused = |why: String| format!("cannot use \"{}\" for sockets: {why}", path.display());
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = openat(CWD, path, flags, Mode::empty()).map_err(|error| {
        refused(match error {
            Errno::LOOP | Errno::NOTDIR => "it is not a folder; remove it".to_owned(),
            error => error.to_string(),
        })
    })?;
    let owner = fstat(&dir).map_err(|error| refused(error.to_string()))?.st_uid;
    if owner != rustix::process::getuid().as_raw() {
        return Err(refused("it belongs to another user".to_owned()));
    }
    Ok(dir)
}
