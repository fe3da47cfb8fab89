-- The demo in a child Neovim with the real engine: the test reads windows, presses keys and checks files.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

local gates = {
  "Are these the right tasks?",
  "Are these the right screens?",
  "Is this how the shop should look?",
  "Shall it be built like this?",
}

describe("the demo", function()
  it("runs from the command to the end, through four gates", function()
    local nvim = Shop.child()
    nvim:lua([[
      _G.events = {}
      vim.api.nvim_create_autocmd("User", { pattern = "Superpower*", callback = function(args)
        table.insert(_G.events, args.match:gsub("^Superpower", "") .. " " .. tostring(args.data.stage or ""))
      end })
    ]])
    Shop.start(nvim)
    for _, label in ipairs(gates) do
      Shop.gate(nvim, label)
      contains(nvim:text(), "Changed since the last approval")
      nvim:feed("a")
      nvim:wait("not require('superpower.gate').is_open()")
    end
    local run = Shop.state(nvim, "complete")
    eq(13, run.current_stage)
    contains(nvim:text(), "complete in")
    ok(T.exists(nvim.project .. "/docs/design/wireframes/reset-password.md"))
    local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
    eq({ "complete", 13 }, { squad.status, squad.current_stage })
    local events = nvim:lua("return _G.events")
    eq("RunStarted ", events[1])
    eq("RunFinished ", events[#events])
    local opened = vim.tbl_filter(function(event)
      return vim.startswith(event, "GateOpened")
    end, events)
    eq({ "GateOpened 2", "GateOpened 5", "GateOpened 7", "GateOpened 10" }, opened)
    eq("", nvim:lua("return require('superpower').statusline()"))
    ok(not nvim:lua("return require('superpower.runs').ticking()"))
  end)

  it("goes back when changes are requested, and asks again", function()
    local nvim = Shop.child()
    Shop.start(nvim)
    Shop.gate(nvim, gates[1])
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:feed("fewer tasks<Esc>:w<CR>")
    nvim:wait("not require('superpower.gate').is_open()")
    Shop.gate(nvim, gates[1])
    local run = Shop.status(nvim)
    eq({ "paused", "gate", 2 }, { run.state, run.reason, run.current_stage })
    eq("2.2", run.gate.id)
    contains(T.read(nvim.project .. "/.claude/logs/superpower.log"), "CHANGES  stage 2/13: fewer tasks")
  end)

  it("ends when it is rejected", function()
    local nvim = Shop.child()
    Shop.start(nvim)
    Shop.gate(nvim, gates[1])
    nvim:feed("r")
    nvim:wait_screen("reject: the run ends here")
    vim.uv.sleep(500)
    nvim:feed("y")
    Shop.state(nvim, "rejected")
    nvim:cmd("Superpower resume")
    nvim:wait("vim.fn.execute('messages'):match('reject') ~= nil")
  end)

  it("shows a failure, and continues after a retry or a skip", function()
    local nvim = Shop.child({ env = { DEMO_FAIL = "spec-kit" } })
    Shop.start(nvim)
    local run = Shop.state(nvim, "paused")
    eq("failed", run.reason)
    nvim:wait_screen("failed")
    contains(nvim:messages(), ":Superpower retry, skip or cancel")
    nvim:cmd("Superpower skip")
    Shop.gate(nvim, gates[1])
    eq("gate", Shop.status(nvim).reason)
  end)

  it("is paused when the editor exits, and continues in the next one, which says so", function()
    local nvim = Shop.child()
    Shop.start(nvim)
    Shop.gate(nvim, gates[1])
    nvim:quit()
    nvim:restart({})
    nvim:cmd("edit README.md")
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 2/13') ~= nil")
    ok(not nvim:lua("return require('superpower.gate').is_open()"), "it does not open by itself")
    nvim:cmd("edit package.json")
    vim.uv.sleep(100)
    local _, count = nvim:messages():gsub("waits at gate 2/13", "")
    eq(1, count)
    nvim:cmd("Superpower resume")
    Shop.gate(nvim, gates[1])
    nvim:feed("a")
    Shop.gate(nvim, gates[2])
  end)

  it("is cancelled with its agent", function()
    local nvim = Shop.child({ env = { DEMO_STALL = "spec-kit" } })
    Shop.start(nvim)
    nvim:wait_screen("1/13 · running")
    nvim:cmd("Superpower cancel")
    Shop.state(nvim, "cancelled")
    nvim:wait_screen("cancelled")
  end)

  it("asks, and is answered", function()
    local nvim = Shop.child({ env = { DEMO_ASK = "spec-kit" } })
    Shop.start(nvim)
    eq("needs-human", Shop.state(nvim, "paused").reason)
    nvim:wait_screen("Superpower retry ANSWER")
  end)

  it("shows a stage's output and prompt, why, plan, runs, log and the dashboard", function()
    local nvim = Shop.child()
    Shop.start(nvim)
    Shop.gate(nvim, gates[1])
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    nvim:lua([[
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "superpower-progress" then
          vim.api.nvim_set_current_win(win)
        end
      end
    ]])
    nvim:feed("ggp")
    nvim:wait("vim.fn.bufname() == 'superpower://stage-1/prompt'")
    contains(nvim:text(), "people forget their password")
    eq(1, nvim:eval("line('.')"), "a prompt is read from its beginning")
    nvim:feed("q")
    for line, expected in pairs({
      ["Superpower why 2"] = { "why", "stage 2/13" },
      ["Superpower plan new-ui-feature " .. Shop.inputs] = { "plan", "ux-researcher" },
      ["Superpower runs"] = { "runs", "paused: gate" },
      ["Superpower log"] = { "log", "LOADED  new-ui-feature" },
      ["Superpower"] = { "dashboard", "waits at gate 2/13" },
    }) do
      nvim:cmd(line)
      nvim:wait(("vim.bo.filetype == 'superpower-%s'"):format(expected[1]))
      nvim:wait_screen(expected[2])
      nvim:feed("q")
      vim.uv.sleep(50)
    end
    nvim:cmd("Superpower check")
    nvim:wait("vim.fn.getqflist({ title = 1 }).title == 'Superpower check'")
    nvim:cmd("checkhealth superpower")
    local health = table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n")
    for _, words in ipairs({ "protocol 2", "root: ", "unfinished: new-ui-feature, stage 2/13", "command: " }) do
      contains(health, words)
    end
    T.lacks(health, "ERROR")
  end)

  it("opens the form for inputs that are missing, and starts with what it is given", function()
    local nvim = Shop.child()
    Shop.start(nvim, "new-ui-feature epic=user-auth")
    nvim:wait_screen("new-ui-feature needs")
    contains(nvim:text(), "problem_statement *")
    nvim:feed("<C-s>")
    nvim:wait_screen("required")
    nvim:feed("q")
    nvim:wait_no_screen("new-ui-feature needs")
    ok(not T.exists(nvim.project .. "/.claude/state"), "giving up leaves no trace")
    Shop.start(nvim, "new-ui-feature epic=user-auth")
    nvim:wait_screen("new-ui-feature needs")
    for _ = 1, 2 do
      nvim:feed("<CR>")
      vim.uv.sleep(100)
      nvim:feed("a-thing<CR>")
      vim.uv.sleep(100)
    end
    nvim:feed("<C-s>")
    Shop.gate(nvim, gates[1])
  end)

  it("asks for trust once, and again when an agent's file has changed", function()
    local nvim = Shop.child()
    nvim:lua("local g = vim.g.superpower; g.trust = 'ask'; vim.g.superpower = g")
    Shop.start(nvim)
    nvim:wait_screen("what it will do")
    contains(nvim:text(), ".claude/agents/spec-kit.md")
    contains(nvim:text(), "not yet trusted")
    nvim:feed("q")
    nvim:wait_no_screen("what it will do")
    ok(not T.exists(nvim.project .. "/.claude/state"), "giving up leaves no trace")
    Shop.start(nvim)
    nvim:wait_screen("what it will do")
    nvim:wait_armed()
    nvim:feed("t")
    Shop.gate(nvim, gates[1])
    T.write(nvim.project .. "/.claude/agents/ux-researcher.md", "---\nname: ux-researcher\n---\nDo something else.\n")
    nvim:feed("a")
    nvim:wait_screen("Nothing was approved yet")
    contains(nvim:text(), "Changed since you trusted this superpower")
    contains(nvim:text(), ".claude/agents/ux-researcher.md")
    eq("gate", Shop.status(nvim).reason)
    nvim:wait_armed()
    nvim:feed("a") -- which trusts what the window shows
    Shop.gate(nvim, gates[2])
  end)
end)
