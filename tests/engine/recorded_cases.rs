//! The cases of the real tools with their expected outcomes.

use superpower::harness::Answer;

/// A case: the launch, the events during it, and the outcome.
#[derive(Debug)]
pub struct Case {
    /// The name of the case and of its recording.
    pub name: &'static str,
    pub tool: &'static str,
    /// The agent, or a skill with a slash.
    pub task: &'static str,
    /// The prompt, with what the model is to answer.
    pub prompt: &'static str,
    /// The answer to permission requests.
    pub reply: Reply,
    /// The session to continue.
    pub session: Option<&'static str>,
    /// The prompt of the session before, if a real one is to be continued.
    pub first: Option<&'static str>,
    /// When to stop: milliseconds after a text was shown.
    pub stop: Option<u64>,
    /// The user's own arguments.
    pub args: &'static [&'static str],
    /// A command before the program.
    pub around: &'static [&'static str],
    /// Kind, start of the message, number of refusals.
    pub expected: &'static str,
    /// The expected message if played, where that differs.
    pub live: Option<&'static str>,
}

/// The answer to permission requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Refused, without a user.
    Nobody,
    /// Allowed once.
    Once,
    /// Allowed for the whole run.
    Run,
    /// Denied by the user.
    Deny,
    /// Refused after a timeout.
    Refuse,
}

impl Reply {
    pub fn answer(self) -> Answer {
        match self {
            Self::Once => Answer::Once,
            Self::Run => Answer::Run,
            Self::Deny => Answer::Deny { reason: "not this".to_owned() },
            Self::Nobody | Self::Refuse => Answer::Refuse { why: "nobody answered in time".to_owned() },
        }
    }
}

const CLAUDE: Case = Case {
    name: "",
    tool: "claude",
    task: "implementer",
    prompt: "Go. <<say: All done.>>",
    reply: Reply::Once,
    session: None,
    first: None,
    stop: None,
    args: &[],
    around: &[],
    expected: "passed: All done.",
    live: None,
};

/// A single run of OpenCode, and its server.
const OPENCODE: Case = Case { args: &["run"], ..SERVED };
const SERVED: Case = Case { tool: "opencode", task: "builder", ..CLAUDE };
const ASK: &[&str] = &["env", "OPENCODE_CONFIG=HOME/ask.json"];
const TWICE: &str = "Go. <<use: bash {\"command\":\"echo one\",\"description\":\"One\"}>> <<use: bash {\"command\":\"echo two\",\"description\":\"Two\"}>> <<say: All done.>>";
const BESIDE: &str = "Go. <<also: bash {\"command\":\"echo one\",\"description\":\"One\"}>> <<use: bash {\"command\":\"echo two\",\"description\":\"Two\"}>> <<say: All done.>>";
const BELOW: &str = "Go. <<use: task {\"description\":\"Check\",\"subagent_type\":\"checker\",\"prompt\":\"Look. <<use: bash {\\\"command\\\":\\\"ls\\\",\\\"description\\\":\\\"List\\\"}>> <<say: Fine.>>\"}>> <<say: All done.>>";
const OUTSIDE: &str =
    "Go. <<use: write {\"filePath\":\"/etc/superpower-recorded\",\"content\":\"x\"}>> <<say: All done.>>";
