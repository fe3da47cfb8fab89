-- Windows follow their run: the diff and the window of a decided gate, a withdrawn request, runs with the same name.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local function opened(gate, stage)
  return { type = "gate-opened", run_id = "0190-abc", stage = stage, gate = gate, superpower = "new-ui-feature" }
end

local function at_diff()
  local nvim = S.child({
    files = { ["docs/design/wireframes/reset.md"] = "new\n", ["docs/stories/reset-password-1/Story.md"] = "b\n" },
  })
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "decide", { run_id = "0190-abc" })
  S.answer(nvim, "diff", { before = "a\n", after_path = nvim.project .. "/docs/design/wireframes/reset.md" })
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, opened("5.1", 5))
  nvim:wait("require('superpower.gate').is_open()")
  nvim:wait("require('superpower.gate').is_armed()")
  nvim:feed("d")
  nvim:wait("#vim.api.nvim_list_tabpages() == 2")
  nvim:wait_screen("at the last approval")
  return nvim
end

local function decided_elsewhere(nvim)
  S.send(nvim, {
    type = "gate-decided",
    run_id = "0190-abc",
    gate = "5.1",
    decision = "approve",
    by = "bob",
  })
  S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
end

describe("a diff of a gate", function()
  it("closes with a decision that is made here", function()
    local nvim = at_diff()
    nvim:cmd("Superpower approve")
    nvim:wait("#vim.api.nvim_list_tabpages() == 1")
  end)

  it("stays open when another editor decides, and says so in its title and name", function()
    local nvim = at_diff()
    decided_elsewhere(nvim)
    nvim:wait_screen("before the decided gate")
    lacks(nvim:text(), "at the last approval")
    eq(2, nvim:lua("return #vim.api.nvim_list_tabpages()"))
  end)

  it("says so too if only the state shows it", function()
    local nvim = at_diff()
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    nvim:wait_screen("before the decided gate")
  end)

  it("stays while the file is edited in it", function()
    local nvim = at_diff()
    nvim:feed("ox<Esc>")
    nvim:wait("vim.bo.modified")
    nvim:cmd("Superpower approve")
    nvim:wait_screen("before the decided gate")
    eq(2, nvim:lua("return #vim.api.nvim_list_tabpages()"))
    ok(nvim:lua("return vim.bo.modified"))
  end)
end)

describe("the next gate", function()
  local function at_decided()
    local nvim = S.child()
    S.answer(nvim, "review", S.review)
    S.answer(nvim, "decide", { run_id = "0190-abc" })
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, opened("5.1", 5))
    nvim:wait("require('superpower.gate').is_armed()")
    decided_elsewhere(nvim)
    nvim:wait_screen("Decided elsewhere")
    local next_gate = { id = "7.1", stage = 7, visit = 1, label = "Await palette approval" }
    local review = vim.deepcopy(S.review)
    review.gate, review.label = "7.1", "Await palette approval"
    S.answer(nvim, "review", review)
    S.send(nvim, { type = "snapshot", run = S.at_gate({ at = 7, gate = next_gate }) })
    S.send(nvim, opened("7.1", 7))
    return nvim
  end

  it("opens beside the window of a decided one, in which the cursor stays", function()
    local nvim = at_decided()
    local dead = nvim:lua("return vim.api.nvim_get_current_win()")
    nvim:wait_screen("Await palette approval")
    eq(dead, nvim:lua("return vim.api.nvim_get_current_win()"))
    nvim:feed("a")
    vim.uv.sleep(50)
    eq({}, S.calls(nvim, "decide"))
    nvim:feed("q")
    nvim:wait(("not vim.api.nvim_win_is_valid(%d)"):format(dead))
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    eq("7.1", S.calls(nvim, "decide")[1].gate)
  end)
end)

describe("a permission that no longer waits", function()
  local function asked()
    local nvim = S.child()
    S.send(nvim, { type = "snapshot", run = S.run({ at = 4 }) })
    S.send(nvim, {
      type = "permission",
      id = "0190-abc/1",
      run_id = "0190-abc",
      stage = 4,
      tool = "Bash",
      title = "Bash: ls",
      input = {},
    })
    nvim:wait("vim.bo.filetype == 'superpower-permission'")
    return nvim
  end

  it("says that the run was cancelled, or has stopped", function()
    for event, words in pairs({
      ["run-finished cancelled"] = "the run is cancelled",
      ["run-paused failed"] = "the run is failed",
      ["run-paused user"] = "the run is paused",
    }) do
      local nvim = asked()
      local type, how = event:match("^(%S+) (%S+)$")
      S.send(nvim, { type = "permission-gone", id = "0190-abc/1" })
      nvim:wait_screen("This request no longer waits")
      S.send(nvim, {
        type = type,
        run_id = "0190-abc",
        superpower = "new-ui-feature",
        state = type == "run-finished" and how or nil,
        reason = type == "run-paused" and how or nil,
        stage = 4,
        total = 8,
      })
      nvim:wait_screen(words)
      lacks(nvim:text(), "timed out")
    end
  end)
end)

describe("runs of one superpower", function()
  it("can be distinguished by their subject, else by their ids", function()
    local nvim = S.child()
    local lines = nvim:lua([[
      local overview = require("superpower.views.overview")
      local function run(id, about, name)
        return { run_id = id, about = about, superpower = name or "ship", state = "paused", reason = "gate",
          current_stage = 2, total = 3, updated_at = 1000 }
      end
      local runs = {
        run("019adb01-1111-7000", "login"), run("019adb01-2222-7000", "search"),
        run("019adb01-3333-7000", "search"), run("019adb02-4444-7000", ""),
        run("019adb03-5555-7000", "alone", "other"),
      }
      local lines = overview.lines({ list = {}, runs = runs, asks = {}, now = 2000, icons = "unicode" }, 94)
      return vim.tbl_map(function(line)
        return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, line))
      end, lines)
    ]])
    local seen = {}
    for index = 2, 6 do
      ok(not seen[lines[index]], lines[index])
      seen[lines[index]] = true
    end
    contains(lines[2], "login · waits")
    contains(lines[3], "search (019adb01-2) · waits")
    contains(lines[4], "search (019adb01-3) · waits")
    contains(lines[5], "019adb02 · waits")
    lacks(lines[6], "alone")
  end)
