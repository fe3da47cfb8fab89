-- Something else in place of a file in a repository (a pipe, a device, a link, a huge file) does not block the editor, and
-- is reported.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

local id = "01a22ef3-0000-7612-b7ab-ce84a7ad77c7"
local run = ".claude/state/runs/" .. id
local squad = ('{"active_superpower":"s","current_stage":1,"status":"paused","run_id":"%s"}'):format(id)

local function sh(...)
  eq(0, vim.system({ ... }):wait().code, table.concat({ ... }, " "))
end

--- A project with such a file, which `plant` creates.
local function project(inner, plant, files)
  local nvim = T.child({
    plugin = true,
    files = vim.tbl_extend("force", { ["README.md"] = "hi\n", [".claude/superpowers/.keep"] = "" }, files or {}),
  })
  local path = nvim.project .. "/" .. inner
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  plant(path)
  return nvim, path
end

local plants = {
  pipe = function(path)
    sh("mkfifo", path)
  end,
  device = function(path)
    sh("ln", "-s", "/dev/zero", path)
  end,
  huge = function(path)
    sh("truncate", "-s", "100G", path)
  end,
}

local function peak(nvim)
  for line in io.lines("/proc/" .. nvim:pid() .. "/status") do
    local kb = line:match("^VmHWM:%s*(%d+) kB")
    if kb then
      return tonumber(kb)
    end
  end
end

describe("a planted file", function()
  for name, plant in pairs(plants) do
    it("in the place of squad.json is reported, and does not block: " .. name, function()
      local nvim = project(".claude/state/squad.json", plant)
      local before = vim.uv.fs_stat("/proc/self/status") and peak(nvim)
      nvim:cmd("edit README.md")
      nvim:wait("vim.fn.execute('messages'):match('squad.json') ~= nil")
      nvim:cmd("Superpower list")
      if before then
        ok(peak(nvim) - before < 50 * 1024, "memory")
      end
    end)

    it("in the place of a kept declaration is reported: " .. name, function()
      local began = vim.json.encode({
        at = "2026-11-30T00:14:02.5Z",
        event = "run-started",
        run_id = id,
        superpower = "s",
        version = "1",
        declaration = "declaration-1.yaml",
        inputs = vim.empty_dict(),
        by = "you",
      })
      local journal = '{"format":1}\n' .. began .. "\n"
      local nvim = project(run .. "/declaration-1.yaml", plant, {
        [".claude/state/squad.json"] = squad,
        [run .. "/journal.jsonl"] = journal,
      })
      nvim:cmd("edit README.md")
      nvim:wait("vim.fn.execute('messages'):match('declaration.1.yaml') ~= nil")
    end)
  end

  it("is not opened in a window", function()
    for name, says in pairs({ pipe = "is a pipe", device = "is a device", huge = "is larger than" }) do
      local nvim, path = project("x.yaml", plants[name])
      nvim:lua("require('superpower.ui.open_file').file(...)", path)
      contains(nvim:messages(), says)
      nvim:lua("require('superpower.gate.diff').edit(...)", nvim.project, { path = "x.yaml", status = "+" })
      eq("", nvim:eval("bufname()"))
    end
  end)

  it("is not opened from the list of what is trusted", function()
    for name, says in pairs({ pipe = "is a pipe", device = "is a device", huge = "is larger than" }) do
      local nvim = S.child()
      plants[name](nvim.project .. "/CLAUDE.md")
      S.refuse(nvim, "run", {
        code = "untrusted",
        message = "not trusted",
        data = { digest = "d", sheet = { superpower = "s", stages = {}, files = { "CLAUDE.md" } } },
      })
      nvim:cmd("Superpower run s")
      nvim:wait_armed()
      nvim:lua("vim.fn.search('CLAUDE.md')")
      nvim:feed("o")
      nvim:wait(("vim.fn.execute(%q):match(%q) ~= nil"):format("messages", says))
      eq(1, nvim:eval("tabpagenr('$')"))
    end
  end)

  it("in the place of the log or of a prompt is said", function()
    local nvim = project(".claude/logs/superpower.log", plants.pipe)
    nvim:lua("require('superpower.views.log').open(...)", nvim.project)
    nvim:wait_screen("is a pipe")
    local at = nvim.project .. "/" .. run .. "/attempts/0001-stage-01/prompt.md"
    vim.fn.mkdir(vim.fs.dirname(at), "p")
    plants.pipe(at)
    nvim:lua(
      [[
        local root, path = ...
        local manual = require("superpower.ask.manual")
        manual.asked({ root = root, prompt_path = path, stage = 1, launch = 1, run_id = "r" })
        manual.open(root)
      ]],
      nvim.project,
      at
    )
    nvim:wait("vim.fn.search('no prompt.*is a pipe', 'wn') > 0")
  end)

  it("does not lead a new declaration out of the project", function()
    local elsewhere = T.dir()
    for _, inner in ipairs({ ".claude/superpowers", ".claude", ".claude/superpowers/my-new.yaml" }) do
      local nvim = S.child()
      local path = nvim.project .. "/" .. inner
      vim.fn.delete(path, "rf")
      vim.fn.mkdir(vim.fs.dirname(path), "p")
      sh("ln", "-s", inner:match("yaml$") and elsewhere .. "/not-there" or elsewhere, path)
      nvim:lua("require('superpower.declaration.scaffold').new(..., 'my-new', 'blank')", nvim.project)
      contains(nvim:messages(), "cannot create the declaration")
      eq({}, vim.fn.readdir(elsewhere))
    end
  end)
end)
