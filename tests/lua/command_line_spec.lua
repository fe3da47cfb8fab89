-- The program `superpower` says and does what the bang does in a headless editor: the same lines, and the same statuses.
local T = require("harness")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

local Bang = require("support.bang")

---@return string
local function program()
  local library = T.library()
  local path = library and vim.fs.joinpath(vim.fs.dirname(vim.uv.fs_realpath(library) or library), "superpower")
  if not path or vim.fn.executable(path) == 0 then
    T.skip("the program is not built")
  end
  return path --[[@as string]]
end

--- A verb on the command line, with the options of the bang in `config.json`.
---@param words string[]
---@param opts { dir: string, trust?: string, home: string }
---@return { code: integer, out: string, err: string }
local function run(words, opts)
  local config = {
    harness = "command",
    trust = opts.trust or "always",
    harnesses = { command = { cmd = { opts.dir .. "/agent" } } },
  }
  T.write(opts.home .. "/config/superpower/config.json", vim.json.encode(config))
  local done = vim
    .system(vim.list_extend({ program() }, words), {
      cwd = opts.dir,
      text = true,
      timeout = 30000,
      env = {
        HOME = opts.home,
        XDG_STATE_HOME = opts.home .. "/state",
        XDG_CONFIG_HOME = opts.home .. "/config",
        USER = "ann",
      },
    })
    :wait()
  return { code = done.code, out = done.stdout, err = done.stderr }
end

--- Output without what differs from run to run, and from program to program.
---@param text string
---@return string
local function plain(text)
  return (
    text
      :gsub("%(review=%x+%)", "(review=…)")
      :gsub("%(headless, %S+ %d+%)", "(headless)")
      :gsub("%x+%-%x+%-%x+%-%x+%-%x+", "ID")
      :gsub(":Superpower (%l+) ", "superpower %1 ")
  )
end

--- What the two are told, in turn; a file that stands there before is what the agent heeds.
---@type { [1]: string, [2]: string[], file?: string, gone?: string, code: integer }[]
local steps = {
  { "run small", { "run", "small" }, code = 2 },
  { "run smal epic=x", { "run", "smal", "epic=x" }, code = 2 },
  { "run small epic", { "run", "small", "epic" }, code = 2 },
  { "run small epic=x nope=1", { "run", "small", "epic=x", "nope=1" }, code = 2 },
  { "approve", { "approve" }, code = 2 },
  { "run small epic='two words'", { "run", "small", "epic=two words" }, code = 3 },
  { "resume", { "resume" }, code = 3 },
  { "changes make it smaller", { "changes", "make it", "smaller" }, code = 3 },
  { "approve looks | good", { "approve", "looks", "|", "good" }, code = 0 },
  { "resume", { "resume" }, code = 0 },
  { "retry", { "retry" }, code = 2 },
  { "run small epic=x", { "run", "small", "epic=x" }, file = "fail", code = 1 },
  { "retry please", { "retry", "please" }, code = 1 },
  { "skip", { "skip" }, code = 3 },
  { "reject no", { "reject", "no" }, code = 0 },
  { "resume", { "resume" }, code = 1 },
  { "run small epic=y", { "run", "small", "epic=y" }, file = "ask", gone = "fail", code = 1 },
  { "cancel", { "cancel" }, code = 0 },
}

describe("the command line", function()
  it("has the lines and the statuses of the bang", function()
    program()
    local theirs, ours, home = Bang.project(), Bang.project(), T.dir()
    for _, step in ipairs(steps) do
      for _, dir in ipairs({ theirs, ours }) do
        if step.file then
          T.write(dir .. "/" .. step.file, "")
        end
        if step.gone then
          os.remove(dir .. "/" .. step.gone)
        end
      end
      local bang = Bang.run("Superpower! " .. step[1], { dir = theirs })
      local line = run(step[2], { dir = ours, home = home })
      eq(step.code, bang.code, step[1] .. bang.err)
      eq(step.code, line.code, step[1] .. line.err)
      eq(plain(bang.out), plain(line.out), step[1])
      eq(plain(bang.err):gsub("; give it a name.*", ""), plain(line.err):gsub("; give it a name.*", ""), step[1])
    end
  end)

  it("drives a project with what an editor has chosen there, but for its trust", function()
    local path, dir, home = program(), Bang.project(), T.dir()
    local state = T.state()
    eq(3, Bang.run("Superpower! run small epic=x", { dir = dir }).code)
    local function done(words)
      local env = { HOME = home, XDG_STATE_HOME = state, XDG_CONFIG_HOME = home .. "/none", USER = "ann" }
      return vim.system(vim.list_extend({ path }, words), { cwd = dir, text = true, env = env }):wait()
    end
    local refused = done({ "approve" })
    eq(2, refused.code)
    ok(refused.stderr:find("superpower trust small", 1, true), refused.stderr)
    local shown = vim.json.decode(done({ "--json", "trust", "small" }).stdout)
    eq(0, done({ "trust", "small", "--digest", shown.digest }).code)
    local approved = done({ "approve", "answer=go-on" })
    eq(0, approved.code, approved.stderr)
    ok(approved.stdout:find("COMPLETE  small", 1, true), approved.stdout)
  end)

  it("finds our state where config.json says that it is for editors too", function()
    local path, dir, home = program(), Bang.project(), T.dir()
    local state = home .. "/elsewhere"
    T.write(home .. "/config/superpower/config.json", ('{ "state_dir": %q } // mine'):format(state))
    local bang = Bang.run("Superpower! run small epic=x", { dir = dir, home = home })
    eq(3, bang.code, bang.err)
    ok(T.exists(state .. "/key"), "the key is there")
    local env = { HOME = home, XDG_CONFIG_HOME = home .. "/config", USER = "ann" }
    local done = vim.system({ path, "--json", "status" }, { cwd = dir, text = true, env = env }):wait()
    eq("gate", vim.json.decode(done.stdout).run.reason, "and the run is ours")
    T.write(home .. "/config/superpower/config.json", '{ "state_dir": ')
    bang = Bang.run("Superpower! resume", { dir = dir, home = home })
    ok(bang.err:find("config.json: ", 1, true), bang.err)
  end)
end)
