-- Two projects in one editor: questions of one project are not mixed with those of the other.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, contains = T.describe, T.it, T.eq, T.contains

local two = [[
name: two
description: By hand, then a look
version: "1.0.0"
inputs: [{name: goal, required: true, description: What}]
stages:
  - {agent: spec-kit, description: "Do {{goal}}", harness: manual}
  - {gate: human-approval, description: "Is {{goal}} right?"}
]]

--- An editor with active runs of `two` in two projects, each at its manual stage.
local function both()
  local nvim = Shop.child({ init = [[vim.g.superpower = { trust = "always" }]] })
  local projects = { one = nvim.project, other = Shop.project(T.dir()) }
  for goal, root in pairs(projects) do
    T.write(root .. "/.claude/superpowers/two.yaml", two)
    nvim:cmd("edit " .. root .. "/README.md")
    nvim:cmd(("Superpower run two goal=%s"):format(goal))
    nvim:wait(
      ("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ' '):find('Do %s', 1, true) ~= nil"):format(
        goal
      ),
      10000
    )
    nvim:cmd("close")
  end
  return nvim, projects
end

--- Opens what waits in a project, from its dashboard.
local function open(nvim, root, words)
  nvim:cmd("edit " .. root .. "/README.md")
  nvim:cmd("Superpower")
  nvim:wait_screen(" Active")
  nvim:feed("g")
  nvim:wait_screen(words)
end

describe("two projects in one editor", function()
  it("each keep their manual stage", function()
    local nvim, projects = both()
    for goal, root in pairs(projects) do
      open(nvim, root, "write the result below this line")
      contains(table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n"), "Do " .. goal)
      nvim:feed(("GoThis was %s<Esc>:w<CR>"):format(goal))
      Shop.gate(nvim, ("Is %s right?"):format(goal))
      contains(nvim:text(), "This was " .. goal)
      nvim:lua("require('superpower.views.output').open(..., 1, 'output')", root)
      nvim:wait(("vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'This was %s'"):format(goal), 1000)
      nvim:feed("q")
      nvim:wait("vim.bo.filetype == 'superpower-gate'")
      Shop.gate(nvim, ("Is %s right?"):format(goal))
      nvim:feed("a")
      nvim:wait(
        ("return (require('superpower.runs').get(%q) or {}).state == 'complete'"):format(root),
        8000,
        "the end of " .. goal
      )
    end
  end)

  it("are each offered their own gate", function()
    local nvim = S.child()
    S.answer(nvim, "review", S.review)
    nvim:lua([[require("superpower.ui.decision").any = function() return true end]]) -- so that each is only reported
    local runs = { S.at_gate(), S.at_gate() }
    runs[1].root, runs[1].superpower = nvim.project, "here"
    runs[2].root, runs[2].superpower, runs[2].run_id = nvim.dir, "there", "0190-xyz"
    nvim:lua(
      [[local runs = ...
      vim.schedule(function()
        local send = require("superpower.engine").script.send
        for _, run in ipairs(runs) do
          send({ type = "gate-opened", root = run.root, run_id = run.run_id, gate = run.gate.id })
        end
        for _, run in ipairs(runs) do
          send({ type = "snapshot", root = run.root, run = run })
        end
      end)]],
      runs
    )
    for _, run in ipairs(runs) do
      nvim:wait(("vim.fn.execute('messages'):match('%s waits at gate') ~= nil"):format(run.superpower))
    end
  end)

  it("each report their own unsaved buffers", function()
    local nvim = S.child()
    nvim:cmd("set noautoread")
    local path = T.write(nvim.project .. "/a.txt", "before\n")
    nvim:cmd("edit " .. path)
    nvim:feed("ochanged here<Esc>")
    S.send(nvim, { type = "stage-started", root = nvim.project, stage = 1 })
    S.send(nvim, { type = "stage-started", root = nvim.dir .. "/other", stage = 1 })
    nvim:wait("select(2, vim.fn.execute('messages'):gsub('unsaved changes', '')) == 1")
    S.send(nvim, { type = "stage-finished", root = nvim.dir .. "/other", stage = 1 })
    nvim:lua("vim.wait(20)")
    T.write(path, "by an agent, and longer\n")
    S.send(nvim, { type = "stage-finished", root = nvim.project, stage = 1 })
    nvim:wait("vim.fn.execute('messages'):match('an agent changed files') ~= nil")
  end)

  it("share the typing check: keys are still watched after one of two runs ends", function()
    local nvim = S.child()
    local other = S.run({ state = "complete" })
    other.root = nvim.dir
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:lua(
      [[local run = ...
      vim.schedule(function()
        require("superpower.engine").script.send({ type = "snapshot", root = run.root, run = run })
      end)]],
      other
    )
    nvim:wait(("require('superpower.runs').get(%q) ~= nil"):format(nvim.dir))
    nvim:feed("j")
    nvim:wait("require('superpower.editor.attention').recent()", 400)
  end)

  it("each have their own progress message", function()
    local nvim = S.child()
    if not nvim:lua("return vim.fn.has('nvim-0.12') == 1") then
      T.skip("this Neovim has no progress messages")
    end
    S.attach_ui(nvim)
    nvim:lua([[
      _G.ids, _G.seen = {}, {}
      vim.api.nvim_create_autocmd("Progress", {
        callback = function(args)
          table.insert(_G.seen, args.data.title .. " " .. args.data.status)
          _G.ids[args.data.title] = args.data.id
        end,
      })
    ]])
    local function send(name, run)
      run.superpower, run.run_id = name, "0190-" .. name
      S.send(nvim, { type = "snapshot", run = run })
    end
    send("here", S.run())
    send("there", S.run())
    send("here", S.run({ at = 8, state = "complete" }))
    send("there", S.run({ at = 8, state = "complete" }))
    nvim:wait("#_G.seen >= 4")
    eq({ "here running", "there running", "here success", "there success" }, nvim:lua("return _G.seen"))
    eq(false, nvim:lua("return _G.ids.here == _G.ids.there"))
  end)
end)
