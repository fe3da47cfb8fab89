//! How a path below a base folder is opened without a link leading elsewhere.
//!
//! On Linux one call does it (`openat2`). Where that call is missing (macOS) or forbidden (EPERM from a container's
//! filter), we open folder by folder and check each link before we follow it.
//!
//! There are usually no links at all, neither on the way to the base nor below it. So we first try the whole path
//! with a call that refuses links. It needs no descriptor of the base, which halves the system calls.

use super::door::{Door, Links};
use super::meta::{self, Meta};
use super::refused::Refused;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The folder of our own files in a project. It may itself be a link to a folder inside the project.
const CLAUDE: &str = ".claude";
/// Attempts at a path that another process is changing.
#[cfg(target_os = "linux")]
const TRIES: usize = 8;
/// Whether to open folder by folder. Set once `openat2` has turned out to be unavailable.
static WALK_MANUALLY: AtomicBool = AtomicBool::new(cfg!(not(target_os = "linux")));

/// Forces opening folder by folder, as on systems without `openat2`. For tests.
pub fn set_walking(walking: bool) {
    WALK_MANUALLY.store(walking, Ordering::Relaxed);
}

/// Links that are followed on one path; the kernel's own limit.
const HOPS: usize = 40;

#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens an entry of a folder, which must not be a link.
pub(super) fn at(dir: &OwnedFd, name: &OsStr, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(dir, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)
}

impl Door {
    /// Opens a folder in order to reach the files in it.
    pub(super) fn dir(&self, inner: &Path) -> io::Result<OwnedFd> {
        self.descend(inner, FOLDER, Mode::empty())
    }

    /// The metadata of what a path leads to, following links as the door allows.
    pub(super) fn resolve(&self, path: &Path) -> io::Result<Meta> {
        if self.links == Links::All {
            let there = rustix::fs::stat(self.base.join(self.inner(path)?)).map_err(cycle_error(path))?;
            return Ok(meta::of(&there));
        }
        #[cfg(target_os = "linux")]
        let flags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let there = self.descend(path, flags, Mode::empty())?;
        Ok(meta::of(&rustix::fs::fstat(there)?))
    }

    /// Opens what a path leads to.
    pub(super) fn descend(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let inner = self.inner(path)?;
        let flags = flags | OFlags::CLOEXEC;
        if self.links == Links::All {
            return rustix::fs::open(self.base.join(inner), flags, mode).map_err(cycle_error(path));
        }
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.without_links(inner, flags, mode) {
            return Ok(opened?);
        }
        let base = rustix::fs::open(&self.base, FOLDER, Mode::empty())?;
        let mut opened = below(&base, &self.base, inner, flags, mode, self.links);
        // One call is enough if `.claude` is not a link.
        if self.links == Links::None && !self.private && matches!(opened, Err(Errno::LOOP)) {
            opened = self.below_claude(&base, inner, flags, mode);
        }
        opened.map_err(|errno| match errno {
            Errno::XDEV => Refused::Outside(path.to_owned()).into(),
            Errno::LOOP => Refused::Link(self.link_on(&base, inner).unwrap_or(path.to_owned())).into(),
            other => other.into(),
        })
    }

    /// Opens the whole path in one call that refuses links. Returns `None` if that does not settle it: there is a
    /// link, or the path contains `..`. A path with neither cannot leave the base.
    #[cfg(target_os = "linux")]
    fn without_links(&self, inner: &Path, flags: OFlags, mode: Mode) -> Option<rustix::io::Result<OwnedFd>> {
        use rustix::fs::{CWD, ResolveFlags};
        let down = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        let applies = self.base.is_absolute() && inner.components().all(down);
        if !applies || WALK_MANUALLY.load(Ordering::Relaxed) {
            return None;
        }
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(CWD, self.base.join(inner), flags, mode, resolve) {
            Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INTR) => None,
            answer => Some(answer),
        }
    }

    /// The metadata at a path without links on the way; a link at its end describes itself. `None` if that does not
    /// settle it.
    #[cfg(target_os = "linux")]
    pub(super) fn without_links_to(&self, path: &Path) -> io::Result<Option<Meta>> {
        let inner = self.inner(path)?;
        if self.links != Links::All && inner.file_name().is_some() {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Some(opened) = self.without_links(inner, flags, Mode::empty()) {
                return Ok(Some(meta::of(&rustix::fs::fstat(opened?)?)));
            }
        }
        Ok(None)
    }

    /// Opens a path when `.claude` itself is a link: that one link is followed, if its target is in the project.
    fn below_claude(
        &self,
        base: &OwnedFd,
        inner: &Path,
        flags: OFlags,
        mode: Mode,
    ) -> rustix::io::Result<OwnedFd> {
        match inner.strip_prefix(CLAUDE) {
            Ok(rest) if rest.as_os_str().is_empty() => {
                below(base, &self.base, inner, flags, mode, Links::Beneath)
            }
            Ok(rest) => {
                let claude =
                    below(base, &self.base, Path::new(CLAUDE), FOLDER, Mode::empty(), Links::Beneath)?;
                below(&claude, &self.base, rest, flags, mode, Links::None)
            }
            Err(_) => Err(Errno::LOOP),
        }
    }

    /// The link because of which a path was refused, for the message. A link at `.claude` is allowed.
    fn link_on(&self, base: &OwnedFd, inner: &Path) -> Option<PathBuf> {
        let mut way = PathBuf::new();
        for part in inner.components() {
            way.push(part);
            let there = rustix::fs::statat(base, &way, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let is_link = rustix::fs::FileType::from_raw_mode(there.st_mode) == rustix::fs::FileType::Symlink;
            if is_link && (self.private || way != Path::new(CLAUDE)) {
                return Some(self.base.join(way));
            }
        }
        None
    }
}

