-- What must be quick, measured in child Neovims: `nvim -l scripts/bench.lua`. Prints a table; judges nothing.

local root = vim.fn.fnamemodify(arg[0], ":p:h:h")
package.path = root .. "/tests/lua/?.lua;" .. root .. "/tests/lua/?/init.lua;" .. package.path
local T = require("harness")

local function line(what, times, unit)
  table.sort(times)
  local function at(share)
    return times[math.max(1, math.ceil(#times * share))]
  end
  local text = ("%-44s %10.3f %10.3f %10.3f  %s\n"):format(what, at(0.5), at(0.99), times[#times], unit)
  io.stdout:write(text)
end

--- Milliseconds of each of `rounds` runs of a chunk in the child.
local function times(nvim, rounds, chunk, ...)
  return nvim:lua(
    [[
    local rounds, chunk = ...
    local body, times = assert(loadstring(chunk)), {}
    local rest = { select(3, ...) }
    for round = 1, rounds do
      local started = vim.uv.hrtime()
      body(unpack(rest))
      times[round] = (vim.uv.hrtime() - started) / 1e6
    end
    return times
  ]],
    rounds,
    chunk,
    ...
  )
end

local function started(plugin)
  local found = {}
  for _ = 1, 20 do
    local at = vim.uv.hrtime()
    local cmd = { vim.v.progpath, "--headless", "-u", "NONE", "-i", "NONE", "-n" }
    if plugin then
      vim.list_extend(cmd, { "--cmd", "set rtp^=" .. root, "-c", "runtime plugin/superpower.lua" })
    end
    vim.system(vim.list_extend(cmd, { "+qa" })):wait()
    found[#found + 1] = (vim.uv.hrtime() - at) / 1e6
  end
  return found
end

local function declaration(stages)
  local text = { 'name: big\ndescription: Many stages\nversion: "1.0.0"\nstages:' }
  for index = 1, stages do
    text[#text + 1] = ('  - agent: spec-kit\n    name: stage-%d\n    description: "Stage %d"\n    when: always'):format(
      index,
      index
    )
  end
  return table.concat(text, "\n") .. "\n"
end

io.stdout:write(("%-44s %10s %10s %10s\n"):format("", "median", "p99", "worst"))
line("starting Neovim", started(false), "ms")
line("starting Neovim with the plugin", started(true), "ms")

local loads = {}
for _ = 1, 10 do
  local nvim = T.child()
  loads[#loads + 1] = times(nvim, 1, "assert(require('superpower.engine').load())")[1]
  nvim:stop()
end
line("loading the library", loads, "ms")

local nvim = T.child()
line("a call that is refused", times(nvim, 2000, "require('superpower.engine').call('no-such-operation')"), "ms")
local check = "require('superpower.engine').call('check', { text = ..., path = 'big.yaml' })"
for _, stages in ipairs({ 14, 1000, 10000 }) do
  line(("checking %d stages"):format(stages), times(nvim, stages > 1000 and 5 or 50, check, declaration(stages)), "ms")
end
nvim:stop()

-- What the editor's half costs: start-up, requiring, a frame of a long run, and the opening of each window.
local S = require("support.scripted")
nvim = T.child({ plugin = false })
nvim:lua("vim.opt.runtimepath:prepend(...)", root)
local source = [[
  vim.g.loaded_superpower = nil
  vim.cmd.source(...)
]]
line("sourcing plugin/superpower.lua", times(nvim, 50, source, root .. "/plugin/superpower.lua"), "ms")
local fresh = [[
  for name in pairs(package.loaded) do
    if name:match("^superpower") then package.loaded[name] = nil end
  end
  require("superpower")
  require("superpower.subcommands")
]]
line("requiring the API and the command", times(nvim, 50, fresh), "ms")
nvim:stop()

nvim = S.child()
S.answer(nvim, "review", S.review)
S.answer(nvim, "list", {})
S.answer(nvim, "runs", {})
S.answer(nvim, "health", {})
local run = S.at_gate()
run.root = nvim.project
S.answer(nvim, "status", run)
nvim:lua("require('superpower.runs').put(...)", run)
local frame = [[
  local run = _G.long
  if not run then
    run = vim.deepcopy(require("superpower.runs").get())
    for position = 9, 10000 do
      run.stages[position] = vim.tbl_extend("force", run.stages[8], { position = position })
    end
    run.total, run.current_stage, _G.long = 10000, 5000, run
  end
  require("superpower.ui.render").progress(run, { width = 60, height = 40, now = 0, icons = "unicode" })
]]
nvim:lua(frame)
line("a frame of 10,000 stages", times(nvim, 100, frame), "ms")
for name, window in pairs({
  progress = {
    "require('superpower.ui.progress').open(...); vim.cmd.redraw()",
    "require('superpower.ui.progress').close(); vim.wait(5)",
  },
  approval = { "require('superpower.gate').open(...); vim.cmd.redraw()", "vim.cmd('close'); vim.wait(5)" },
  dashboard = { "require('superpower.ui.dashboard').open(...); vim.cmd.redraw()", "vim.cmd('close'); vim.wait(5)" },
}) do
  local found = {}
  for _ = 1, 20 do
    vim.list_extend(found, times(nvim, 1, window[1], nvim.project))
    nvim:lua(window[2])
  end
  line("opening the window: " .. name, found, "ms")
end
nvim:stop()
