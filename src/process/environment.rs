//! The environment of a child process: the user's, without variables of this editor or of an agent around it.

use super::{ATTEMPT, Mark, RUN_ID, STAGE};
use crate::environ::{self, Variables};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// Variables of editors and agents, which make tools behave as if they ran inside of one, or refuse to start.
const REMOVED: [&str; 17] = [
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "NVIM_LOG_FILE",
    "VIM",
    "VIMRUNTIME",
    "MYVIMRC",
    "VIM_TERMINAL",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "OPENCODE",
    "OPENCODE_PID",
    "GEMINI_CLI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "OLDPWD",
];

/// The variables of an environment at one moment.
#[derive(Clone, Debug, Default)]
pub struct Environment(Arc<Variables>);

impl From<Arc<Variables>> for Environment {
    fn from(variables: Arc<Variables>) -> Self {
        Self(variables)
    }
}

impl Environment {
    /// The editor's environment, as the main thread last read it.
    pub fn current() -> Self {
        Self(environ::variables())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The user's variables, for a process whose working directory is `directory`.
    pub fn without_ours(&self, directory: &Path) -> BTreeMap<OsString, OsString> {
        let mut env = (*self.0).clone();
        env.retain(|name, _| {
            let name = name.to_string_lossy();
            !REMOVED.contains(&&*name) && !name.starts_with("SUPERPOWER_")
        });
        env.insert("PWD".into(), directory.into());
        env
    }

    /// The variables for a process with this mark whose working directory is `root`.
    pub fn for_child(&self, mark: &Mark, root: &Path) -> BTreeMap<OsString, OsString> {
        let mut env = self.without_ours(root);
        env.insert(RUN_ID.into(), mark.run_id.clone().into());
        env.insert(STAGE.into(), mark.stage.to_string().into());
        env.insert(ATTEMPT.into(), mark.launch.to_string().into());
        env
    }
}
