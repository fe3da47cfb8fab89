--- All options. Defaults, validation, `:checkhealth` and the options section of the help page read this table, so that
--- they cannot disagree.

---@class superpower.Option
---@field path string the option's full path below `vim.g.superpower`
---@field type "string"|"boolean"|"integer"|"enum"|"duration"|"list"|"map"|"functions"|"function"
---@field default any
---@field enum? string[] the values of a `type = "enum"`
---@field min? integer
---@field item? table<string, string> for `map`: the keys of each value and their types
---@field items? string[] the values that a `type = "list"` may have
---@field replaced? { by: string, values: table<string, any> } the option that replaces it, with the value for each of its own
---@field engine? boolean passed to the engine unchanged
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
Any other result pauses the run with an error.]],
  },
  {
    path = "prompt",
    type = "function",
    default = false,
    help = [[A function that replaces what an agent is told. It is given the prompt and
`{ root, run_id, superpower, stage, total, label, kind, actor, attempt, inputs }`, and returns the text. If it fails, the
run pauses with an error.]],
  },
  {
    path = "timeout",
    type = "duration",
    default = "60m",
    engine = true,
    help = [[Time limit of one attempt, unless the stage sets its own: a number with s, m or h. The agent is told its limit,
and warned two minutes before the end, or a fifth of the limit if that is less.]],
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
    path = "driver",
    type = "enum",
    default = "process",
    enum = { "process", "editor" },
    engine = true,
    help = [["process" drives runs in a process of their own, which goes on when the editor exits; any editor that opens
the project shows them. "editor" drives them in the editor that starts them. |superpower-driver|]],
  },
  {
    path = "on_exit",
    type = "enum",
    default = "continue",
    enum = { "continue", "stop" },
    engine = true,
    help = [[What becomes of the project's run in a driver process when the editor exits: it goes on, or it is
interrupted and its agents end. `:Superpower resume` continues it.]],
  },
  {
    path = "places",
    type = "list",
    default = {},
    engine = true,
    help = [[More directories of a project that hold superpowers, such as `tools/superpowers`. They are searched
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
    help = "How many bytes of an agent's raw output are kept per attempt. The rest is counted, not kept.",
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
    help = "Open the progress window when a run starts or continues.",
  },
  {
    path = "progress.messages",
    type = "boolean",
    default = true,
    help = [[Report the run's progress as a progress message too, where Neovim has them (0.12): the message line, the
default status line and the terminal show it.]],
  },
  {
    path = "progress.position",
    type = "enum",
    default = "right",
    enum = { "right", "bottom", "split" },
    help = [[Where the progress window is: a float at the right or the bottom, or a split. A float at the right moves to
the bottom when the editor is narrower than 100 columns.]],
  },
  {
    path = "progress.width",
    type = "integer",
    default = 62,
    min = 30,
    help = "Width of the progress window at the right, in columns.",
  },
  {
    path = "progress.height",
    type = "integer",
    default = 16,
    min = 4,
    help = "Maximum height of the progress window at the bottom or in a split, in rows.",
  },
  {
    path = "gate.open",
    type = "boolean",
    default = true,
    help = [[Open the approval window when a run that this editor drives reaches a gate and you are not typing. Otherwise
a message says so, and `:Superpower gate` opens it.]],
  },
  {
    path = "gate.delay",
    type = "integer",
    default = 300,
    min = 300,
    help = "Milliseconds without a key, with the window shown and the editor idle, before its decision keys work.",
  },
  {
    path = "notify",
    type = "enum",
    default = "all",
    enum = { "all", "attention", "none" },
    help = [[What is shown through `vim.notify`: everything, only what waits for you or failed, or nothing. Answers to
what you typed are always shown.]],
  },
  {
    path = "attention",
    type = "list",
    items = { "notify", "bell", "bell-always", "osc", "osc-9", "osc-99", "osc-777" },
    default = { "notify", "bell", "osc" },
    help = [[How you are called when a run waits at a gate, asks something, has failed or is complete: "notify" by
`vim.notify`, as far as `notify` allows; "bell" by the terminal's bell, and "osc" by a notification of the terminal's,
both only while the terminal says that it has no focus; "bell-always" by the bell in any case. "osc" guesses which
sequence your terminal knows; "osc-9" (iTerm2, Windows Terminal, most others), "osc-99" (kitty) and "osc-777" (urxvt,
foot, WezTerm, Ghostty) name it. In tmux this needs `set -g allow-passthrough on` and `set -g focus-events on`. With
several editors on a project, the one that was used last calls.]],
  },
  {
    path = "attention_command",
    type = "list",
    default = {},
    engine = true,
    help = [[A program with its arguments that is run for the same, such as `{ "notify-send", "{title}", "{body}" }`:
by the editor, unless its terminal says that it has the focus, and by the process that drives the run where no editor
is open. There is no shell; `{title}` and `{body}` are replaced in arguments, as one line in which quotes, backslashes,
`$`, `&`, `<` and `>` are replaced by signs that look like them, because names come from the project. The program is
found as those of |superpower-option-harnesses| are, is run in `/`, prints to nowhere, and is ended after ten seconds.
With osascript: `{ "osascript", "-e", 'display notification "{body}" with title "{title}"' }`.]],
  },
  {
    path = "bell",
    type = "enum",
    default = "unfocused",
    enum = { "unfocused", "always", "never" },
    replaced = {
      by = "attention",
      values = {
        unfocused = { "notify", "bell", "osc" },
        always = { "notify", "bell-always", "osc" },
        never = { "notify", "osc" },
      },
    },
    help = [[Replaced by |superpower-option-attention|, and still understood: "always" means "bell-always" in that
list, "never" a list without the bell.]],
  },
  {
    path = "resume_notice",
    type = "boolean",
    default = true,
    help = "Show once, after start-up, that a run waits in the project that was opened.",
  },
  {
    path = "hints",
    type = "boolean",
    default = true,
    help = [[Show after each stage that has a condition whether it would run now, and why.]],
  },
  {
    path = "icons",
    type = "enum",
    default = "unicode",
    enum = { "unicode", "nerd", "ascii" },
    help = [[The icons of the windows: plain Unicode, a Nerd Font, or ASCII.]],
  },
  {
    path = "border",
    type = "string",
    default = "",
    help = [[The border of the plugin's floats; empty means 'winborder' if it is set, else "rounded". The title is in the top
line and the keys are in the bottom line, so a border without these lines ("none", "shadow") is drawn as "solid".]],
  },
}