/// For doors that follow all links: the kernel then reports `ELOOP` only for a cycle of links.
fn cycle_error(path: &Path) -> impl Fn(Errno) -> io::Error {
    move |errno| match errno {
        Errno::LOOP => Refused::Link(path.to_owned()).into(),
        other => other.into(),
    }
}

/// Opens a path below a base folder. `EXDEV` means that a link leads out of it, `ELOOP` that a link may not be
/// followed.
fn below(
    base: &OwnedFd,
    real: &Path,
    inner: &Path,
    flags: OFlags,
    mode: Mode,
    links: Links,
) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if !WALK_MANUALLY.load(Ordering::Relaxed) {
        return match with_openat2(base, inner, flags, mode, links) {
            Err(errno @ (Errno::NOSYS | Errno::PERM)) => {
                let walked = walk(base, real, inner, flags, mode, links);
                // If walking is not forbidden, the call itself is, not the file.
                if errno == Errno::NOSYS || !matches!(walked, Err(Errno::PERM)) {
                    WALK_MANUALLY.store(true, Ordering::Relaxed);
                }
                walked
            }
            // Either the path keeps changing, or an absolute link may still lead to a place inside.
            Err(Errno::AGAIN) => walk(base, real, inner, flags, mode, links),
            Err(Errno::XDEV) if links == Links::Beneath => walk(base, real, inner, flags, mode, links),
            answer => answer,
        };
    }
    walk(base, real, inner, flags, mode, links)
}

#[cfg(target_os = "linux")]
fn with_openat2(
    base: &OwnedFd,
    inner: &Path,
    flags: OFlags,
    mode: Mode,
    links: Links,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let resolve = if links == Links::None { resolve | ResolveFlags::NO_SYMLINKS } else { resolve };
    let mut opened = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        opened = rustix::fs::openat2(base, inner, flags, mode, resolve);
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    opened
}

/// Opens a path folder by folder, without following links; each link is checked first.
fn walk(
    base: &OwnedFd,
    real: &Path,
    inner: &Path,
    flags: OFlags,
    mode: Mode,
    links: Links,
) -> rustix::io::Result<OwnedFd> {
    let mut above: Vec<OwnedFd> = vec![base.try_clone().map_err(|_| Errno::MFILE)?];
    let mut rest: VecDeque<OsString> = parts(inner)?;
    let mut hops = 0;
    while let Some(name) = rest.pop_front() {
        let here = &above[above.len() - 1];
        if name == ".." {
            if above.len() == 1 {
                return Err(Errno::XDEV);
            }
            above.pop();
            continue;
        }
        let last = rest.is_empty();
        let opened = at(here, &name, if last { flags } else { FOLDER }, mode);
        let target = match opened {
            Ok(opened) if !is_link(&opened) => {
                if last {
                    return Ok(opened);
                }
                above.push(opened);
                continue;
            }
            Ok(_) | Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                match rustix::fs::readlinkat(here.as_fd(), &name, Vec::new()) {
                    Ok(target) => PathBuf::from(OsString::from_vec(target.into_bytes())),
                    Err(_) => return Err(opened.err().unwrap_or(Errno::LOOP)),
                }
            }
            Err(errno) => return Err(errno),
        };
        hops += 1;
        if links == Links::None || hops > HOPS {
            return Err(Errno::LOOP);
        }
        let target = if target.is_absolute() {
            above.truncate(1);
            target.strip_prefix(real).map_err(|_| Errno::XDEV)?.to_owned()
        } else {
            target
        };
        for part in parts(&target)?.into_iter().rev() {
            rest.push_front(part);
        }
    }
    // The path ended at a folder that is already open: the base itself, or `..`.
    at(&above[above.len() - 1], OsStr::new("."), flags, mode)
}

fn is_link(opened: &OwnedFd) -> bool {
    rustix::fs::fstat(opened)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink)
}

fn parts(path: &Path) -> rustix::io::Result<VecDeque<OsString>> {
    let mut parts = VecDeque::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push_back(name.to_owned()),
            Component::ParentDir => parts.push_back("..".into()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        }
    }
    Ok(parts)
}
