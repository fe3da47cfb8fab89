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
      -- Each names its own way to go on.
      local said = plain(bang.err):gsub("; give it a name.*", ""):gsub(":Superpower (%l)", "superpower %1")
      eq(said, (plain(line.err):gsub("; give it a name.*", "")), step[1])
    end
  end)

  it("shows what the bang shows, without a run, at a gate and after it", function()
    program()
    local dir, home = Bang.project(), T.dir()
    T.write(dir .. "/.claude/superpowers/wrong.yaml", "name: wrong\nstages:\n  - agent: nobody\n")
    local opts = { dir = dir, home = home, env = { XDG_STATE_HOME = home .. "/state" } }
    local function both(verb, words, code)
      local bang = Bang.run("Superpower! " .. verb, opts)
      local line = run(words, { dir = dir, home = home })
      eq({ code, bang.out, bang.err }, { line.code, line.out, line.err }, verb)
      eq(code, bang.code, verb)
      return bang
    end
    local function all(runs, found)
      both("status", { "status" }, 0)
      both("list", { "list" }, 0)
      both("runs", { "runs" }, 0)
      both("log", { "log" }, found)
      both("plan small epic='two words'", { "plan", "small", "epic=two words" }, 0)
      local shown = Bang.run("Superpower! runs", opts).out
      eq(runs, #vim.split(vim.trim(shown), "\n"), shown)
    end
    all(1, 2)
    ok(both("check", { "check" }, 1).out:find("error: ", 1, true), "the problem is named")
    both("check small", { "check", "small" }, 0)
    both("check smal", { "check", "smal" }, 2)
    both("plan", { "plan" }, 2)
    both("plan small --json", { "plan", "--", "small", "--json" }, 2)
    eq(3, Bang.run("Superpower! run small epic=x", opts).code)
    all(1, 0)
    eq(3, Bang.run("Superpower! run small epic=y", opts).code)
    all(2, 0)
    local first = vim.split(Bang.run("Superpower! runs", opts).out, "\n")[2]:match("^%S+")
    both("log run=" .. first, { "log", "run=" .. first }, 0)
    both("status run=" .. first, { "status", "run=" .. first }, 0)
    both("status run=ffff", { "status", "run=ffff" }, 2)
  end)

  it("knows, behind the bang, this editor's options", function()
    program()
    local dir = Bang.project()
    T.write(
      dir .. "/.claude/superpowers/own.yaml",
      Bang.declaration:gsub("small", "own"):gsub("(Is it right)", "%1\n    when: story.mine")
    )
    local mine = 'conditions = { ["story.mine"] = function() return true end }'
    local known = Bang.run("Superpower! check own", { dir = dir, config = mine })
    eq({ 0, "" }, { known.code, known.out }, known.err)
    local unknown = Bang.run("Superpower! check own", { dir = dir })
    eq(1, unknown.code, unknown.err)
    ok(unknown.out:find("story.mine", 1, true), unknown.out)
  end)

  it("is named where it is missing", function()
    program()
    local alone = T.dir()
    for _, name in ipairs({ vim.fs.basename(T.library()), "superpower-guard" }) do
      local from = vim.fs.joinpath(vim.fs.dirname(assert(vim.uv.fs_realpath(T.library()))), name)
      assert(vim.uv.fs_copyfile(from, alone .. "/" .. name))
    end
    local library = alone .. "/" .. vim.fs.basename(T.library())
    local done = Bang.run("Superpower! list", { dir = Bang.project(), env = { SUPERPOWER_NATIVE = library } })
    eq({ 1, "" }, { done.code, done.out })
    eq(
      ('superpower: "list" needs the program "superpower" beside the library (%s/superpower): run `make build`\n'):format(
        alone
      ),
      done.err
    )
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