end)

describe("what is shown of a run", function()
  --- The ways to ask, and the operation that follows. In each the engine has another current run by then.
  ---@type table<string, { op: string, ask: fun(nvim: table) }>
  local ways = {
    ["its output, from the progress window"] = {
      op = "output",
      ask = function(nvim)
        nvim:lua("require('superpower.views.progress').open(...); vim.cmd('wincmd w')", nvim.project)
        nvim:wait("vim.bo.filetype == 'superpower-progress'")
        nvim:feed("gg<CR>")
      end,
    },
    ["a prompt of it, from the progress window"] = {
      op = "output",
      ask = function(nvim)
        nvim:lua("require('superpower.views.progress').open(...); vim.cmd('wincmd w')", nvim.project)
        nvim:wait("vim.bo.filetype == 'superpower-progress'")
        nvim:feed("ggp")
      end,
    },
    ["why, from the progress window"] = {
      op = "why",
      ask = function(nvim)
        nvim:lua("require('superpower.views.progress').open(...); vim.cmd('wincmd w')", nvim.project)
        nvim:wait("vim.bo.filetype == 'superpower-progress'")
        nvim:feed("ggw")
      end,
    },
    ["what waits at its gate"] = {
      op = "review",
      ask = function(nvim)
        S.send(nvim, { type = "snapshot", run = S.at_gate() })
        S.send(nvim, opened("5.1", 5))
      end,
    },
    ["a run of the history"] = {
      op = "status",
      ask = function(nvim)
        nvim:lua("require('superpower.views.run_details').open(..., '0190-abc')", nvim.project)
      end,
    },
    ["its output, from the history"] = {
      op = "output",
      ask = function(nvim)
        nvim:lua("require('superpower.views.run_details').open(..., '0190-abc')", nvim.project)
        nvim:wait("vim.bo.filetype == 'superpower-run'")
        nvim:feed("gg<CR>")
      end,
    },
    ["the question that it asks"] = {
      op = "status",
      ask = function(nvim)
        nvim:lua("require('superpower.ask.question').open(..., '0190-abc')", nvim.project)
      end,
    },
    ["what it waits for, in the dashboard"] = {
      op = "status",
      ask = function(nvim)
        S.answer(nvim, "runs", {
          { run_id = "0190-abc", superpower = "ship", state = "paused", reason = "gate", updated_at = 1 },
        })
        S.answer(nvim, "health", {})
        nvim:cmd("Superpower")
      end,
    },
  }
  for name, way in pairs(ways) do
    it("is asked of that run, by its id: " .. name, function()
      local nvim = S.child()
      S.answer(nvim, "review", S.review)
      S.answer(nvim, "why", { lines = { "because" }, stage = 1 })
      S.answer(nvim, "output", { path = "/nowhere" })
      S.send(nvim, { type = "snapshot", run = S.run() })
      nvim:wait("require('superpower.runs').get() ~= nil")
      way.ask(nvim)
      nvim:wait(("#require('superpower.engine').script.calls(%q) > 0"):format(way.op))
      for _, call in ipairs(S.calls(nvim, way.op)) do
        eq("0190-abc", call.run_id, way.op)
      end
    end)
  end
end)

describe("what is put into a status line", function()
  it("is one line of text that is not evaluated and cannot control the terminal", function()
    for _, name in ipairs({ "%{system('touch PWNED')}", "a\nb", "a\27[2J", "%#Error#x", "100%" }) do
      local nvim = S.child()
      local run = S.at_gate()
      run.superpower = name
      S.send(nvim, { type = "snapshot", run = run })
      nvim:wait("(vim.g.superpower_status or '') ~= ''")
      local both = nvim:lua([[return { require("superpower").statusline(), vim.g.superpower_status,
        dofile(vim.api.nvim_get_runtime_file("lua/lualine/components/superpower.lua", false)[1])() }]])
      for _, text in ipairs(both) do
        lacks(text, "\n")
        lacks(text, "\27")
        lacks(text:gsub("%%%%", ""), "%")
      end
      nvim:cmd("set laststatus=2 statusline=%{%v:lua.require'superpower'.statusline()%}")
      nvim:text()
      ok(not T.exists(nvim.project .. "/PWNED"))
      eq(nil, nvim:lua("return vim.fn.execute('messages')"):match("E%d+:"))
    end
  end)

  it("cannot control the terminal from a title, a message or a window's name", function()
    local nvim = S.child()
    nvim:lua("said = {}; vim.notify = function(text) table.insert(said, text) end")
    local run = S.at_gate()
    run.superpower = "evil\27]0;pwn\7"
    S.answer(nvim, "status", run)
    S.send(nvim, { type = "snapshot", run = run })
    S.send(
      nvim,
      { type = "run-paused", run_id = run.run_id, superpower = "evil\27x", reason = "failed", stage = 1, total = 2 }
    )
    S.send(nvim, { type = "notice", message = "a\27[31mb", level = "warn" })
    nvim:wait("#said > 0")
    nvim:lua("require('superpower.views.progress').open(...)", nvim.project)
    nvim:wait_screen("evil^[]0;pwn^G")
    lacks(nvim:lua("return table.concat(said, '|')"), "\27")
  end)
end)
