-- The progress window, the status line and the log, also as screens.
local T = require("harness")
local S = require("support.scripted")
local Screens = require("support.screens")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local live = {
  stage = 4,
  todo = {
    { text = "login", status = "completed" },
    { text = "reset", status = "in_progress" },
    { text = "error states", status = "pending" },
  },
  tool = "Edit docs/design/wireframes/reset.md",
  text = "I will draw the expired-link state next.",
}

--- A time of today, in milliseconds.
local function today(hour, min)
  return os.time(vim.tbl_extend("force", os.date("*t"), { hour = hour, min = min, sec = 0 })) * 1000
end

local function show(run, opts)
  local nvim = S.child(opts)
  nvim:cmd("set shortmess+=I noruler laststatus=0")
  S.send(nvim, { type = "snapshot", run = run })
  nvim:lua("vim.wait(20)")
  nvim:cmd("Superpower progress")
  return nvim
end

--- Makes the screen the same every time, without a spinner and a clock.
local function still(nvim)
  nvim:lua([[
    local runs = require("superpower.runs")
    local run = runs.get()
    runs.now = function() return 0 end
    runs.put(run)
    runs.listen("progress", nil)
    require("superpower.views.progress").refresh()
  ]])
  return nvim
end

describe("the progress window", function()
  it("shows the stages, the active one and the costs, and takes no focus", function()
    local nvim = show(S.run({ live = live, usage = { tokens = 41234, cost = 0.381 } }))
    eq("", nvim:eval("&filetype"))
    Screens.check(still(nvim), "progress-running")
  end)

  it("shows how far the running stage's checkpoint is, and one that cannot be written", function()
    local more = vim.tbl_extend("force", live, { checkpoint = "EXECUTE 3/7 · wire the tokens" })
    local run = S.run({ live = more })
    run.checkpoint_waiting = "held by process 7 for 1m"
    local nvim = show(run)
    local shown = still(nvim):text()
    assert(shown:find("EXECUTE 3/7 · wire the tokens", 1, true), shown)
    assert(shown:find("metadata.json is not written yet: held by process 7", 1, true), shown)
  end)

  local states = {
    ["progress-gate"] = S.at_gate({ summary = "waits at gate 5/8: :Superpower gate" }),
    ["progress-failed"] = S.run({
      state = "paused",
      reason = "failed",
      note = "exit status 1",
      summary = "stage 4/8 failed 3 times: exit status 1. :Superpower retry, skip or cancel",
    }),
    ["progress-asks"] = S.run({
      state = "paused",
      reason = "needs-human",
      mark = "held",
      note = "asks you",
      summary = "stage 4/8 asks: which colour should the banner be? :Superpower retry ANSWER",
    }),
    ["progress-by-hand"] = S.run({ mark = "by-hand", note = "manual, waits for you" }),
    ["progress-usage"] = S.at_gate({
      summary = "waits at gate 5/8: :Superpower gate",
      usage = { tokens = 41234, cost = 0.381 },
    }),
    ["progress-limited"] = S.run({ mark = "limited", note = "limited", limited_until = today(14, 5) }),
    ["progress-rejected"] = S.run({
      at = 5,
      state = "rejected",
      mark = "gate",
      note = "waits for you",
      summary = "rejected by ann at stage 5/8: too loud",
    }),
    ["progress-cancelled"] = S.run({ state = "cancelled", mark = "running", summary = "cancelled at stage 4/8" }),
    ["progress-complete"] = S.run({
      at = 9,
      state = "complete",
      summary = "complete in 1h 12m · 9 ran, 4 skipped, 4 approvals",
    }),
  }
  for name, run in pairs(states) do
    it("has a picture of each state: " .. name, function()
      if run.state == "complete" then
        run.current_stage = 8
        run.stages[3].mark, run.stages[3].note = "skipped", "story.ui_true → no"
      end
      Screens.check(still(show(run)), name)
    end)
  end

  it("folds stages that do not fit", function()
    local nvim = show(S.run({ at = 5, live = vim.tbl_extend("force", live, { stage = 5 }) }), { lines = 10 })
    Screens.check(still(nvim), "progress-folded")
  end)

  it("fits 60 by 15, at the bottom", function()
    Screens.check(still(show(S.run({ live = live }), { columns = 60, lines = 15 })), "progress-narrow")
  end)

  it("counts wide characters correctly", function()
    local run = S.run()
    run.stages[1].label = "仕様を書く：問題から課題まで、すべての物語を含めて書き下ろす"
    run.stages[2].label = "👩‍🚀 emoji and e\204\129 combining"
    Screens.check(still(show(run)), "progress-wide")
  end)

  it("is painted in ASCII, and in a split, by option", function()
    local nvim = S.child()
    nvim:lua("vim.g.superpower = { icons = 'ascii', progress = { position = 'split' } }")
    nvim:cmd("set shortmess+=I noruler laststatus=0")
    S.send(nvim, { type = "snapshot", run = S.run({ live = live }) })
    nvim:lua("vim.wait(20)")
    nvim:cmd("Superpower progress")
    Screens.check(still(nvim), "progress-split")
  end)

  it("follows the run, and closes and opens", function()
    local nvim = show(S.run())
    contains(nvim:text(), "4/8 · running")
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    nvim:wait_screen("5/8 · gate")
    nvim:cmd("Superpower progress")
    nvim:wait_no_screen("5/8 · gate")
    nvim:cmd("Superpower progress")
    nvim:wait_screen("5/8 · gate")
  end)

  it("survives resizing, tabs, colour schemes and :only", function()
    local nvim = show(S.run())
    nvim:resize(80, 20)
    nvim:wait_screen("4/8 · running")
    nvim:resize(140, 40)
    nvim:wait_screen("4/8 · running")
    nvim:cmd("tabnew")
    nvim:wait_screen("4/8 · running")
    nvim:cmd("tabclose")
    nvim:wait_screen("4/8 · running")
    nvim:cmd("tabnew")
    nvim:cmd("tabonly")
    nvim:wait_screen("4/8 · running")
    nvim:cmd("colorscheme blue")
    nvim:wait_screen("4/8 · running")
    eq({ "SuperpowerLabel" }, nvim:highlights("Spec intake"))
    ok(nvim:lua("return vim.api.nvim_get_hl(0, { name = 'SuperpowerRunning' }).link") == "DiagnosticInfo")
    nvim:cmd("mksession! " .. nvim.dir .. "/session.vim")
    nvim:wait_screen("4/8 · running")
  end)

  it("can be left for another tab after a page was opened from it", function()
    local nvim = show(S.run())
    S.answer(nvim, "why", { lines = { "stage 1/8: it passed" } })
    nvim:cmd("wincmd w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("w")
    nvim:wait("vim.bo.filetype == 'superpower-why'")
    nvim:feed("q")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:cmd("tabnew")
    nvim:wait_screen("4/8 · running")
    nvim:cmd("tabclose")
    nvim:wait_screen("4/8 · running")
    ok(nvim:alive())
  end)

  it("does not come back in another tab once it was closed", function()
    local nvim = show(S.run())
    nvim:feed("<C-w>w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("q")
    nvim:wait_no_screen("4/8 · running")
    nvim:cmd("tabnew")
    vim.uv.sleep(50)
    lacks(nvim:text(), "4/8 · running")
  end)

  it("opens a stage's output and prompt, with control characters visible and no modeline", function()
    local nvim = show(S.run())
    local path = T.write(nvim.dir .. "/output.log", "red \27[31mtext\n/* vim: set filetype=evil: */\n")
    S.answer(nvim, "output", { path = path })
    nvim:feed("<C-w>w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("gg<CR>")
    nvim:wait("vim.bo.filetype == 'superpower-output'")
    contains(nvim:text(), "red ^[[31mtext")
    eq({ run_id = "0190-abc", stage = 1, what = "output", root = nvim.project }, S.calls(nvim, "output")[1])
    nvim:feed("q")
    nvim:wait("vim.bo.filetype == 'superpower-progress'", 2000, "back where it came from")
  end)

  for _, size in ipairs({ { 110, 34 }, { 80, 24 } }) do
    it(("covers no window that the user reads, at %d by %d"):format(size[1], size[2]), function()
      local nvim = show(S.run(), { columns = size[1], lines = size[2] })
      S.answer(nvim, "output", { path = T.write(nvim.dir .. "/output.log", ("line\n"):rep(200)) })
      local covered = [[(function()
        local float = vim.iter(vim.api.nvim_list_wins()):find(function(win)
          return vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "superpower-progress"
        end)
        local config = vim.api.nvim_win_get_config(float)
        return not config.hide and config.row + config.height + 1 >= vim.fn.win_screenpos(0)[1] - 1
      end)()]]
      nvim:cmd("wincmd w")
      nvim:feed("gg<CR>")
      nvim:wait("vim.bo.filetype == 'superpower-output'")
      nvim:wait("return not " .. covered)
      nvim:wait_screen("4/8 · running", 1000)
      nvim:cmd("wincmd _")
      nvim:wait_no_screen("4/8 · running", 1000)
      nvim:cmd("wincmd =")
      nvim:wait_screen("4/8 · running", 1000)
      nvim:feed("q")
      nvim:wait("vim.bo.filetype == 'superpower-progress'")
      nvim:wait_screen("Emit CSS vars", 1000)
    end)
  end

  it("shows its keys", function()
    local nvim = show(S.run())
    nvim:feed("<C-w>w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("g?")
    nvim:wait_screen("prompt of the stage")
    nvim:feed("q")
    nvim:wait_no_screen("prompt of the stage")
  end)

  it("respects 'winborder' and 'cmdheight'", function()
    local nvim = S.child()
    if nvim:eval("exists('+winborder')") == 0 then
      T.skip("no 'winborder' here")
    end
    nvim:cmd("set winborder=double cmdheight=0")
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:lua("vim.wait(20)")
    nvim:cmd("Superpower progress")
    nvim:wait_screen("╔ new-ui-feature ═")
  end)

  it("draws 10,000 stages within a frame", function()
    local nvim = show(S.run())
    local ms = nvim:lua([[
      local run = vim.deepcopy(require("superpower.runs").get())
      for position = 9, 10000 do
        run.stages[position] = vim.tbl_extend("force", run.stages[8], { position = position })
      end
      run.total, run.current_stage = 10000, 5000
      local render = require("superpower.ui.render")
      local opts = { width = 60, height = 24, now = 0, icons = "unicode" }
      render.progress(run, opts)
      local from = vim.uv.hrtime()
      for _ = 1, 20 do render.progress(run, opts) end
      return (vim.uv.hrtime() - from) / 20 / 1e6
    ]])
    ok(ms < 40, ("%.2f ms a frame"):format(ms)) -- it takes about 4 ms; a busy machine may need ten times that
  end)
end)

describe("while nothing runs", function()
  it("no timer is active", function()
    local nvim = show(S.run())
    ok(nvim:lua("return require('superpower.runs').ticking()"))
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    nvim:wait("not require('superpower.runs').ticking()")
    eq(
      0,
      nvim:lua([[
      if vim.fn.has("nvim-0.11") == 0 then return 0 end -- walking over handles crashes Neovim 0.10
      local timers = 0
      vim.uv.walk(function(handle)
        if handle:get_type() == "timer" and handle:is_active() then timers = timers + 1 end
      end)
      return timers
    ]])
    )
  end)
end)

describe("the status line", function()
  it("is short, and empty if nothing is active or waits", function()
    local nvim = S.child()
    eq("", nvim:lua("return require('superpower').statusline()"))
    for expected, run in pairs({
      ["● new-ui-feature gate 5/8"] = S.at_gate(),
      ["✗ new-ui-feature 4/8 failed"] = S.run({ state = "paused", reason = "failed" }),
      ["● new-ui-feature 4/8 manual"] = S.run({ mark = "by-hand", note = "manual, waits for you" }),
      ["● new-ui-feature 4/8 asks"] = S.run({ state = "paused", reason = "needs-human" }),
      ["● new-ui-feature 4/8 paused"] = S.run({ state = "paused", reason = "user" }),
      [""] = S.run({ state = "complete" }),
    }) do
      S.send(nvim, { type = "snapshot", run = run })
      nvim:lua("vim.wait(20)")
      eq(expected, nvim:lua("return require('superpower').statusline()"))
      eq(expected, nvim:lua("return vim.g.superpower_status"))
      eq(
        expected,
        nvim:lua("return dofile(vim.api.nvim_get_runtime_file('lua/lualine/components/superpower.lua', false)[1])()")
      )
    end
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:lua("vim.wait(20)")
    T.matches(nvim:lua("return require('superpower').statusline()"), "^%S+ new%-ui%-feature 4/8$")
  end)

  it("loads nothing by itself", function()
    local nvim = T.child()
    eq("", nvim:lua("return require('superpower.notices.statusline').get()"))
    eq(nil, nvim:lua("return package.loaded['superpower.engine']"))
  end)
end)

describe("the log", function()
  it("grows in its buffer, and shows control characters", function()
    local nvim = S.child()
    S.send(nvim, { type = "log", line = "[superpower] LOADED  x  v1.0.0  stages=2" })
    nvim:lua("vim.wait(20)")
    nvim:cmd("Superpower log")
    contains(nvim:text(), "LOADED  x  v1.0.0")
    S.send(nvim, { type = "log", line = "[superpower] STAGE 1/2: \27[31mred" })
    nvim:wait_screen("STAGE 1/2: ^[[31mred")
    eq(2, nvim:eval("line('$')"))
    eq(2, nvim:eval("line('.')"))
  end)

  it("of earlier sessions is read from its file", function()
    local nvim = S.child({ files = { [".claude/logs/superpower.log"] = "[superpower] COMPLETE  old\n" } })
    nvim:cmd("Superpower log")
    contains(nvim:text(), "COMPLETE  old")
  end)
end)

describe("the user's code", function()
  it("gets User events with data", function()
    local nvim = S.child()
    nvim:lua([[
      _G.seen = {}
      vim.api.nvim_create_autocmd("User", { pattern = "Superpower*", callback = function(args)
        table.insert(_G.seen, { args.match, args.data })
      end })
    ]])
    for type, name in pairs({
      ["run-started"] = "SuperpowerRunStarted",
      ["stage-started"] = "SuperpowerStageStarted",
      ["stage-finished"] = "SuperpowerStageFinished",
      ["gate-opened"] = "SuperpowerGateOpened",
      ["gate-decided"] = "SuperpowerGateDecided",
      ["run-paused"] = "SuperpowerRunPaused",
      ["run-finished"] = "SuperpowerRunFinished",
    }) do
      nvim:lua("_G.seen = {}")
      S.send(
        nvim,
        { type = type, run_id = "r", superpower = "x", stage = 1, total = 2, gate = "1.1", state = "complete" }
      )
      nvim:wait("#_G.seen > 0")
      local seen = nvim:lua("return _G.seen[1]")
      eq(name, seen[1])
      eq("r", seen[2].run_id)
      eq(nil, seen[2].type)
    end
  end)

  it("answers facts of a run, and its errors are reported", function()
    local nvim = S.child()
    nvim:lua([[vim.g.superpower = { conditions = {
      ["a.good"] = function(ctx) return ctx.stage == 3, "because " .. ctx.inputs.epic end,
      ["a.bad"] = function() error("boom") end,
      ["a.vague"] = function() return 0 end,
      ["a.forgotten"] = function() end,
    } }]])
    local ctx = { root = nvim.project, inputs = { epic = "x" }, stage = 3 }
    S.send(nvim, { type = "ask-fact", id = "1", name = "a.good", ctx = ctx })
    S.send(nvim, { type = "ask-fact", id = "2", name = "a.bad", ctx = ctx })
    S.send(nvim, { type = "ask-fact", id = "3", name = "a.none", ctx = ctx })
    S.send(nvim, { type = "ask-fact", id = "4", name = "a.vague", ctx = ctx })
    S.send(nvim, { type = "ask-fact", id = "5", name = "a.forgotten", ctx = ctx })
    nvim:lua("vim.wait(30)")
    local answers = S.calls(nvim, "answer")
    eq({ id = "1", value = { value = true, reason = "because x" } }, answers[1])
    contains(answers[2].error, "boom")
    contains(answers[3].error, "no condition")
    contains(answers[4].error, '"a.vague" returned 0, not true or false')
    contains(answers[5].error, '"a.forgotten" returned nil, not true or false')
  end)

  it("can replace a prompt, and its errors are reported", function()
    local nvim = S.child()
    nvim:lua([[vim.g.superpower = { prompt = function(prompt, ctx)
      if ctx.stage == 2 then error("boom") end
      return ctx.stage == 1 and prompt .. "! " .. ctx.actor or nil
    end }]])
    for stage = 1, 3 do
      local ctx = { root = nvim.project, stage = stage, actor = "qa" }
      S.send(nvim, { type = "ask-prompt", id = tostring(stage), prompt = "Test", ctx = ctx })
    end
    nvim:lua("vim.wait(30)")
    local answers = S.calls(nvim, "answer")
    eq({ id = "1", value = { prompt = "Test! qa" } }, answers[1])
    contains(answers[2].error, "boom")
    contains(answers[3].error, "returned a nil")
    eq(true, nvim:lua("return require('superpower.config').for_engine(require('superpower.config').get()).prompt"))
  end)
end)

describe("the progress window and the cursor", function()
  it("keep out of each other's way", function()
    local nvim = S.child({ columns = 80, lines = 24 })
    nvim:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn['repeat']({ 'x' }, 100))")
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:lua("require('superpower.views.progress').open(...)", nvim.project)
    local row = [[(function()
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        local config = vim.api.nvim_win_get_config(win)
        if config.relative ~= "" then return config.row end
      end
    end)()]]
    nvim:wait("return (" .. row .. " or 0) > 5")
    nvim:feed("G")
    nvim:wait("return " .. row .. " == 0")
    nvim:feed("gg")
    nvim:wait("return " .. row .. " > 5")
  end)
end)

describe("files that an agent changed", function()
  it("are reloaded if the user has not edited them: cursor, folds and undo stay", function()
    local nvim = S.child({ files = { ["a.txt"] = "1\n2\n3\n4\n5\n", ["b.txt"] = "b\n" } })
    nvim:cmd("set noautoread undofile")
    nvim:cmd("edit a.txt")
    nvim:feed("Gkddu")
    nvim:cmd("2,3fold")
    nvim:lua("vim.api.nvim_win_set_cursor(0, { 4, 0 })")
    nvim:cmd("split b.txt")
    nvim:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })")
    vim.uv.sleep(1100)
    T.write(nvim.project .. "/a.txt", "1\n2\n3\n4\nfive\n")
    T.write(nvim.project .. "/b.txt", "theirs\n")
    S.send(nvim, { type = "files-changed", paths = { "a.txt", "b.txt" } })
    nvim:wait("vim.fn.getbufline('a.txt', 5)[1] == 'five'")
    eq({ "mine" }, nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
    contains(nvim:messages(), "b.txt")
    nvim:cmd("wincmd p")
    eq({ 4, 0 }, nvim:lua("return vim.api.nvim_win_get_cursor(0)"))
    eq(2, nvim:eval("foldclosed(2)"))
    ok(nvim:eval("undotree().seq_last") > 0)
    eq(-1, nvim:lua("return vim.api.nvim_get_option_value('autoread', { buf = 0 }) and 1 or -1"))
  end)
end)
