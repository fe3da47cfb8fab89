--- `:checkhealth superpower`: what is installed, what is missing, and what to do. Starts no run and changes nothing.
local errors = require("superpower.base.errors")
local programs = require("superpower.base.program")
local suggest = require("superpower.base.suggest")
local text = require("superpower.base.text")
local config = require("superpower.config")
local engine = require("superpower.engine")
local session = require("superpower.session")

local M = {}

local health = vim.health

--- Returns the first line of a program's `--version`. A program that hangs is abandoned.
---@param program string
---@return string?
local function version_of(program)
  -- Not in the project: a wrapper must not find its program there either.
  local opts = { text = true, stdin = false, timeout = 3000, cwd = vim.uv.os_homedir() }
  local path = vim.startswith(program, "/") and program or programs.find(program)
  local ok, process = pcall(vim.system, { path or "", "--version" }, opts)
  if not ok then
    return nil
  end
  local done = process:wait(4000)
  if done.code ~= 0 then
    return nil
  end
  local first = vim.trim(((done.stdout or "") .. (done.stderr or "")):match("[^\n]*") or "")
  return first ~= "" and first or nil
end

--- Returns the needs that a release is too old for.
---@param version string?
---@param needs { since: string, otherwise: string }[]?
---@return { since: string, otherwise: string }[]
local function too_old(version, needs)
  local release = vim.version.parse(version and version:match("%d+%.%d+%.%d+") or "")
  return vim.tbl_filter(function(need)
    return release ~= nil and vim.version.lt(release, need.since)
  end, needs or {})
end

local function editor()
  health.start("superpower: the editor")
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. version)
  else
    health.error("Neovim " .. version, "superpower.nvim needs 0.10 or later")
  end
  local problems = config.problems()
  if #problems == 0 then
    health.ok("no problems in the configuration")
  end
  for _, problem in ipairs(problems) do
    health.error(problem, "the default is used instead; see :help superpower-options")
  end
end

--- Checks cargo, which builds the library: whether it works, not only whether it is on PATH.
local function builder()
  local version = version_of("cargo")
  if version then
    health.ok("cargo, which builds the library: " .. version)
  elseif vim.fn.executable("cargo") == 1 then
    health.error('"cargo" does not work', 'run "cargo --version" to see why; install Rust 1.89 or later')
  else
    health.error('"cargo" is not on PATH', "install Rust 1.89 or later; cargo builds the library")
  end
end

---@return boolean
local function library()
  health.start("superpower: the native library")
  local ok, err = engine.load()
  if not ok then
    health.error(err and err.message or "not loaded", 'run "make build" in the plugin\'s directory')
    builder()
    return false
  end
  local info = assert(engine.info())
  health.ok(("%s, version %s, protocol %d"):format(info.path, info.version, info.protocol))
  health.info(("the library wakes the editor with a %s"):format(info.waking))
  health.info("its log: " .. info.log)
  local guard = vim.fs.joinpath(vim.fs.dirname(info.path), "superpower-guard")
  if vim.fn.executable(guard) == 1 then
    health.ok("the guard, which starts agents and ends what they leave: " .. guard)
  else
    local said = "no guard beside the library: run `make build`"
    if vim.uv.os_uname().sysname == "Linux" then
      health.error(said .. "; without it no agent is started")
    else
      health.warn(said .. "; without it agents may outlive an editor that is killed")
    end
  end
  if version_of("cargo") then
    builder()
  else
    health.info("cargo, which rebuilds the library after an update, does not work or is not on PATH")
  end
  return true
end