const ASKED_OPENCODE: &str = "Go. <<use: question {\"questions\":[{\"question\":\"Which database?\",\"header\":\"DB\",\"options\":[{\"label\":\"sqlite\",\"description\":\"one file\"},{\"label\":\"postgres\",\"description\":\"a server\"}]}]}>> <<say: All done.>>";
const CUT: &str = "Go. <<say: a>> <<cut>> <<next>> <<say: b>> <<cut>> <<next>> <<say: c>> <<cut>> <<next>> <<say: d>> <<cut>> <<next>> <<say: e>> <<cut>> <<next>> <<say: f>> <<cut>>";
const SLOW: &str = "Go. <<use: Bash {\"command\":\"python3 -c 'import time; time.sleep(60)'\",\"description\":\"Sleep\"}>> <<say: All done.>>";
const SLOW_OPENCODE: &str = "Go. <<say: now>> <<use: bash {\"command\":\"python3 -c 'import time; time.sleep(60)'\",\"description\":\"Sleep\"}>> <<say: All done.>>";
const WORK: &str = "Go. <<say: I write.>> <<use: Write {\"file_path\":\"hello.txt\",\"content\":\"hi\\n\"}>> <<say: I look.>> <<use: Bash {\"command\":\"cat hello.txt\",\"description\":\"Show it\"}>> <<say: All done.>>";
const WORK_OPENCODE: &str = "Go. <<say: I write.>> <<use: write {\"filePath\":\"hello.txt\",\"content\":\"hi\\n\"}>> <<say: I look.>> <<use: bash {\"command\":\"cat hello.txt\",\"description\":\"Show it\"}>> <<say: All done.>>";
const MAKE: &str =
    "Go. <<use: Bash {\"command\":\"python3 -c 'print(1)'\",\"description\":\"Move\"}>> <<say: All done.>>";
const TODO: &str = "Go. <<use: TaskCreate {\"subject\":\"Parse\",\"description\":\"d\",\"activeForm\":\"Parsing\"}>> <<use: TaskUpdate {\"taskId\":\"1\",\"status\":\"completed\"}>> <<say: All done.>>";
const ASKED: &str = "Go. <<use: AskUserQuestion {\"questions\":[{\"question\":\"Which database?\",\"header\":\"DB\",\"multiSelect\":false,\"options\":[{\"label\":\"sqlite\",\"description\":\"one file\"},{\"label\":\"postgres\",\"description\":\"a server\"}]}]}>> <<say: All done.>>";
const SUBAGENT: &str = "Go. <<use: Agent {\"description\":\"Review\",\"subagent_type\":\"reviewer\",\"run_in_background\":false,\"prompt\":\"Look. <<use: Read {\\\"file_path\\\":\\\"README.md\\\"}>> <<say: Fine.>>\"}>> <<say: All done.>>";
const BACKGROUND: &str = "Go. <<use: Bash {\"command\":\"sleep 2; echo slept\",\"description\":\"Sleep\",\"run_in_background\":true}>> <<say: All done.>>";
const PARTS: &str = "Go. <<use: todowrite {\"todos\":[{\"content\":\"Parse\",\"status\":\"in_progress\",\"priority\":\"high\"}]}>> <<use: task {\"description\":\"Check\",\"subagent_type\":\"checker\",\"prompt\":\"Look. <<say: Fine.>>\"}>> <<use: edit {\"filePath\":\"README.md\",\"oldString\":\"Sample\",\"newString\":\"Small\"}>> <<say: All done.>>";

