-- An error in or around a verb with a bang ends the editor with a status and a message. No process is left, and no message
-- is lost.
local T = require("harness")
local Bang = require("support.bang")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

--- Makes one function of our modules raise an error: `FAIL` names it. The names of called functions go to the file `CALLS`.
--- The functions are the real ones, wrapped when their module is required.
local wrapped = [[
  local calls = vim.env.CALLS and assert(io.open(vim.env.CALLS, "a"))
  local seen = {}
  local function wrap(module, name, fn)
    local full = module .. ":" .. name
    return function(...)
      if calls and not seen[full] then
        seen[full] = true
        calls:write(full .. "\n")
        calls:flush()
      end
      if vim.env.FAIL == full then
        error("made to fail", 0)
      end
      return fn(...)
    end
  end
  table.insert(package.loaders, 2, function(name)
    if not vim.startswith(name, "superpower.") then
      return nil
    end
    local path = vim.api.nvim_get_runtime_file("lua/" .. name:gsub("%.", "/") .. ".lua", false)[1]
    local chunk = path and loadfile(path)
    return chunk and function(...)
      local module = chunk(...)
      for key, value in pairs(type(module) == "table" and module or {}) do
        if type(value) == "function" then
          module[key] = wrap(name, key, value)
        elseif type(value) == "table" and type(value.impl) == "function" then
          value.impl = wrap(name, key .. ".impl", value.impl)
        end
      end
      return module
    end
  end)
]]

--- Brings a project into a state in which a verb has something to do.
local before = {
  resume = { "run small epic=x" },
  approve = { "run small epic=x" },
  changes = { "run small epic=x" },
  reject = { "run small epic=x" },
  retry = { "run small epic=x", touch = "fail" },
  skip = { "run small epic=x", touch = "fail" },
  cancel = { "run small epic=x" },
}
local line = { run = "run small epic=x", changes = "changes smaller", plan = "plan small epic=x" }

--- The verbs that take a bang, from their table, so that new ones are included.
---@return string[]
local function verbs()
  local said = T.sh({
    vim.v.progpath,
    "--headless",
    "-u",
    "NONE",
    "-i",
    "NONE",
    "--cmd",
    "set rtp^=" .. T.root,
    "-c",
    [[lua for name, sub in pairs(require("superpower.commands.subcommands")) do
      if sub.bang then io.stdout:write(name .. "\n") end
    end vim.cmd("qa!")]],
  })
  local names = vim.split(vim.trim(said.stdout), "\n")
  table.sort(names)
  return names
end

local tried = {} ---@type table<string, true> what has been made to raise for some verb

---@class faults.Recorded
---@field command string
---@field start string a project that is where the verb has something to do
---@field names string[] what the verb calls, but for what another verb has called already

