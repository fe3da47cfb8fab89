-- Git on a disk that does not respond: a cancel and the editor's exit do not wait for it, and start nothing.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

--- A run whose git blocks after its first gate, or before the list of that gate is made.
local function asleep(before)
  local bin = T.dir()
  local flag, nap = bin .. "/flag", ("sleep 900.%d"):format(vim.uv.hrtime() % 1000000)
  local git = T.write(
    bin .. "/git",
    ("#!/bin/sh\n[ ! -e '%s' ] || exec %s\nexec '%s' \"$@\"\n"):format(flag, nap, vim.fn.exepath("git"))
  )
  vim.uv.fs_chmod(git, 493)
  local pace = before and "1.5" or "0.05"
  local nvim = Shop.child({ driver = "editor", env = { PATH = bin .. ":" .. vim.env.PATH, DEMO_PACE = pace } })
  Shop.start(nvim)
  if before then
    T.wait(function()
      return (T.read(nvim.project .. "/.claude/logs/superpower.log") or ""):find("DISPATCH", 1, true)
    end, 15000, "the first stage")
  else
    Shop.gate(nvim, "Are these the right tasks?")
  end
  T.write(flag, "")
  nvim.flag = flag
  local function naps()
    return vim.fn.system({ "pgrep", "-f", nap }) ~= ""
  end
  if not before then
    nvim:feed("a")
  end
  T.wait(naps, 10000, "git to be asked")
  if before then
    -- Git may also have been started for the stage's own files, while its agent was active.
    T.wait(function()
      local journals = vim.fn.glob(nvim.project .. "/.claude/state/runs/*/journal.jsonl", true, true)
      return (T.read(journals[1]) or ""):find('"attempt-ended"', 1, true)
    end, 15000, "the first stage to end")
  end
  return nvim, naps
end

local function log(nvim)
  return T.read(nvim.project .. "/.claude/logs/superpower.log")
end

describe("while git does not answer", function()
  it("cancel takes effect, and the next stage is not started", function()
    local nvim, naps = asleep()
    nvim:cmd("Superpower cancel")
    Shop.state(nvim, "cancelled")
    T.wait(function()
      return log(nvim):find("CANCELLED", 1, true)
    end, 5000, "the cancel to be told")
    lacks(log(nvim), "APPROVED")
    lacks(log(nvim), "DISPATCH  agent=ux-researcher")
    T.wait(function()
      return not naps()
    end, 5000, "git to be gone")
  end)

  it("the editor exits as always: what could not be looked at is not approved, and git has ended", function()
    local nvim, naps = asleep()
    nvim:quit(8000)
    local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
    eq({ "paused", "gate", 2 }, { squad.status, squad.reason, squad.current_stage })
    ok(not naps())
  end)

  it("a gate that was about to open does so in the next editor", function()
    local nvim, naps = asleep(true)
    nvim:quit(8000)
    local squad = vim.json.decode(T.read(nvim.project .. "/.claude/state/squad.json"))
    eq({ "paused", "gate", 2 }, { squad.status, squad.reason, squad.current_stage })
    ok(not naps())
    vim.fn.delete(nvim.flag)
    nvim:restart()
    nvim:cmd("Superpower resume")
    Shop.gate(nvim, "Are these the right tasks?")
    contains(nvim:text(), "+ docs/specs/reset-password/PLAN.md")
  end)
end)
