-- `run=ID`, and `run_id` in Lua: a verb acts on the run that it names, and answers belong to that run.
local T = require("harness")
local S = require("support.scripted")
local Bang = require("support.bang")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

--- An editor that shows the run 0190-abc at its gate, in a project with other runs.
local function child()
  local nvim = S.child()
  S.answer(nvim, "runs", {
    { run_id = "0190-abc", superpower = "new-ui-feature", state = "paused", reason = "gate", total = 8 },
    { run_id = "0190-far", superpower = "bugfix", state = "paused", reason = "failed", total = 2 },
    { run_id = "0190-old", superpower = "bugfix", state = "complete", total = 2 },
  })
  for _, op in ipairs({ "resume", "pause", "cancel", "retry", "skip", "decide" }) do
    S.answer(nvim, op, { run_id = "0190-far", state = "running", others = 0 })
  end
  S.answer(nvim, "why", { lines = { "because" }, stage = 1 })
  S.answer(nvim, "log", { run_id = "0190-far", lines = { "[superpower] LOADED  bugfix" } })
  S.answer(nvim, "review", S.review)
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  nvim:wait("require('superpower.runs').get() ~= nil")
  return nvim
end

--- Sets the state of the other run that the engine returns from here on.
local function other(nvim, opts)
  local run = S.at_gate(opts)
  run.run_id, run.root, run.superpower = "0190-far", nvim.project, "bugfix"
  S.answer(nvim, "status", run)
end

local function completed(nvim, line)
  return nvim:lua("return vim.fn.getcompletion(..., 'cmdline')", line)
end

describe("run=ID", function()
  for line, wanted in pairs({
    ["resume run=0190-f"] = { "resume" },
    ["resume run=0190-f answer=old"] = { "resume", "answer", "old" },
    ["pause run=0190-f"] = { "pause" },
    ["cancel run=0190-f"] = { "cancel" },
    ["skip run=0190-f"] = { "skip" },
    ["retry run=0190-f"] = { "retry" },
    ["retry run=0190-f use the other one"] = { "retry", "comment", "use the other one" },
    ["why run=0190-f"] = { "why" },
    ["why run=0190-f 2"] = { "why", "stage", 2 },
    ["log run=0190-f"] = { "log" },
    ["runs run=0190-f"] = { "status" },
    ["progress run=0190-f"] = { "status" },
    ["gate run=0190-f"] = { "status" },
  }) do
    it("selects the run: " .. line, function()
      local nvim = child()
      local before = #S.calls(nvim, wanted[1])
      nvim:cmd("Superpower " .. line)
      nvim:wait(("#require('superpower.engine').script.calls(%q) > %d"):format(wanted[1], before))
      local named = vim.iter(S.calls(nvim, wanted[1])):skip(before):find(function(call)
        return call.run_id == "0190-f"
      end)
      ok(named, vim.inspect(S.calls(nvim, wanted[1])))
      if wanted[2] then
        eq(wanted[3], named[wanted[2]])
      end
    end)
  end

  it("of a decision opens that run's gate, and decides what it has shown", function()
    local nvim = child()
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_open()")
    other(nvim, { gate = { id = "5.2", stage = 5, visit = 2, label = "Of the other" } })
    nvim:cmd("Superpower approve run=0190-f")
    nvim:wait("(require('superpower.gate').shown() or {}).run_id == '0190-far'")
    eq({}, S.calls(nvim, "decide"), "it was not shown")
    eq("0190-far", S.calls(nvim, "review")[2].run_id)
    nvim:cmd("Superpower approve run=0190-f well done")
    local call = S.calls(nvim, "decide")[1]
    eq({ "0190-far", "5.2", "well done" }, { call.run_id, call.gate, call.comment })
  end)

  it("opens the request and the manual stage of that run alone", function()
    local nvim = child()
    S.send(nvim, {
      type = "permission",
      id = "0190-abc/1",
      run_id = "0190-abc",
      stage = 4,
      tool = "Bash",
      title = "Bash: ls",
      input = {},
    })
    nvim:wait("#require('superpower.ask.permission').queue() == 1")
    nvim:wait("vim.bo.filetype == 'superpower-permission'")
    nvim:feed("q")
    nvim:wait("vim.bo.filetype ~= 'superpower-permission'")
    other(nvim)
    nvim:cmd("Superpower gate run=0190-far")
    nvim:wait("require('superpower.gate').is_open()")
    eq("0190-far", nvim:lua("return require('superpower.gate').shown().run_id"))
    S.answer(nvim, "status", vim.tbl_extend("force", S.at_gate(), { root = nvim.project }))
    nvim:cmd("Superpower gate run=0190-abc")
    nvim:wait("vim.bo.filetype == 'superpower-permission'")
  end)

  it("completes with the runs that the verb fits", function()
    local nvim = child()
    eq({ "run=" }, completed(nvim, "Superpower cancel r"))
    eq({ "run=0190-abc", "run=0190-far" }, completed(nvim, "Superpower cancel run="))
    eq({ "run=0190-abc" }, completed(nvim, "Superpower changes run="))
    eq({ "run=0190-far" }, completed(nvim, "Superpower retry run=0"))
    eq({}, completed(nvim, "Superpower pause run="))
    eq({ "run=0190-old" }, completed(nvim, "Superpower log run=0190-o"))
    eq({ "1", "2" }, completed(nvim, "Superpower why run=0190-f "))
    eq({ "answer=old" }, completed(nvim, "Superpower resume run=0190-f answer=ol"))
    eq({ "answer=trust" }, completed(nvim, "Superpower approve run=0190-f answer=t"))
    eq({}, completed(nvim, "Superpower check r"))
  end)

  it("that is invalid is refused, and a comment that starts with it is quoted", function()
    local nvim = child()
    for line, words in pairs({
      ["Superpower cancel run="] = "run= needs a run id",
      ["Superpower cancel run=0190-f now"] = 'cancel takes only run=ID, got "now"',
      ["Superpower resume run=0190-f bugfix"] = 'resume takes one run, got also "bugfix"',
      ["Superpower log run=0190-f x"] = 'log takes no arguments, got "x"',
    }) do
      nvim:cmd("messages clear")
      nvim:cmd(line)
      nvim:wait("vim.fn.execute('messages') ~= ''")
      contains(nvim:messages(), words, line)
    end
    eq({}, S.calls(nvim, "cancel"))
    nvim:cmd([[Superpower retry "run=fast, and again"]])
    eq({ comment = "run=fast, and again" }, {
      comment = S.calls(nvim, "retry")[1].comment,
      run_id = S.calls(nvim, "retry")[1].run_id,
    })
  end)
end)

