-- Leaving an editor that drives a run itself says nothing and leaves nothing, whatever is going on.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

--- Starts a run in a Neovim with a terminal, waits for `until_screen`, types `keys`, and gives what was printed since.
local function left(env, until_screen, keys, words, more)
  if not T.library() then
    T.skip("the library is not built")
  end
  local dir = Shop.project(T.dir())
  local init = T.write(
    T.dir() .. "/init.lua",
    Shop.config
      .. "\nvim.g.superpower = vim.tbl_extend('force', vim.g.superpower, { driver = 'editor' })"
      .. (more or "")
      .. ("\nvim.opt.runtimepath:prepend(%q)\nvim.opt.packpath = { vim.env.VIMRUNTIME }"):format(T.root)
  )
  local bytes, code = {}, nil
  local job = vim.fn.jobstart({
    vim.v.progpath,
    "-n",
    "-i",
    "NONE",
    "-u",
    init,
    "-c",
    "Superpower run new-ui-feature " .. Shop.inputs .. (words or ""),
    "README.md",
  }, {
    cwd = dir,
    pty = true,
    width = 120,
    height = 30,
    env = vim.tbl_extend("force", {
      TERM = "xterm-256color",
      SUPERPOWER_NATIVE = T.library(),
      XDG_STATE_HOME = T.state(),
      DEMO_PACE = "0.1",
    }, env),
    on_stdout = function(_, data)
      vim.list_extend(bytes, data)
    end,
    on_exit = function(_, status)
      code = status
    end,
  })
  T.finally(function()
    vim.fn.jobstop(job)
  end)
  T.wait(function()
    return table.concat(bytes, "\n"):find(until_screen, 1, true)
  end, 15000, until_screen)
  vim.wait(800)
  bytes = {}
  vim.fn.chansend(job, keys)
  T.wait(function()
    return code
  end, 8000, "the end of the editor")
  local squad = vim.json.decode(T.read(dir .. "/.claude/state/squad.json"))
  return { code = code, said = table.concat(bytes, "\n"), squad = squad, dir = dir }
end

local function nothing_said(after)
  for _, word in ipairs({ "Error", "error", "stack traceback", "superpower:" }) do
    T.lacks(after.said, word)
  end
end

describe("leaving the editor", function()
  it("while an agent works: it ends, the run is interrupted, nothing is said", function()
    local after = left({ DEMO_STALL = "spec-kit" }, "looking for something", "\27:qa!\r")
    eq(0, after.code)
    eq({ "paused", "interrupted", 1 }, { after.squad.status, after.squad.reason, after.squad.current_stage })
    nothing_said(after)
    local alive = T.sh({ "sh", "-c", "grep -l " .. after.squad.run_id .. " /proc/[0-9]*/environ 2>/dev/null || true" })
    eq("", vim.trim(alive.stdout))
  end)

  it("with the approval window open: the gate waits", function()
    local after = left({}, "Changed since the last approval", ":qa!\r")
    eq(0, after.code)
    eq({ "paused", "gate", 2 }, { after.squad.status, after.squad.reason, after.squad.current_stage })
    nothing_said(after)
  end)

  it("with a comment that was just sent: it is in the journal", function()
    for _, keys in ipairs({ "\27:wqa\r", "\27:xa\r", "\27:w|qa!\r" }) do
      local after = left({}, "Changed since the last approval", "cshorter, please" .. keys)
      eq(
        { 0, "paused", "interrupted", 1 },
        { after.code, after.squad.status, after.squad.reason, after.squad.current_stage }
      )
      local journal = T.read(("%s/.claude/state/runs/%s/journal.jsonl"):format(after.dir, after.squad.run_id))
      T.contains(journal, "shorter, please")
    end
  end)

  -- What others do while the editor is left takes its time.
  local slow = "\nvim.api.nvim_create_autocmd('VimLeavePre', { command = 'sleep 200m' })"

  it("with a stage's result that was just submitted: it is in the journal, and no stage starts", function()
    local after = left({}, "write the result below", "Gotasks are written\27:wqa\r", " harness=manual", slow)
    eq({ 0, "paused", "interrupted" }, { after.code, after.squad.status, after.squad.reason })
    local journal = T.read(("%s/.claude/state/runs/%s/journal.jsonl"):format(after.dir, after.squad.run_id))
    T.contains(journal, "tasks are written")
    T.lacks(journal, '"launch":2,"harness"')
  end)

  it("that is prevented after a result was submitted: the run continues", function()
    local keys = "Gotasks are written\27:doautocmd ExitPre|w\r:sleep 3\r:qa!\r"
    local after = left({}, "write the result below", keys, " harness=manual", slow)
    eq({ 0, "paused", "interrupted" }, { after.code, after.squad.status, after.squad.reason })
    local journal = T.read(("%s/.claude/state/runs/%s/journal.jsonl"):format(after.dir, after.squad.run_id))
    T.contains(journal, "tasks are written")
    T.contains(journal, '"launch":2,"harness"')
  end)

  it("while a comment is written", function()
    local after = left({}, "Changed since the last approval", "c" .. "half of it\27:qa!\r")
    eq({ "paused", "gate", 2 }, { after.squad.status, after.squad.reason, after.squad.current_stage })
    nothing_said(after)
    ok(after.code == 0)
  end)
end)