pub const CASES: &[Case] = &[
    Case { name: "claude-agent", ..CLAUDE },
    Case { name: "claude-agent-of-opencode", task: "builder", ..CLAUDE },
    Case {
        name: "claude-agent-unknown",
        task: "nosuch",
        expected: "refused: Claude Code has no agent \"nosuch\"",
        ..CLAUDE
    },
    Case { name: "claude-work", prompt: WORK, ..CLAUDE },
    Case { name: "claude-skill", task: "/write-spec", ..CLAUDE },
    Case {
        name: "claude-skill-unknown",
        task: "/nosuch",
        expected: "refused: Claude Code has no skill \"nosuch\"",
        ..CLAUDE
    },
    Case { name: "claude-allowed", prompt: MAKE, ..CLAUDE },
    Case { name: "claude-denied", prompt: MAKE, reply: Reply::Deny, ..CLAUDE },
    Case {
        name: "claude-refused",
        prompt: MAKE,
        reply: Reply::Refuse,
        expected: "passed: All done. / 1",
        ..CLAUDE
    },
    Case {
        name: "claude-nobody",
        prompt: MAKE,
        reply: Reply::Nobody,
        expected: "passed: All done. / 1",
        ..CLAUDE
    },
    Case {
        name: "claude-question",
        prompt: ASKED,
        expected: "needs-human: Which database? sqlite (one file) | postgres (a server)",
        ..CLAUDE
    },
    Case { name: "claude-todo", prompt: TODO, ..CLAUDE },
    Case { name: "claude-subagent", prompt: SUBAGENT, ..CLAUDE },
    Case { name: "claude-background", prompt: BACKGROUND, expected: "passed: Done.", ..CLAUDE },
    Case { name: "claude-400", prompt: "Go. <<fail: 400>>", expected: "failed: API Error: 400", ..CLAUDE },
    Case {
        name: "claude-401",
        prompt: "Go. <<fail: 401>>",
        expected: "auth: the login was refused",
        ..CLAUDE
    },
    Case {
        name: "claude-403",
        prompt: "Go. <<fail: 403>>",
        expected: "auth: Failed to authenticate. API Error: 403",
        ..CLAUDE
    },
    Case {
        name: "claude-404",
        prompt: "Go. <<fail: 404>>",
        expected: "refused: There's an issue with the selected model",
        ..CLAUDE
    },
    Case {
        name: "claude-429",
        prompt: "Go. <<fail: 429>>",
        expected: "limited: API Error: Request rejected (429)",
        ..CLAUDE
    },
    Case { name: "claude-500", prompt: "Go. <<fail: 500>>", expected: "transient: API Error: 500", ..CLAUDE },
    Case { name: "claude-529", prompt: "Go. <<fail: 529>>", expected: "transient: API Error: ", ..CLAUDE },
    Case { name: "claude-529-twice", prompt: "Go. <<fail: 529 2>> <<say: All done.>>", ..CLAUDE },
    Case { name: "claude-cut", prompt: "Go. <<cut>> <<say: All done.>>", ..CLAUDE },
    Case {
        name: "claude-no-server",
        around: &["env", "ANTHROPIC_BASE_URL=http://127.0.0.1:9"],
        expected: "transient: ",
        ..CLAUDE
    },
    Case {
        name: "claude-no-login",
        around: &["env", "-u", "ANTHROPIC_API_KEY"],
        expected: "auth: Not logged in",
        ..CLAUDE
    },
    Case {
        name: "claude-too-long",
        prompt: "Go. <<full>> <<next>> <<full>> <<next>> <<full>> <<next>> <<full>> <<next>> <<full>>",
        expected: "failed: API Error: Claude's response exceeded",
        ..CLAUDE
    },
    Case {
        name: "claude-max-turns",
        prompt: WORK,
        args: &["--max-turns", "1"],
        expected: "failed: Reached maximum number of turns (1)",
        ..CLAUDE
    },
    Case {
        name: "claude-max-budget",
        prompt: WORK,
        args: &["--max-budget-usd", "0.001"],
        expected: "refused: Reached maximum budget",
        ..CLAUDE
    },
    Case { name: "claude-resumed", first: Some("Go. <<say: Begun.>>"), session: Some("a-session"), ..CLAUDE },
    Case { name: "claude-resume-unknown", session: Some("99999999-2222-4333-8444-555555555555"), ..CLAUDE },
    Case {
        name: "claude-stopped-in-bash",
        prompt: SLOW,
        stop: Some(500),
        expected: "failed: the agent was interrupted",
        live: Some("failed: stopped"),
        ..CLAUDE
    },
    Case {
        name: "claude-stopped-in-request",
        prompt: "Go. <<say: a>> <<use: Bash {\"command\":\"true\"}>> <<wait: 30>> <<say: b>>",
        stop: Some(1000),
        expected: "failed: the agent was interrupted",
        live: Some("failed: stopped"),
        ..CLAUDE
    },
    Case {
        name: "claude-bypass-as-root",
        args: &["--permission-mode", "bypassPermissions"],
        expected: "refused: --dangerously-skip-permissions cannot be used with root",
        ..CLAUDE
    },
    Case { name: "opencode-agent", ..OPENCODE },
    Case { name: "opencode-agent-made-primary", task: "checker", ..OPENCODE },
    Case { name: "opencode-agent-of-claude", task: "implementer", ..OPENCODE },
    Case {
        name: "opencode-agent-unknown",
        task: "nosuch",
        expected: "refused: OpenCode has no agent \"nosuch\"",
        ..OPENCODE
    },
    Case { name: "opencode-work", prompt: WORK_OPENCODE, ..OPENCODE },
    Case { name: "opencode-parts", prompt: PARTS, ..OPENCODE },
    Case { name: "opencode-skill", task: "/write-spec", ..OPENCODE },
    Case {
        name: "opencode-skill-unknown",
        task: "/nosuch",
        expected: "failed: skill \"nosuch\" has no file, and OpenCode reports: ",
        ..OPENCODE
    },
    Case {
        name: "opencode-refused",
        prompt: WORK_OPENCODE,
        around: ASK,
        expected: "needs-human: refused: edit ( / 1",
        ..OPENCODE
    },
    Case { name: "opencode-auto", prompt: WORK_OPENCODE, around: ASK, args: &["run", "--auto"], ..OPENCODE },
    Case {
        name: "opencode-400",
        prompt: "Go. <<fail: 400>>",
        expected: "failed: made-up invalid_request_error (400)",
        ..OPENCODE
    },
    Case {
        name: "opencode-401",
        prompt: "Go. <<fail: 401>>",
        expected: "auth: made-up authentication_error (401)",
        ..OPENCODE
    },
    Case {
        name: "opencode-429",
        prompt: "Go. <<fail: 429>>",
        expected: "limited: made-up rate_limit_error (429)",
        ..OPENCODE
    },
    Case {
        name: "opencode-500",
        prompt: "Go. <<fail: 500>>",
        expected: "transient: made-up api_error (500)",
        ..OPENCODE
    },
    Case { name: "opencode-529-twice", prompt: "Go. <<fail: 529 2>> <<say: All done.>>", ..OPENCODE },
    Case {
        name: "opencode-cut",
        prompt: CUT,
        expected: "transient: the model's stream was cut repeatedly",
        ..OPENCODE
    },
    Case {
        name: "opencode-model-unknown",
        args: &["run", "--model", "fake/nosuch"],
        expected: "failed: ",
        ..OPENCODE
    },
    Case { name: "opencode-resumed", first: Some("Go. <<say: Begun.>>"), session: Some("ses_1"), ..OPENCODE },
    Case { name: "opencode-resume-unknown", session: Some("ses_dd3dae5b4ffeM4DBF4kvXoWfXW"), ..OPENCODE },
    Case {
        name: "opencode-stopped-in-bash",
        prompt: SLOW_OPENCODE,
        stop: Some(3000),
        expected: "failed: no final event",
        live: Some("failed: stopped"),
        ..OPENCODE
    },
    Case { name: "opencode-served-agent", ..SERVED },
    Case { name: "opencode-served-agent-made-primary", task: "checker", ..SERVED },
    Case { name: "opencode-served-agent-of-claude", task: "implementer", ..SERVED },
    Case {
        name: "opencode-served-agent-unknown",
        task: "nosuch",
        expected: "refused: OpenCode has no agent \"nosuch\"",
        ..SERVED
    },
    Case { name: "opencode-served-work", prompt: WORK_OPENCODE, ..SERVED },
    Case { name: "opencode-served-parts", prompt: PARTS, ..SERVED },
    Case { name: "opencode-served-skill", task: "/write-spec", ..SERVED },
    Case {
        name: "opencode-served-skill-filled",
        task: "/write-spec",
        prompt: "Go, with !`touch filled.txt` and @README.md <<use: bash {\"command\":\"ls filled.txt || echo none\",\"description\":\"Look\"}>> <<say: All done.>>",
        ..SERVED
    },
    Case {
        name: "opencode-served-skill-unknown",
        task: "/nosuch",
        expected: "refused: OpenCode has no skill \"nosuch\"",
        ..SERVED
    },
    Case { name: "opencode-served-once", prompt: WORK_OPENCODE, around: ASK, ..SERVED },
    Case { name: "opencode-served-for-the-run", prompt: TWICE, around: ASK, reply: Reply::Run, ..SERVED },
    Case { name: "opencode-served-denied", prompt: WORK_OPENCODE, around: ASK, reply: Reply::Deny, ..SERVED },
    Case {
        name: "opencode-served-command",
        prompt: WORK_OPENCODE,
        reply: Reply::Nobody,
        expected: "passed: All done. / 1",
        ..SERVED
    },
    Case {
        name: "opencode-served-command-below",
        prompt: BELOW,
        reply: Reply::Nobody,
        expected: "passed: All done. / 1",
        ..SERVED
    },
    Case {
        name: "opencode-served-denied-beside",
        prompt: BESIDE,
        reply: Reply::Deny,
        expected: "passed: Done.",
        ..SERVED
    },
    Case {
        name: "opencode-served-nobody-beside",
        prompt: BESIDE,
        reply: Reply::Nobody,
        expected: "passed: Done. / 2",
        ..SERVED
    },
    Case {
        name: "opencode-served-refused",
        prompt: OUTSIDE,
        reply: Reply::Refuse,
        expected: "passed: All done. / 1",
        ..SERVED
    },
    Case {
        name: "opencode-served-nobody",
        prompt: TWICE,
        around: ASK,
        reply: Reply::Nobody,
        expected: "passed: All done. / 2",
        ..SERVED
    },
    Case { name: "opencode-served-auto", prompt: WORK_OPENCODE, around: ASK, args: &["--auto"], ..SERVED },
    Case {
        name: "opencode-served-question",
        task: "build",
        prompt: ASKED_OPENCODE,
        expected: "needs-human: Which database? sqlite (one file) | postgres (a server)",
        ..SERVED
    },
    Case {
        name: "opencode-served-400",
        prompt: "Go. <<fail: 400>>",
        expected: "failed: made-up invalid_request_error (400)",
        ..SERVED
    },
    Case {
        name: "opencode-served-401",
        prompt: "Go. <<fail: 401>>",
        expected: "auth: made-up authentication_error (401)",
        ..SERVED
    },
    Case {
        name: "opencode-served-429",
        prompt: "Go. <<fail: 429>>",
        expected: "limited: made-up rate_limit_error (429)",
        ..SERVED
    },
    Case {
        name: "opencode-served-500",
        prompt: "Go. <<fail: 500>>",
        expected: "transient: made-up api_error (500)",
        ..SERVED
    },
    Case { name: "opencode-served-529-twice", prompt: "Go. <<fail: 529 2>> <<say: All done.>>", ..SERVED },
    Case {
        name: "opencode-served-cut",
        prompt: CUT,
        expected: "transient: the model's stream was cut repeatedly",
        ..SERVED
    },
    Case {
        name: "opencode-served-model-unknown",
        args: &["--model", "fake/nosuch"],
        expected: "failed: ",
        ..SERVED
    },
    Case {
        name: "opencode-served-resumed",
        first: Some("Go. <<say: Begun.>>"),
        session: Some("ses_1"),
        ..SERVED
    },
    Case {
        name: "opencode-served-resume-unknown",
        session: Some("ses_dd3dae5b4ffeM4DBF4kvXoWfXW"),
        ..SERVED
    },
    Case {
        name: "opencode-served-stopped-in-bash",
        prompt: SLOW_OPENCODE,
        stop: Some(3000),
        expected: "failed: Aborted",
        live: Some("failed: stopped"),
        ..SERVED
    },
    Case {
        name: "opencode-no-server",
        around: &["sh", "-c", "[ \"$1\" = serve ] && exit 9; exec \"$0\" \"$@\""],
        ..SERVED
    },
];