---@param state table
local function agents(state)
  health.start("superpower: agents")
  local wanted = config.get().harness
  local names = { "auto" }
  for _, harness in ipairs(state.harnesses or {}) do
    table.insert(names, harness.name)
    if harness.program then
      local version = harness.name ~= "command" and version_of(harness.program) or nil
      health.ok(("%s: %s%s"):format(harness.name, harness.program, version and " · " .. version or ""))
      for _, need in ipairs(too_old(version, harness.needs)) do
        health.warn(
          ("%s: this release is too old for some things: %s"):format(harness.name, need.otherwise),
          ("update it to %s or later"):format(need.since)
        )
      end
    elseif harness.name == "manual" then
      health.info("manual: you carry out the stages yourself; it needs no program")
    elseif harness.name == wanted then
      health.error(harness.message or ("%s: not set up"):format(wanted))
    else
      local program = (harness.message or ""):match('needs the program "([^"]+)"')
      health.info(("%s: %s"):format(harness.name, program and "not installed" or "not set up"))
    end
  end
  if wanted == "auto" then
    health.info(('"auto" means "%s" here'):format(state.auto or "manual"))
  elseif vim.tbl_contains(names, wanted) then
    health.info(('the harness is "%s"'):format(wanted))
  else
    local hint = suggest.hint(wanted, names)
    health.error(
      ('unknown harness "%s"%s'):format(wanted, hint),
      ("expected one of: %s; see :help superpower-option-harness"):format(table.concat(names, ", "))
    )
  end
end

--- The program that calls the user.
---@param command { program?: string, message?: string }?
local function attention_command(command)
  if command and command.program then
    health.ok("attention_command: " .. command.program)
  elseif command then
    health.warn("attention_command: " .. text.line(command.message), ":help superpower-option-attention_command")
  end
end

--- Lists the processes that drive runs, of all projects.
local function drivers()
  health.start("superpower: drivers")
  local found, err = session.call("drivers")
  if not found then
    health.warn(errors.text(assert(err)))
    return
  end
  if #found == 0 then
    health.info("none: one is started by the first verb that drives, and leaves when there is nothing to do")
  end
  for _, driver in ipairs(found) do
    if driver.problem then
      health.warn(("%s: %s"):format(driver.socket, driver.problem), "remove the socket if nothing listens on it")
    else
      local run = driver.run
      local does = run
          and ("%s, stage %s/%s, %s"):format(text.line(run.superpower), run.stage, run.total, text.line(run.state))
        or "drives nothing"
      local words = ("process %d, version %s, %s: %s (socket: %s)"):format(
        driver.pid,
        text.line(driver.superpower),
        text.line(driver.root),
        does,
        driver.socket
      )
      if driver.current then
        health.ok(words)
      else
        health.warn(words, "it is of another version, and leaves at its next pause")
      end
    end
  end
end

---@param value any
---@return integer
local function count(value)
  return type(value) == "number" and value or (type(value) == "table" and vim.tbl_count(value) or 0)
end

--- Reasons for which a run is not what its files say, so that its state alone would look healthy.
local unsound = { damaged = true, foreign = true }

---@param root string?
---@param err superpower.Error?
---@param project table?
local function here(root, err, project)
  health.start("superpower: this project")
  if not root then
    health.warn(errors.text(assert(err)), "open a file of a project, or :cd into one")
    return
  end
  health.ok("root: " .. root)
  project = project or {}
  local found = vim.tbl_map(function(what)
    local number = count(project[what])
    return ("%d %s"):format(number, number == 1 and what:sub(1, -2) or what)
  end, { "superpowers", "agents", "skills" })
  health.info(table.concat(found, ", "))
  for _, left in ipairs(project.left or {}) do
    health.warn(left, "replace the link with a folder or a file of the project")
  end
  for _, run in ipairs(project.unfinished or {}) do
    local state = run.state .. (run.reason and ", " .. run.reason or "")
    local at = ("stage %d/%d (%s)"):format(run.current_stage or 0, run.total or 0, state)
    local words = ("unfinished: %s, %s, %s"):format(run.superpower, at, run.run_id)
    if unsound[run.reason] then
      health.warn(words, run.summary)
    else
      health.info(words)
    end
  end
  if count(project.unfinished) == 0 then
    health.info("no unfinished run")
  end
  local driver = project.driver
  if driver then
    health.info(("driven by process %s (lock: %s)"):format(tostring(driver.pid or "?"), project.lock or "?"))
  else
    health.info("no run is driven here")
  end
  local log = project.log or vim.fs.joinpath(root, ".claude/logs/superpower.log")
  health.info("log of runs: " .. log .. (vim.uv.fs_stat(log) and "" or " (none yet)"))
end

function M.check()
  editor()
  if not library() then
    return
  end
  local root, err = session.project()
  local state, fault = session.call("health", { root = root })
  if fault then
    health.error(errors.text(fault))
  end
  agents(state or {})
  attention_command(state and state.attention_command)
  drivers()
  here(root, err, state and state.project)
end

return M
