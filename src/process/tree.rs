//! Finds the descendants of a process, and the processes with a run's mark, which a signal to the group does not reach.
//!
//! Agents start shells in sessions of their own, which survive the end of the agent's group. They are found by their
//! parents while those are running, and by their environment after that.
//!
//! The guard's program includes this file, so it uses only std and libc.

use std::collections::BTreeMap;

/// The variable with the run's id, in every process of a run.
pub const RUN_ID: &str = "SUPERPOWER_RUN_ID";
/// The variable with the launch's serial number in the run.
pub const ATTEMPT: &str = "SUPERPOWER_ATTEMPT";

/// The kernel's information about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub parent: u32,
    pub group: u32,
    /// In the kernel's unit.
    pub start_time: u64,
    /// Whether it is a zombie.
    pub dead: bool,
    /// The program's short name.
    pub name: String,
}

/// Processes by id, with their start time.
pub type ProcessSet = BTreeMap<u32, u64>;

/// The descendants of `leader` and the members of its group, without `leader`.
pub fn descendants(leader: u32) -> ProcessSet {
    below(|pid, stat| pid != leader && (stat.parent == leader || stat.group == leader), leader)
}

/// The processes for which `top` is true, and their descendants; never `spared`.
pub fn below(top: impl Fn(u32, &Stat) -> bool, spared: u32) -> ProcessSet {
    let all = all();
    let mut processes = ProcessSet::new();
    let mut grew = true;
    while grew {
        grew = false;
        for (&pid, stat) in &all {
            let ours = top(pid, stat) || processes.contains_key(&stat.parent);
            if pid != spared && ours && !stat.dead && processes.insert(pid, stat.start_time).is_none() {
                grew = true;
            }
        }
    }
    processes
}

/// The processes with the run's mark; only those of `launch` if it is given.
pub fn marked(run_id: &str, launch: Option<u32>) -> ProcessSet {
    let spared = ourselves();
    let mut processes = ProcessSet::new();
    for pid in pids() {
        if spared.contains(&pid) {
            continue;
        }
        let Some(environ) = environ(pid) else { continue };
        if carries(&environ, run_id, launch)
            && let Some(stat) = stat(pid)
            && !stat.dead
        {
            processes.insert(pid, stat.start_time);
        }
    }
    processes
}

/// Whether an environment has the run's mark; only that of `launch` if it is given.
pub fn carries(environ: &[u8], run_id: &str, launch: Option<u32>) -> bool {
    let has = |wanted: &str| environ.split(|&b| b == 0).any(|entry| entry == wanted.as_bytes());
    has(&format!("{RUN_ID}={run_id}")) && launch.is_none_or(|launch| has(&format!("{ATTEMPT}={launch}")))
}

/// Whether a process has the mark of any run.
#[allow(dead_code, reason = "the guard does not ask")]
pub fn is_marked(pid: u32) -> bool {
    let mark = format!("{RUN_ID}=");
    environ(pid).is_some_and(|environ| environ.split(|&b| b == 0).any(|it| it.starts_with(mark.as_bytes())))
}

/// This process and its ancestors, which must never be ended.
pub fn ourselves() -> Vec<u32> {
    let mut line = vec![std::process::id()];
    while let Some(stat) = line.last().and_then(|&pid| stat(pid)) {
        if stat.parent <= 1 || line.contains(&stat.parent) {
            break;
        }
        line.push(stat.parent);
    }
    line
}

/// Whether the same process is still running.
pub fn lives(pid: u32, start_time: u64) -> bool {
    start_time_of(pid) == Some(start_time)
}

/// When a process started; `None` if it does not exist or is a zombie.
pub fn start_time_of(pid: u32) -> Option<u64> {
    stat(pid).filter(|stat| !stat.dead).map(|stat| stat.start_time)
}

/// Sends `signal` to each process that is still the same.
pub fn signal(processes: &ProcessSet, signal: i32) {
    for (&pid, &start_time) in processes {
        if lives(pid, start_time) {
            // SAFETY: kill takes any numbers.
            unsafe { libc::kill(pid as libc::pid_t, signal) };
        }
    }
}

fn all() -> BTreeMap<u32, Stat> {
    pids().into_iter().filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

#[cfg(target_os = "linux")]
pub fn pids() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(target_os = "linux")]
pub fn stat(pid: u32) -> Option<Stat> {
    read_stat(&format!("/proc/{pid}/stat"))
}

/// The kernel's information about this process, independent of process id namespaces.
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the guard does not ask")]
pub fn own_stat() -> Option<Stat> {
    read_stat("/proc/self/stat")
}

#[cfg(target_os = "linux")]
fn read_stat(path: &str) -> Option<Stat> {
    let stat = std::fs::read(path).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name is in parentheses and may contain any character, also parentheses.
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let fields: Vec<&str> = stat[close + 1..].split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        parent: number(1)? as u32,
        group: number(2)? as u32,
        start_time: number(19)?,
        dead: matches!(fields[0], "Z" | "X" | "x"),
        name: stat[open + 1..close].to_owned(),
    })
}

/// A process's environment, as the kernel keeps it.
#[cfg(target_os = "linux")]
pub fn environ(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ")).ok()
}

#[cfg(target_os = "macos")]
pub fn pids() -> Vec<u32> {
    // SAFETY: a null buffer asks for the size only.
    let bytes = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let mut pids: Vec<libc::pid_t> = vec![0; bytes.max(0) as usize + 64];
    let size = (pids.len() * size_of::<libc::pid_t>()) as libc::c_int;
    // SAFETY: `size` is the buffer's.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(count.max(0) as usize);
    pids.into_iter().filter(|&pid| pid > 0).map(|pid| pid as u32).collect()
}

/// The kernel's information about this process.
#[cfg(target_os = "macos")]
#[allow(dead_code, reason = "the guard does not ask")]
pub fn own_stat() -> Option<Stat> {
    stat(std::process::id())
}

#[cfg(target_os = "macos")]
pub fn stat(pid: u32) -> Option<Stat> {
    let size = size_of::<libc::proc_bsdinfo>() as libc::c_int;
    // SAFETY: the structure is plain numbers, for which zero is a value.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let to = std::ptr::from_mut(&mut info).cast();
    // SAFETY: `size` is the structure's.
    let got = unsafe { libc::proc_pidinfo(pid as libc::c_int, libc::PROC_PIDTBSDINFO, 0, to, size) };
    if got != size {
        return None;
    }
    let name = info.pbi_comm.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
    const ZOMBIE: u32 = 5;
    Some(Stat {
        parent: info.pbi_ppid,
        group: info.pbi_pgid,
        start_time: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        dead: info.pbi_status == ZOMBIE,
        name,
    })
}

/// A process's environment, as the kernel keeps it.
#[cfg(target_os = "macos")]
pub fn environ(pid: u32) -> Option<Vec<u8>> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid as libc::c_int];
    let mut args = vec![0u8; 1 << 20];
    let mut len = args.len();
    let to = args.as_mut_ptr().cast();
    // SAFETY: `name` has three numbers, and `len` is the buffer's size.
    let failed = unsafe { libc::sysctl(name.as_mut_ptr(), 3, to, &mut len, std::ptr::null_mut(), 0) };
    (failed == 0).then(|| {
        args.truncate(len);
        args
    })
}
