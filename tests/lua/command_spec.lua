-- `:Superpower`: its arguments, its completion, and the messages for wrong use.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

local inputs = {
  { name = "epic", type = "string", required = true },
  { name = "scope", type = "enum", required = false, default = "full", enum = { "full", "tokens-only" } },
  { name = "dry", type = "bool", required = false },
}

local function child()
  local nvim = S.child()
  S.answer(nvim, "list", {
    { name = "api-endpoint", path = nvim.project .. "/a.yaml", description = "An endpoint", stages = 8, errors = 0 },
    { name = "bugfix", path = nvim.project .. "/b.yaml", description = "Fix", stages = 5, errors = 0 },
  })
  S.answer(nvim, "inputs", inputs)
  S.answer(nvim, "runs", {
    { run_id = "0190aaaa", superpower = "bugfix", state = "paused", reason = "failed" },
    { run_id = "0190bbbb", superpower = "api-endpoint", state = "complete" },
  })
  S.answer(nvim, "run", { run_id = "r" })
  return nvim
end

local function completed(nvim, line)
  return nvim:lua("return vim.fn.getcompletion(..., 'cmdline')", line)
end

local function said(nvim)
  vim.uv.sleep(20)
  return nvim:messages()
end

describe("completion", function()
  it("offers each sub-word", function()
    local nvim = child()
    local all = completed(nvim, "Superpower ")
    for _, word in ipairs({
      "run",
      "plan",
      "resume",
      "pause",
      "cancel",
      "retry",
      "skip",
      "gate",
      "approve",
      "changes",
      "reject",
      "progress",
      "why",
      "check",
      "new",
      "edit",
      "log",
      "runs",
    }) do
      ok(vim.tbl_contains(all, word), word)
    end
    eq({ "run", "resume", "gate", "approve" }, vim.list_slice(all, 1, 4))
    eq({ "resume", "reject", "retry" }, completed(nvim, "Superpower re"))
    eq({ "resume" }, completed(nvim, "Superpower! res"))
  end)

  it("offers names, input keys and values", function()
    local nvim = child()
    eq({ "api-endpoint", "bugfix" }, completed(nvim, "Superpower run "))
    eq({ "bugfix" }, completed(nvim, "Superpower edit b"))
    eq({ "bugfix" }, completed(nvim, "Superpower check b"))
    eq({ "epic=", "scope=", "dry=", "harness=" }, completed(nvim, "Superpower run bugfix "))
    eq({ "scope=full", "scope=tokens-only" }, completed(nvim, "Superpower run bugfix scope="))
    eq({ "dry=true" }, completed(nvim, "Superpower run bugfix dry=t"))
    eq({ "scope=", "dry=", "harness=" }, completed(nvim, 'Superpower run bugfix epic="two words" '))
    eq({ "harness=manual" }, completed(nvim, "Superpower run bugfix harness=m"))
    eq({ "epic=", "scope=", "dry=" }, completed(nvim, "Superpower plan bugfix "))
    eq({ "bugfix", "0190aaaa" }, vim.list_slice(completed(nvim, "Superpower resume "), 1, 2))
    eq({ "answer=go-on" }, completed(nvim, "Superpower approve answer=g"))
    ok(vim.tbl_contains(completed(nvim, "Superpower new my-one "), "bugfix"))
  end)

  it("offers nothing without a project, and never fails", function()
    local nvim = child()
    for word, sub in
      pairs(nvim:lua([[
      return vim.tbl_map(function(sub)
        return { complete = sub.complete ~= nil, of_run = sub.of_run ~= nil }
      end, require("superpower.commands.subcommands"))
    ]]))
    do
      if not sub.complete then
        eq(sub.of_run and { "run=" } or {}, completed(nvim, "Superpower " .. word .. " "), word)
      end
    end
    eq({ "run=" }, completed(nvim, "Superpower why "), "of no run")
    S.send(nvim, { type = "snapshot", run = S.run() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    eq({ "1", "2", "3", "4", "5", "6", "7", "8", "run=" }, completed(nvim, "Superpower why "))
    eq({}, completed(nvim, "Superpower nonsense x"))
    eq({}, completed(nvim, 'Superpower run bugfix epic="open '))
    S.refuse(nvim, "list", { code = "no-project", message = "no project" })
    eq({}, completed(nvim, "Superpower run "))
  end)
end)

describe("arguments", function()
  it("are parsed as typed", function()
    local nvim = child()
    nvim:cmd([[Superpower run bugfix epic="two words" note='it is | "so"' x=a\b path=c:\d harness=manual]])
    local call = S.calls(nvim, "run")[1]
    eq("bugfix", call.name)
    eq("manual", call.harness)
    eq({ epic = "two words", note = 'it is | "so"', x = "a\\b", path = "c:\\d" }, call.inputs)
  end)

  it("that are invalid are refused before anything starts", function()
    local nvim = child()
    for line, words in pairs({
      ["Superpower run bugfix epic"] = 'expected key=value, got "epic"',
      ["Superpower run bugfix a=1 a=2"] = '"a" is given twice',
      ['Superpower run bugfix a="open'] = 'unclosed quote: "',
      ["Superpower run epic=1"] = "name a superpower",
      ["Superpower resume a b"] = "resume takes one run",
      ["Superpower pause now"] = "pause takes only run=ID",
      ["Superpower cancel it"] = "cancel takes only run=ID",
      ["Superpower skip 3"] = "skip takes only run=ID",
      ["Superpower gate 3"] = "gate takes no arguments",
      ["Superpower progress on"] = "progress takes no arguments",
      ["Superpower log all"] = "log takes no arguments",
      ["Superpower runs all"] = "runs takes no arguments",
      ["Superpower dashboard x"] = "dashboard takes no arguments",
      ["Superpower plan bugfix epic"] = 'expected key=value, got "epic"',
      ["Superpower plan bugfix a=1 a=2"] = '"a" is given twice',
      ['Superpower plan "open'] = 'unclosed quote: "',
      ['Superpower resume "open'] = 'unclosed quote: "',
      ["Superpower why 0"] = "why takes a stage's number",
      ["Superpower why 1.5"] = "why takes a stage's number",
      ["Superpower edit two words"] = 'no superpower "two words"',
      ["Superpower new a b c"] = "new takes a name",
      ["Superpower changes"] = "say what should change",
      ["Superpower why x"] = "why takes a stage's number",
      ["Superpower new"] = "new takes a name",
      ["Superpower new Bad_Name"] = 'invalid name "Bad_Name"',
      ["Superpower new good-name bugfx"] = 'did you mean "bugfix"?',
      ["Superpower edit bugfixx"] = 'did you mean "bugfix"?',
      ["Superpower rnu bugfix"] = 'unknown sub-command "rnu": did you mean "run"?',
      ["Superpower xyzzy"] = "known: ",
    }) do
      nvim:cmd("messages clear")
      nvim:cmd(line)
      contains(said(nvim), words, line)
    end
    eq({}, S.calls(nvim, "run"))
  end)

  it("of a comment keep the text as it was typed", function()
    local nvim = child()
    S.answer(nvim, "retry", { run_id = "r" })
    nvim:cmd([[Superpower retry use the "other" one | and be quick]])
    eq([[use the "other" one | and be quick]], S.calls(nvim, "retry")[1].comment)
    nvim:cmd([[Superpower retry "quoted as a whole"]])
    eq("quoted as a whole", S.calls(nvim, "retry")[2].comment)
  end)
end)

describe("a run", function()
  it("shows the engine's refusal, with its lists, and nothing else", function()
    local nvim = child()
    S.refuse(nvim, "run", {
      code = "unknown-superpower",
      message = 'no superpower "bugfx"',
      data = { names = { "bugfix", "api-endpoint" } },
    })
    nvim:cmd("Superpower run bugfx")
    local words = said(nvim)
    contains(words, 'no superpower "bugfx"')
    contains(words, "  bugfix")
  end)

  it("asks for missing inputs, and giving up starts nothing", function()
    local nvim = child()
    nvim:lua("vim.g.superpower = { inputs = 'ui' }")
    nvim:lua([[vim.ui.input = function(opts, done) _G.asked = opts.prompt; done(_G.reply) end]])
    local missing = { code = "missing-inputs", message = "epic is missing", data = { inputs = { inputs[1] } } }
    S.refuse(nvim, "run", missing)
    nvim:cmd("Superpower run bugfix")
    eq(1, #S.calls(nvim, "run"))
    contains(nvim:lua("return _G.asked"), "epic")
    eq("", said(nvim))
    nvim:lua("_G.reply = 'user auth'")
    S.refuse(nvim, "run", missing)
    nvim:cmd("Superpower run bugfix scope=full")
    eq({ epic = "user auth", scope = "full" }, S.calls(nvim, "run")[3].inputs)
  end)

  it("shows what it will do before it is trusted", function()
    local nvim = child()
    local untrusted = {
      code = "untrusted",
      message = "not trusted",
      data = {
        digest = "d1",
        sheet = {
          superpower = "bugfix",
          version = "1.0.0",
          path = ".claude/superpowers/bugfix.yaml",
          stages = {
            {
              position = 1,
              label = "Find it",
              actor = "debugger",
              kind = "agent",
              file = ".claude/agents/debugger.md",
            },
          },
          files = { ".claude/agents/debugger.md" },
        },
      },
    }
    S.answer(nvim, "trust-grant", {})
    S.refuse(nvim, "run", untrusted)
    nvim:lua("vim.g.superpower = { gate = { delay = 3600000 } }")
    nvim:cmd("Superpower run bugfix")
    local screen = nvim:text()
    contains(screen, "what it will do")
    contains(screen, ".claude/agents/debugger.md")
    nvim:press("t")
    eq({}, S.calls(nvim, "trust-grant"), "too early")
    nvim:lua("vim.g.superpower = { gate = { delay = 300 } }")
    nvim:wait_armed()
    nvim:feed("<CR>")
    nvim:feed("q")
    nvim:wait_no_screen("what it will do")
    eq({}, S.calls(nvim, "trust-grant"))
    eq(1, #S.calls(nvim, "run"))
    S.refuse(nvim, "run", untrusted)
    nvim:cmd("Superpower run bugfix")
    nvim:wait_armed()
    nvim:feed("t")
    nvim:wait_no_screen("what it will do")
    eq("d1", S.calls(nvim, "trust-grant")[1].digest)
    eq("bugfix", S.calls(nvim, "trust-grant")[1].name)
    eq(3, #S.calls(nvim, "run"))
  end)

  it("asks about unsaved buffers of the project once", function()
    local nvim = child()
    nvim:lua([[vim.ui.select = function(items, opts, done) _G.prompt = opts.prompt; done(items[_G.pick], _G.pick) end]])
    nvim:cmd("edit notes.md")
    nvim:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'x' }); _G.pick = 3")
    nvim:cmd("Superpower run bugfix")
    contains(nvim:lua("return _G.prompt"), "notes.md")
    eq(0, #S.calls(nvim, "run"))
    nvim:lua("_G.pick = 2")
    nvim:cmd("Superpower run bugfix")
    eq(1, #S.calls(nvim, "run"))
    ok(not T.exists(nvim.project .. "/notes.md"))
    nvim:lua("_G.pick = 1")
    nvim:cmd("Superpower run bugfix")
    eq("x\n", T.read(nvim.project .. "/notes.md"))
    eq(2, #S.calls(nvim, "run"))
    nvim:lua("_G.prompt = nil")
    nvim:cmd("Superpower run bugfix")
    eq(nil, nvim:lua("return _G.prompt"))
  end)

  it("is picked if no name is given", function()
    local nvim = child()
    nvim:lua([[vim.ui.select = function(items, opts, done) done(items[2], 2) end]])
    nvim:cmd("Superpower run")
    eq("bugfix", S.calls(nvim, "run")[1].name)
  end)
end)

describe("a resumed run", function()
  it("asks which declaration, where it has changed", function()
    local nvim = child()
    S.answer(nvim, "resume", { run_id = "r", state = "running", others = 1 })
    nvim:lua([[vim.ui.select = function(items, opts, done) done(items[_G.pick], _G.pick) end; _G.pick = 2]])
    local changed = { code = "declaration-changed", message = "changed", data = { differences = { "stage 2 is new" } } }
    S.refuse(nvim, "resume", changed)
    nvim:cmd("Superpower resume bugfix")
    eq({ nil, "new" }, { S.calls(nvim, "resume")[1].answer, S.calls(nvim, "resume")[2].answer })
    contains(said(nvim), "1 other unfinished run")
    nvim:lua("_G.pick = 3")
    S.refuse(nvim, "resume", changed)
    nvim:cmd("Superpower resume bugfix")
    eq(3, #S.calls(nvim, "resume"))
    S.refuse(nvim, "resume", { code = "declaration-unusable", message = "broken", data = { differences = { "x" } } })
    nvim:lua("_G.pick = 1")
    nvim:cmd("Superpower resume bugfix")
    eq({ nil, "old" }, { S.calls(nvim, "resume")[4].answer, S.calls(nvim, "resume")[5].answer })
  end)
end)

describe("a typed decision", function()
  it("without a gate shown opens the window instead", function()
    local nvim = child()
    S.answer(nvim, "review", S.review)
    S.answer(nvim, "decide", { run_id = "r" })
    local run = S.at_gate()
    run.root = nvim.project
    S.answer(nvim, "status", run)
    nvim:cmd("Superpower approve")
    eq({}, S.calls(nvim, "decide"))
    nvim:wait_screen("Await wireframe approval")
    nvim:cmd("Superpower approve fine by me")
    local call = S.calls(nvim, "decide")[1]
    eq({ "approve", "fine by me", "0190-abc", "5.1" }, { call.decision, call.comment, call.run_id, call.gate })
    nvim:wait_no_screen("a approve")
  end)

  it("that comes too late is reported", function()
    local nvim = child()
    S.answer(nvim, "review", S.review)
    local run = S.at_gate()
    run.root = nvim.project
    S.answer(nvim, "status", run)
    nvim:cmd("Superpower gate")
    S.refuse(nvim, "decide", { code = "stale-gate", message = "gate 5.1 has been decided" })
    nvim:cmd("Superpower reject")
    contains(said(nvim), "gate 5.1 has been decided")
  end)
end)

describe("the bang", function()
  it("is refused with a user interface", function()
    local nvim = child()
    S.attach_ui(nvim)
    nvim:cmd("Superpower! run bugfix epic=x")
    nvim:wait("vim.fn.execute('messages'):match('the bang is for headless use') ~= nil")
    eq({}, S.calls(nvim, "run"))
  end)
end)
