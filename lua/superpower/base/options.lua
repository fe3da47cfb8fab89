--- Every option in one place. Defaults, validation, `:checkhealth` and the options section of the help page all read
--- this table, so that none of them can say something else than the others.

---@class superpower.Option
---@field path string the option's full path below `vim.g.superpower`
---@field type "string"|"boolean"|"integer"|"enum"|"duration"|"list"|"map"|"functions"|"function"
---@field default any
---@field enum? string[] what a `type = "enum"` may be
---@field min? integer
---@field item? table<string, string> for `map`: the keys of each value and their types
---@field engine? boolean handed to the engine as it is
---@field help string

---@type superpower.Option[]
return {
  {
    path = "harness",
    type = "string",
    default = "auto",
    engine = true,
    help = [[How stages reach an agent: "auto", "claude", "opencode", "command" or "manual". "auto" takes the first
whose program is found: claude, opencode, then manual.]],
  },
  {
    path = "harnesses",
    type = "map",
    default = {},
    item = { cmd = "list", args = "list" },
    engine = true,
    help = [[Per harness: `cmd`, the program and its first arguments, and `args`, more arguments. `command` has no
program of its own and needs `cmd`; `{agent}`, `{skill}`, `{stage}` and `{run_id}` are replaced in it. Under any other
name it is a harness of your own, which is driven as `command` is. Read only from your own configuration, never from a
project. A program is named by an absolute path, or found in PATH; entries of PATH that are relative or in the project
are left out, for `git` too.]],
  },
  {
    path = "trust",
    type = "enum",
    default = "ask",
    enum = { "ask", "always" },
    engine = true,
    help = [["ask" shows what a superpower will do before its first run, and again when it, an agent or a skill that it
names, or a file that its agents' own tools read or execute has changed. "always" never asks. |superpower-trust|]],
  },
  {
    path = "conditions",
    type = "functions",
    default = {},
    help = [[Your own facts for `when`. Each key is a fact's name, each value a function that is given
`{ root, inputs, stage }` and returns true or false, and optionally a reason.
Anything else that it returns pauses the run, and says so.]],
  },
  {
    path = "prompt",
    type = "function",
    default = false,
    help = [[A function that replaces what an agent is told. It is given the prompt and
`{ root, run_id, superpower, stage, total, label, kind, actor, attempt, inputs }`, and returns the text. If it fails, the
run pauses and says so.]],
  },
  {
    path = "timeout",
    type = "duration",
    default = "60m",
    engine = true,
    help = [[Wall clock of one attempt, unless the stage says otherwise: a number with s, m or h. The agent is told how
long it has, and once more when it comes to an end: two minutes before, or a fifth of it where that is less.]],
  },
  {
    path = "idle",
    type = "duration",
    default = "15m",
    engine = true,
    help = "How long an agent that streams may be silent before the attempt counts as failed.",
  },
  {
    path = "permission_timeout",
    type = "duration",
    default = "5m",
    engine = true,
    help = "How long a permission request waits for an answer before it is denied.",
  },
  {
    path = "places",
    type = "list",
    default = {},
    engine = true,
    help = [[More directories of a project that hold superpowers, such as `tools/superpowers`. They are looked at
after the project's own and before yours.]],
  },
  {
    path = "keep_runs",
    type = "integer",
    default = 50,
    min = 1,
    engine = true,
    help = "How many finished runs are kept in `.claude/state/runs`.",
  },
  {
    path = "max_output",
    type = "integer",
    default = 256 * 1024 * 1024,
    min = 0,
    engine = true,
    help = "How many bytes of an agent's raw output are kept of one attempt. What comes after is counted, not kept.",
  },
  {
    path = "max_log",
    type = "integer",
    default = 4 * 1024 * 1024,
    min = 1024,
    engine = true,
    help = "How large `.claude/logs/superpower.log` may grow before it becomes `superpower.log.1` and a new one begins.",
  },
  {
    path = "inputs",
    type = "enum",
    default = "form",
    enum = { "form", "ui" },
    help = [[How missing inputs are asked for: "form" is one window for all of them, "ui" asks one after the other by
`vim.ui.input` and `vim.ui.select`.]],
  },
  {
    path = "progress.open",
    type = "boolean",
    default = true,
    help = "Open the progress window when a run starts or goes on.",
  },
  {
    path = "progress.messages",
    type = "boolean",
    default = true,
    help = [[Tell the run's progress as a progress message too, where Neovim has them (0.12): the message line, the default
status line and the terminal show it.]],
  },
  {
    path = "progress.position",
    type = "enum",
    default = "right",
    enum = { "right", "bottom", "split" },
    help = [[Where the progress window is: a float at the right or the bottom, or a split. A float at the right goes to
the bottom where the editor is narrower than 100 columns.]],
  },
  {
    path = "progress.width",
    type = "integer",
    default = 62,
    min = 30,
    help = "Columns of the progress window at the right.",
  },
  {
    path = "progress.height",
    type = "integer",
    default = 16,
    min = 4,
    help = "Most rows of the progress window at the bottom or in a split.",
  },
  {
    path = "gate.open",
    type = "boolean",
    default = true,
    help = [[Open the approval window when a run that this editor drives reaches a gate and nobody is typing. Otherwise
a line says so, and `:Superpower gate` opens it.]],
  },
  {
    path = "gate.delay",
    type = "integer",
    default = 300,
    min = 300,
    help = "Milliseconds without any key, with the window shown and the editor idle, before its decision keys count.",
  },
  {
    path = "notify",
    type = "enum",
    default = "all",
    enum = { "all", "attention", "none" },
    help = [[What is said through `vim.notify`: everything, only what waits for you or went wrong, or nothing. Answers
to what you typed are always said.]],
  },
  {
    path = "bell",
    type = "enum",
    default = "unfocused",
    enum = { "unfocused", "always", "never" },
    help = [[When something waits for you the terminal's bell rings: only while the editor has not got the focus,
always, or never. Terminals and multiplexers turn it into a mark or a sound.]],
  },
  {
    path = "resume_notice",
    type = "boolean",
    default = true,
    help = "Say once, after start-up, that a run waits in the project that was opened.",
  },
  {
    path = "hints",
    type = "boolean",
    default = true,
    help = [[Say in a declaration, behind each stage that has a condition, whether it would run as things are, and why.]],
  },
  {
    path = "icons",
    type = "enum",
    default = "unicode",
    enum = { "unicode", "nerd", "ascii" },
    help = [[The marks of the windows: plain Unicode, a Nerd Font, or ASCII.]],
  },
  {
    path = "border",
    type = "string",
    default = "",
    help = [[The border of our floats; empty means 'winborder' where it is set, else "rounded". The question stands in the top
line and the keys in the bottom line, so one that has no such lines ("none", "shadow") is drawn as "solid".]],
  },
}
