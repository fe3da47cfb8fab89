-- The Lua API, with the real engine: callbacks `(err, value)`, and what a script sees.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

--- Calls a function of the API, and waits for the arguments of its callback.
local function called(nvim, name, ...)
  nvim:lua(
    [[local name, args, n = ..., { select(3, ...) }, select(2, ...)
      _G.answer = nil
      args[n + 1] = function(err, value) _G.answer = { err = err or vim.NIL, value = value or vim.NIL } end
      require("superpower")[name](unpack(args, 1, n + 1))]],
    name,
    select("#", ...),
    ...
  )
  nvim:wait("_G.answer ~= nil", 8000)
  local answer = nvim:lua("return _G.answer")
  return answer.err ~= vim.NIL and answer.err or nil, answer.value ~= vim.NIL and answer.value or nil
end

local inputs = { epic = "user-auth", feature_slug = "reset-password", problem_statement = "people forget" }

describe("the API", function()
  it("runs, decides and returns the state", function()
    local nvim = Shop.child()
    nvim:lua("local g = vim.g.superpower; g.gate = { open = false }; vim.g.superpower = g")
    eq(nil, nvim:lua("return require('superpower').status()"))
    local err, value = called(nvim, "run", "new-ui-feature", { inputs = inputs })
    eq(nil, err)
    ok(value.run_id)
    local run = Shop.state(nvim, "paused")
    eq({ "gate", 2, "2.1" }, { run.reason, run.current_stage, run.gate.id })
    eq(13, #run.stages)
    err = called(nvim, "decide", { decision = "approve", run_id = run.run_id, gate = "9.9" })
    eq("stale-gate", err.code)
    err = called(nvim, "decide", { decision = "changes", run_id = run.run_id, gate = "2.1" })
    eq("comment-missing", err.code)
    err, value = called(nvim, "decide", { decision = "approve", comment = "ok" })
    eq({ nil, value.run_id }, { err, run.run_id })
    nvim:wait(
      "require('superpower').status().current_stage == 5 and require('superpower').status().state == 'paused'",
      9000
    )
    local facts = nvim:lua("return require('superpower').status().facts")
    eq({ "story.ui_true", true, 3 }, { facts[1].name, facts[1].value, facts[1].stage })
    err, value = called(nvim, "cancel")
    eq({ nil, run.run_id }, { err, value.run_id })
    err = called(nvim, "resume", "new-ui-feature")
    eq("finished", err.code)
    err = called(nvim, "retry", {})
    ok(err.code)
  end)

  it("refuses with a code", function()
    local nvim = Shop.child()
    eq("unknown-superpower", called(nvim, "run", "new-ui-featur", {}).code)
    eq(
      "unknown-input",
      called(nvim, "run", "new-ui-feature", { inputs = vim.tbl_extend("error", inputs, { nope = "1" }) }).code
    )
    ok(called(nvim, "resume").code)
    ok(called(nvim, "skip").code)
    ok(called(nvim, "pause").code)
  end)

  it("lists and plans without starting anything", function()
    local nvim = Shop.child()
    local names = nvim:lua("return vim.tbl_map(function(s) return s.name end, require('superpower').list())")
    eq({ "api-endpoint", "bugfix", "design-refresh", "new-ui-feature" }, names)
    local plan = nvim:lua("return require('superpower').plan('new-ui-feature', ...)", inputs)
    eq(13, #plan.stages)
    eq({ "run", "ask" }, { plan.stages[1].what, plan.stages[2].what })
    ok(not T.exists(nvim.project .. "/.claude/state"))
  end)

  it("checks a text and a path", function()
    local nvim = Shop.child()
    local faults = nvim:lua(
      [[return require("superpower").check("name: x\ndescription: d\nversion: 1.0\nstages:\n  - agent: a\n    gate: humn-approval\n")]]
    )
    local by_code = {}
    for _, fault in ipairs(faults) do
      by_code[fault.code] = fault
    end
    local gate = by_code["unknown-gate"]
    eq({ 5, 10, 1 }, { gate.lnum, gate.col, gate.severity })
    contains(gate.message, "human-approval")
    eq({ 2, 9, 2, 12 }, {
      by_code["wrong-type"].lnum,
      by_code["wrong-type"].col,
      by_code["wrong-type"].end_lnum,
      by_code["wrong-type"].end_col,
    })
    eq({}, nvim:lua("return require('superpower').check('.claude/superpowers/new-ui-feature.yaml')"))
  end)

  it("asks a registered fact once, and survives its error", function()
    local nvim = Shop.child({
      init = Shop.config .. [[
        local g = vim.g.superpower
        _G.asked = 0
        g.conditions = {
          ["my.fact"] = function(ctx) _G.asked = _G.asked + 1; return ctx.inputs.epic == "x", "by epic" end,
          ["my.bad"] = function() error("boom") end,
        }
        vim.g.superpower = g]],
    })
    local function declare(condition)
      T.write(
        nvim.project .. "/.claude/superpowers/mine.yaml",
        ([[
name: mine
description: d
version: "1"
inputs: [{name: epic}]
stages:
  - agent: spec-kit
    when: %s
  - agent: spec-kit
    when: "!%s"
  - gate: human-approval
    description: stop
]]):format(condition, condition)
      )
    end
    declare("my.fact")
    called(nvim, "run", "mine", { inputs = { epic = "y" } })
    local run = Shop.state(nvim, "paused", 8000)
    eq({ "skipped", "passed", 3 }, { run.stages[1].mark, run.stages[2].mark, run.current_stage })
    eq({ "my.fact", false, "by epic" }, { run.facts[1].name, run.facts[1].value, run.facts[1].reason })
    eq(1, nvim:lua("return _G.asked"))
    called(nvim, "cancel")
    declare("my.bad")
    called(nvim, "run", "mine", { inputs = { epic = "y" } })
    nvim:wait("(require('superpower').status() or {}).state ~= 'running'", 8000)
    ok(nvim:alive())
    contains(vim.inspect(nvim:lua("return require('superpower').status()")), "boom")
  end)

  it("returns an error for wrong arguments, and raises nothing", function()
    local nvim = T.child()
    for _, call in ipairs({
      "run('flow', { inputs = 'x' }, cb)",
      "run(nil, {}, cb)",
      "run('flow', 5, cb)",
      "retry(5, cb)",
      "decide(nil, cb)",
      "resume(5, cb)",
    }) do
      local code = nvim:lua(
        ("local got; local function cb(err) got = err end; " .. "require('superpower').%s; return got and got.code"):format(
          call
        )
      )
      eq("bad-argument", code, call)
    end
    eq("bad-argument", nvim:lua("local _, err = require('superpower').check(nil); return err.code"))
    nvim:lua("require('superpower').retry(5)")
    nvim:wait("vim.fn.execute('messages'):match('opts must be a table') ~= nil")
  end)
end)