--- Runs the verb once, and records the functions that it calls. The directories stay until the runner ends, because several
--- tests start from them.
---@param verb string
---@return faults.Recorded
local function recorded(verb)
  local start, copy, calls = vim.fn.tempname(), vim.fn.tempname(), vim.fn.tempname()
  local dir = Bang.project()
  local steps = before[verb] or {}
  if steps.touch then
    T.write(dir .. "/" .. steps.touch, "")
  end
  for _, step in ipairs(steps) do
    Bang.run("Superpower! " .. step, { dir = dir })
  end
  T.sh({ "cp", "-R", dir, start })
  T.sh({ "cp", "-R", dir, copy })
  local command = "Superpower! " .. (line[verb] or verb)
  Bang.run(command, { dir = copy, init = wrapped, env = { CALLS = calls } })
  local all = vim.split(vim.trim(T.read(calls) or ""), "\n")
  ok(#all > 5, verb .. ": " .. vim.inspect(all))
  local names = {}
  for _, name in ipairs(all) do
    if not tried[name] or name == "superpower.session:call" then -- every verb calls it
      tried[name] = true
      table.insert(names, name)
    end
  end
  return { command = command, start = start, names = names }
end

--- Returns what is wrong with the end of a verb in which `name` raised an error.
---@param done vim.SystemCompleted
---@return string?
local function wrong_with(done)
  local _, times = done.stderr:gsub("made to fail", "")
  if done.signal ~= 0 or done.code == 124 then
    return "it did not end by itself"
  elseif done.stderr ~= "" and done.stderr:sub(-1) ~= "\n" then
    return "a line without its end"
  elseif done.stderr:find("stack traceback", 1, true) then
    return "a trace"
  elseif times > 1 then
    return "more than one line"
  elseif times == 1 and done.code ~= 1 then
    return "status " .. done.code -- a status that means success, although one of our functions failed
  end
end

local parts = 3
local known = {} ---@type table<string, faults.Recorded>

describe("an internal error", function()
  for _, verb in ipairs(verbs()) do
    for part = 1, parts do
      it(("in any call of %s ends it with a status and one line (%d of %d)"):format(verb, part, parts), function()
        known[verb] = known[verb] or recorded(verb)
        local this = known[verb]
        local at, left, wrong = part, 0, {}
        local function next_job()
          local name = this.names[at]
          at = at + parts
          if not name then
            return
          end
          left = left + 1
          local dir = T.dir()
          T.sh({ "cp", "-R", this.start .. "/.", dir })
          local opts = { dir = dir, init = wrapped, env = { FAIL = name } }
          Bang.start(
            this.command,
            opts,
            vim.schedule_wrap(function(done)
              left = left - 1
              local why = wrong_with(done)
              if why then
                table.insert(wrong, { name, why, done.code, done.stderr })
              end
              next_job()
            end)
          )
        end
        for _ = 1, 4 do
          next_job()
        end
        T.wait(function()
          return left == 0
        end, 58000, "all of them to end")
        eq({}, wrong)
      end)
    end
  end

  it("in a module that cannot be loaded ends it too", function()
    local dir = Bang.project()
    for _, module in ipairs({ "commands", "commands.headless", "notify", "session", "engine", "base.text" }) do
      local init = ('package.preload["superpower.%s"] = function() error("it is broken", 0) end'):format(module)
      local done = Bang.run("Superpower! run small epic=x", { dir = dir, init = init })
      eq(1, done.code, module .. done.err)
      contains(done.err, "it is broken", module)
      lacks(done.err, "stack traceback", module)
      eq("\n", done.err:sub(-1), module)
    end
  end)
end)

describe("an error in the user's code", function()
  it("in a callback is reported in one line, and the run continues", function()
    local dir = Bang.project()
    local done = Bang.run("Superpower! run small epic=x", {
      dir = dir,
      init = [[
        vim.notify = function() error("their notify") end
        vim.api.nvim_create_autocmd("User", { pattern = "SuperpowerGateOpened", callback = function() error("theirs") end })
        vim.api.nvim_create_autocmd("User", { pattern = "SuperpowerRunStarted", command = "throw 'thrown'" })
      ]],
    })
    eq(3, done.code, done.err)
    contains(done.out, "PAUSED — decide with: approve, changes or reject\n")
    contains(done.err, "theirs")
    contains(done.err, "thrown")
    lacks(done.err, "stack traceback")
    lacks(done.err, "event handler")
  end)

  --- A callback for a `User` event.
  ---@param event string
  ---@param body string
  ---@param nested? boolean
  ---@return string
  local function on(event, body, nested)
    return ('vim.api.nvim_create_autocmd("User", { pattern = %q, nested = %s, callback = function() %s end })'):format(
      event,
      tostring(nested or false),
      body
    )
  end

  it("that quits the editor makes an unfinished run fail", function()
    for _, init in ipairs({
      on("SuperpowerStageStarted", "vim.cmd('qa!')"),
      on("SuperpowerStageStarted", "vim.cmd('qa!')", true),
      on("SuperpowerStageStarted", "vim.schedule(function() vim.cmd('qa!') end)"),
      on("SuperpowerStageStarted", "vim.cmd('cquit 0')"),
      on("SuperpowerRunStarted", "vim.defer_fn(function() vim.cmd('qa!') end, 1)"),
    }) do
      local dir = Bang.project()
      T.write(dir .. "/agent", "#!/bin/sh\ncat >/dev/null\nexec sleep 60\n")
      local done = Bang.run("Superpower! run small epic=x", { dir = dir, init = init })
      eq(
        { 1, "superpower: a callback quit the editor before the run stopped: resume it\n" },
        { done.code, done.err },
        init
      )
      contains(done.out, "PAUSED (interrupted)", init)
      T.write(dir .. "/agent", Bang.agent)
      eq(3, Bang.run("Superpower! resume", { dir = dir }).code, init)
    end
  end)

  it("is not blamed for a signal that ends the editor", function()
    for _, signal in ipairs({ "sigterm", "sighup" }) do
      local dir = Bang.project()
      T.write(dir .. "/agent", "#!/bin/sh\necho started >started\nsleep 30\n")
      local job = Bang.start("Superpower! run small epic=x", { dir = dir })
      T.wait(function()
        return T.exists(dir .. "/started")
      end, 10000)
      job:kill(signal)
      local done = job:wait()
      eq(1, done.code)
      contains(done.stdout, "PAUSED (interrupted)")
      contains(done.stderr, "superpower: a signal ended the editor before the run stopped: resume it\n")
    end
  end)

  it("that quits the editor with a status decides the status", function()
    local init = on("SuperpowerStageStarted", "vim.cmd('cquit 7')")
    eq(7, Bang.run("Superpower! run small epic=x", { dir = Bang.project(), init = init }).code)
  end)

  it("that quits the editor after the run has stopped keeps the run's status", function()
    local dir = Bang.project()
    local paused =
      Bang.run("Superpower! run small epic=x", { dir = dir, init = on("SuperpowerGateOpened", "vim.cmd('qa!')") })
    contains(paused.out, "PAUSED — decide with: approve, changes or reject\n")
    local init = on("SuperpowerRunFinished", "vim.cmd('qa!')")
    local done = Bang.run("Superpower! approve", { dir = dir, init = init })
    eq({ 0, "" }, { done.code, done.err })
    contains(done.out, "COMPLETE  small\n")
    dir = Bang.project()
    done = Bang.run("Superpower! run small epic=x", { dir = dir, init = on("SuperpowerRunPaused", "vim.cmd('qa!')") })
    eq({ 3, "" }, { done.code, Bang.without_list(done.err) })
    contains(done.out, "PAUSED — decide with: approve, changes or reject\n")
  end)

  it("that waits for a key gets one, and the run continues", function()
    for _, body in ipairs({
      "vim.fn.getchar()",
      "vim.fn.input('sure? ')",
      "vim.fn.getcharstr() vim.fn.inputlist({ 'a', 'b' })",
    }) do
      local done =
        Bang.run("Superpower! run small epic=x", { dir = Bang.project(), init = on("SuperpowerStageStarted", body) })
      eq(3, done.code, body .. done.err)
      contains(done.err, "a callback waited for a key without a user interface: it was sent <Esc>\n", body)
      contains(done.out, "PAUSED — decide with: approve, changes or reject\n")
    end
  end)

  it("that asks with vim.ui gets no answer", function()
    for _, body in ipairs({ "vim.ui.select({ 1, 2 }, {}, told)", "vim.ui.input({}, told)" }) do
      body = "local function told(it) io.stderr:write('told ' .. tostring(it) .. '\\n') end " .. body
      local init = on("SuperpowerStageStarted", body)
      local done = Bang.run("Superpower! run small epic=x", { dir = Bang.project(), init = init })
      eq(3, done.code, body .. done.err)
      contains(done.err, "told nil\n", body)
    end
  end)

  it("that takes its time is given none", function()
    local init = on("SuperpowerStageStarted", "vim.fn.system('sleep 2')")
    local done = Bang.run("Superpower! run small epic=x", { dir = Bang.project(), init = init })
    eq({ 3, "" }, { done.code, Bang.without_list(done.err) })
  end)

  it("in a prompt function pauses the run with the error", function()
    for config, words in pairs({
      ['prompt = function() error("no prompt today") end'] = "no prompt today",
      ["prompt = function() return 7 end"] = "returned a number, not a string",
      ['prompt = function() return ("x"):rep(50 * 1048576) end'] = "returned 50 MiB",
      ['prompt = function() return "\\255" end'] = "UTF-8",
    }) do
      local done = Bang.run("Superpower! run small epic=x", { dir = Bang.project(), config = config })
      eq(1, done.code, done.err)
      contains(done.err, words)
      lacks(done.err, "within 10 seconds")
    end
  end)
end)

describe("the environment of a bang verb", function()
  it("need not have a writable home", function()
    local dir = Bang.project()
    local home = T.dir()
    T.write(home .. "/file", "")
    -- A file in place of the directory, so that not even root can create it.
    local env = { HOME = home .. "/file" }
    for _, name in ipairs({ "STATE", "DATA", "CONFIG", "CACHE" }) do
      env[("XDG_%s_HOME"):format(name)] = home .. "/file/" .. name
    end
    -- The key of the seals cannot be saved, so no run is driven, and one line says why.
    local done = Bang.run("Superpower! run small epic=x", { dir = dir, env = env })
    eq(2, done.code, done.err)
    lacks(done.err, "stack traceback")
    contains(done.err, "the key that seals runs")
    -- No other part of a home directory is needed.
    env.XDG_STATE_HOME = nil
    done = Bang.run("Superpower! run small epic=x", { dir = dir, env = env })
    eq(3, done.code, done.err)
    lacks(done.err, "stack traceback")
    done = Bang.run("Superpower! approve", { dir = dir, env = env })
    eq(0, done.code, done.err)
  end)

  it("makes the verb fail if its lines cannot be written", function()
    if not T.exists("/dev/full") then
      T.skip("there is no /dev/full here")
    end
    local dir = Bang.project()
    local done = Bang.run("Superpower! run small epic=x", { dir = dir, shell = '"$@" >/dev/full' })
    eq(1, done.code)
    contains(done.err, "lines were lost")
    eq(0, Bang.run("Superpower! approve", { dir = dir }).code)
    done = Bang.run("Superpower! run small epic=x", { dir = dir, shell = '"$@" 2>/dev/full' })
    eq(3, done.code, "nothing had to be said there")
  end)

  it("is reported if the working directory does not exist, or is not UTF-8", function()
    local dir = Bang.project()
    local gone = dir .. "/gone"
    vim.fn.mkdir(gone)
    local done = Bang.run("Superpower! run small epic=x", { dir = dir, shell = 'cd gone && rmdir ../gone && "$@"' })
    eq(2, done.code, done.err)
    contains(done.err, "the working directory no longer exists")
    local made = T.sh(
      { "sh", "-c", 'mkdir "$(printf "odd\\377")/" && mkdir "$(printf "odd\\377")/.claude"' },
      { cwd = dir }
    )
    if made.code ~= 0 then
      return -- a file system that takes only UTF-8
    end
    done = Bang.run("Superpower! run small epic=x", { dir = dir, shell = 'cd "$(printf "odd\\377")" && "$@"' })
    eq(2, done.code, done.err)
    contains(done.err, "odd<ff>")
    contains(done.err, "is not valid UTF-8")
    lacks(done.err, "JSON")
    done = Bang.run("Superpower! run small epic='\255'", { dir = dir })
    eq(2, done.code, done.err)
    contains(done.err, '"<ff>" is not valid UTF-8')
  end)
end)

describe("what the engine said before it refused", function()
  it("is printed first: a journal with a damaged line", function()
    local dir = Bang.project()
    eq(3, Bang.run("Superpower! run small epic=x", { dir = dir }).code)
    local journal = vim.fn.glob(dir .. "/.claude/state/runs/*/journal.jsonl")
    local lines = vim.split(T.read(journal), "\n")
    lines[4] = "{ spoilt"
    T.write(journal, table.concat(lines, "\n"))
    local done = Bang.run("Superpower! approve", { dir = dir })
    ok(done.code ~= 0)
    contains(done.err, "journal")
  end)

  it("is printed first: another tool's run that was moved aside", function()
    local dir = Bang.project()
    T.write(dir .. "/.claude/state/squad.json", "{ spoilt")
    local done = Bang.run("Superpower! run small epic=x", { dir = dir })
    eq(3, done.code, done.err)
    contains(done.err, "moved to")
  end)
end)

describe("the status of a named run", function()
  --- Two runs: one rejected, the other complete. The one that was started last is current.
  ---@param last "rejected"|"complete"
  local function two(last)
    local dir = Bang.project()
    for _, how in ipairs(last == "complete" and { "reject", "approve" } or { "approve", "reject" }) do
      eq(3, Bang.run("Superpower! run small epic=" .. how, { dir = dir }).code)
      Bang.run("Superpower! " .. how, { dir = dir })
    end
    local ids = {}
    for _, path in ipairs(vim.fn.glob(dir .. "/.claude/state/runs/*/summary.json", false, true)) do
      local summary = vim.json.decode(T.read(path))
      ids[summary.state] = summary.run_id
    end
    return dir, ids
  end

  it("is the status of that run, whichever is current", function()
    for _, last in ipairs({ "complete", "rejected" }) do
      local dir, ids = two(last)
      local done = Bang.run("Superpower! resume " .. ids.complete, { dir = dir })
      eq({ 0, "" }, { done.code, done.out }, last .. done.err)
      contains(done.err, "complete")
      done = Bang.run("Superpower! resume " .. ids.rejected, { dir = dir })
      eq({ 1, "" }, { done.code, done.out }, last .. done.err)
      contains(done.err, "rejected")
    end
  end)

  it("is its own while another run waits at a gate", function()
    local dir, ids = two("complete")
    eq(3, Bang.run("Superpower! run small epic=waits", { dir = dir }).code)
    eq(0, Bang.run("Superpower! resume " .. ids.complete, { dir = dir }).code)
    eq(1, Bang.run("Superpower! resume " .. ids.rejected, { dir = dir }).code)
    eq(3, Bang.run("Superpower! resume", { dir = dir }).code)
  end)
end)

describe("a run that asks, headless", function()
  it("says how to answer", function()
    local dir = Bang.project()
    T.write(dir .. "/ask", "")
    local done = Bang.run("Superpower! run small epic=x", { dir = dir })
    eq(1, done.code)
    contains(done.out, "[superpower] PAUSED (needs-human) — answer with: :Superpower retry ANSWER\n")
    os.remove(dir .. "/ask")
    done = Bang.run("Superpower! retry the first", { dir = dir })
    eq(3, done.code, done.err)
    contains(done.out, "[superpower] PAUSED — decide with: approve, changes or reject\n")
    lacks(done.out, "resume with")
  end)
end)

describe("text that others wrote", function()
  it("names the verbs that take a bang, and no others", function()
    local done = Bang.run("Superpower!", { dir = Bang.project() })
    eq(2, done.code)
    local named = vim.split(done.err:match("one of: (.-)\n"), ", ")
    table.sort(named)
    eq(verbs(), named)
  end)

  it("cannot control the terminal: control bytes are shown, not sent", function()
    local dir = Bang.project()
    T.write(dir .. "/agent", "#!/bin/sh\ncat >/dev/null\nprintf '\\033]0;pwn\\007\\033[2J evil' >&2\nexit 1\n")
    local run = "0190aaaa-0000-7612-b7ab-ce84a7ad77c7"
    local planted = dir .. "/.claude/state/runs/" .. run
    local function plant()
      T.write(
        planted .. "/declaration-1.yaml",
        'name: "evil\\e]0;pwn\\a\\e[2J\\nsecond line"\ndescription: d\nversion: "1.0.0"\nstages:\n'
          .. "  - gate: human-approval\n    name: look\n"
      )
      T.write(
        planted .. "/journal.jsonl",
        table.concat({
          '{"format":1}',
          ('{"at":"2026-11-30T00:14:02.5Z","event":"run-started","run_id":"%s","superpower":"x","version":"1",'):format(
            run
          )
            .. '"declaration":"declaration-1.yaml","inputs":{},"harness":null,"by":"you","adopted":null}',
          '{"at":"2026-11-30T00:14:02.5Z","event":"stage-decided","stage":0,"run":true,"why":""}',
          "",
        }, "\n")
      )
      T.write(
        dir .. "/.claude/state/squad.json",
        ('{"active_superpower":"x\\u001b[2J","current_stage":1,"status":"paused","run_id":"%s"}'):format(run)
      )
    end
    for _, command in ipairs({ "run small epic='\27[31m'", "retry", "approve", "resume", "resume evil", "cancel" }) do
      if command ~= "run small epic='\27[31m'" then
        plant()
      end
      local done = Bang.run("Superpower! " .. command, { dir = dir })
      lacks(done.out .. done.err, "\27", command)
      lacks(done.out .. done.err, "\7", command)
    end
    lacks(T.read(dir .. "/.claude/logs/superpower.log") or "", "\27")
  end)
end)