describe("run_id in Lua", function()
  it("selects the run, with or without a callback", function()
    local nvim = child()
    nvim:lua([[local sp = require("superpower")
      local named = { run_id = "0190-f" }
      _G.answers = 0
      local function count(err, value) _G.answers = _G.answers + ((not err and value.run_id == "0190-far") and 1 or 0) end
      for _, verb in ipairs({ "pause", "cancel", "skip", "retry", "resume" }) do sp[verb](named, count) end
      sp.decide({ decision = "approve", run_id = "0190-f" }, count)
      for _, verb in ipairs({ "pause", "cancel", "skip", "retry", "resume" }) do sp[verb](count) end]])
    nvim:wait("_G.answers == 11")
    for _, op in ipairs({ "pause", "cancel", "skip", "retry", "resume" }) do
      local calls = S.calls(nvim, op)
      eq({ 2, "0190-f" }, { #calls, calls[1].run_id }, op)
      eq(nil, calls[2].run_id, op)
    end
    eq("0190-f", S.calls(nvim, "decide")[1].run_id)
  end)

  it("of another type is refused as data", function()
    local nvim = child()
    local codes = nvim:lua([[local sp, codes = require("superpower"), {}
      for _, verb in ipairs({ "pause", "cancel", "skip", "retry", "resume" }) do
        sp[verb]({ run_id = 7 }, function(err) table.insert(codes, verb .. " " .. err.code .. ": " .. err.message) end)
        sp[verb]({ run_id = "x" }, 7)
      end
      return codes]])
    eq(5, #codes)
    for _, words in ipairs(codes) do
      contains(words, "bad-argument: run_id must be a string, not number")
    end
    eq({}, S.calls(nvim, "cancel"))
  end)

  it("returns that run's status, and leaves the shown run unchanged", function()
    local nvim = child()
    other(nvim)
    local run = nvim:lua("return require('superpower').status({ run_id = '0190-f' })")
    eq("0190-far", run.run_id)
    eq("0190-f", S.calls(nvim, "status")[#S.calls(nvim, "status")].run_id)
    eq("0190-abc", nvim:lua("return require('superpower.runs').get().run_id"))
    contains(nvim:lua("return require('superpower').statusline()"), "new-ui-feature")
    S.refuse(nvim, "status", { code = "unknown-run", message = 'unknown run "0190-x"' })
    eq("unknown-run", nvim:lua("return (select(2, require('superpower').status({ run_id = '0190-x' })) or {}).code"))
  end)
end)

describe("messages about a run", function()
  it("describe that run, even if another run is current by then", function()
    local nvim = child()
    nvim:lua([[said = {}; vim.notify = function(text) table.insert(said, text) end
      heard = {}
      vim.api.nvim_create_autocmd("User", { pattern = "Superpower*", callback = function(args)
        table.insert(heard, args.match .. " " .. args.data.run_id .. " " .. args.data.superpower)
      end })]])
    for _, event in ipairs({
      { type = "run-paused", reason = "failed", detail = "exit status 1", stage = 1, total = 2 },
      { type = "gate-opened", stage = 2, gate = "2.1", label = "Look", total = 2 },
      { type = "run-finished", state = "complete", total = 2 },
    }) do
      S.send(nvim, vim.tbl_extend("error", event, { run_id = "0190-far", superpower = "bugfix" }))
    end
    nvim:wait("#heard == 3")
    eq({
      "SuperpowerRunPaused 0190-far bugfix",
      "SuperpowerGateOpened 0190-far bugfix",
      "SuperpowerRunFinished 0190-far bugfix",
    }, nvim:lua("return heard"))
    -- The snapshot of the shown run has no information about the other one.
    S.send(nvim, { type = "snapshot", run = S.at_gate({ summary = "waits for you" }) })
    nvim:wait("#said > 0")
    for _, words in ipairs(nvim:lua("return said")) do
      lacks(words, "new-ui-feature")
    end
    ok(not nvim:lua("return require('superpower.gate').is_open()"), "the gate of the other run is not this one's")
  end)

  it("report both runs of a project that pause one after the other", function()
    local nvim = child()
    nvim:lua("said = {}; vim.notify = function(text) table.insert(said, text) end")
    S.send(nvim, { type = "snapshot", run = S.run() })
    for _, run_id in ipairs({ "0190-far", "0190-abc" }) do
      S.send(
        nvim,
        { type = "run-paused", run_id = run_id, superpower = run_id, reason = "failed", stage = 1, total = 2 }
      )
    end
    for _, run_id in ipairs({ "0190-far", "0190-abc" }) do
      local run = S.run({ state = "paused", reason = "failed", summary = "failed three times" })
      run.run_id = run_id
      S.send(nvim, { type = "snapshot", run = run })
    end
    nvim:wait("#said >= 2")
    local all = table.concat(nvim:lua("return said"), "\n")
    contains(all, "0190-far: failed three times")
    contains(all, "0190-abc: failed three times")
  end)
end)

describe("headless", function()
  it("a verb that fits several runs lists them (2), and run=ID names one", function()
    local dir = Bang.project()
    eq(3, Bang.run("Superpower! run small epic=first", { dir = dir }).code)
    eq(3, Bang.run("Superpower! run small epic=second", { dir = dir }).code)
    for _, verb in ipairs({ "approve", "changes more", "reject", "resume", "cancel" }) do
      local done = Bang.run("Superpower! " .. verb, { dir = dir })
      eq({ 2, "" }, { done.code, done.out }, verb)
      contains(done.err, "2 runs are possible; name one as the first word:\n  run=", verb)
      contains(done.err, "small 2/3  first", verb)
    end
    local listed = Bang.run("Superpower! cancel", { dir = dir }).err
    local first, second = listed:match("run=(%S+)  small 2/3  first"), listed:match("run=(%S+)  small 2/3  second")
    local done = Bang.run(("Superpower! approve run=%s good"):format(first), { dir = dir })
    eq({ 0, "" }, { done.code, done.err })
    contains(done.out, "[superpower] COMPLETE  small")
    done = Bang.run("Superpower! approve run=0000 good", { dir = dir })
    eq(2, done.code)
    contains(done.err, 'unknown run "0000"; see :Superpower runs')
    eq(0, Bang.run(("Superpower! cancel run=%s"):format(second), { dir = dir }).code)
  end)
end)
