-- Verbs with a bang: the complete output of each stream, and the editor's exit status.
local T = require("harness")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local Bang = require("support.bang")
local declaration, headless, project = Bang.declaration, Bang.run, Bang.project

describe("the bang", function()
  it("runs to the gate (3), and after an approval to the end (0)", function()
    local dir = project()
    local run = headless("Superpower! run small epic='two words'", { dir = dir })
    local list = "superpower: gate of stage 2/3: no file has changed since the last approval %(review=%x+%)\n"
    ok(run.err:match("^" .. list .. "$"), run.err)
    eq(
      table.concat({
        "[superpower] LOADED  small  v1.0  stages=3",
        "[superpower] STAGE 1/3: Work on two words",
        "[superpower] DISPATCH  agent=spec-kit",
        "[superpower] STAGE 2/3: Is it right",
        "[superpower] GATE   Human approval required: Is it right",
        "[superpower] PAUSED — decide with: approve, changes or reject",
        "",
      }, "\n"),
      run.out
    )
    eq(3, run.code)
    eq(3, headless("Superpower! resume", { dir = dir }).code)
    local approved = headless("Superpower! approve looks | good", { dir = dir })
    eq("", approved.err)
    contains(approved.out, "[superpower] APPROVED  stage 2/3")
    contains(approved.out, "[superpower] COMPLETE  small\n")
    eq(0, approved.code)
    local again = headless("Superpower! resume", { dir = dir })
    eq({ 0, "" }, { again.code, again.out })
  end)

  it(
    "says which checkpoint stayed unwritten, with the lock and how to remove it, and the next one writes it",
    function()
      local dir = project()
      T.write(
        dir .. "/.claude/superpowers/track.yaml",
        'name: track\ndescription: T\nversion: "1.0"\ninputs:\n  - {name: track_id, default: t}\nstages:\n  - agent: spec-kit\n'
      )
      local lock = dir .. "/conductor/tracks/t/.metadata.lock"
      vim.fn.mkdir(lock, "p")
      local old = os.time() - 7200
      assert(vim.uv.fs_utime(lock, old, old))
      local done = headless("Superpower! run track", { dir = dir })
      eq(0, done.code, done.err)
      local said = 'superpower: track: "conductor/tracks/t/metadata.json" will be written at the next start: '
      contains(done.err, said)
      contains(done.err, '.metadata.lock" has been held by an unnamed script for 2h 0m')
      contains(done.err, "remove the lock with: rm -r '")
      ok(done.err:sub(-1) == "\n", "whole lines")
      local again = headless("Superpower! resume track", { dir = dir })
      eq(0, again.code)
      contains(again.err, said)
      vim.fn.delete(lock, "d")
      again = headless("Superpower! resume track", { dir = dir })
      eq({ 0, "" }, { again.code, again.out })
      lacks(again.err, "unwritten")
      local written = vim.json.decode(T.read(dir .. "/conductor/tracks/t/metadata.json"))
      eq("PASSED", written.loop_state.checkpoints.SPEC_KIT.status)
    end
  )

  it("says which declaration it continues with if that was edited or deleted", function()
    local dir = project()
    local path = dir .. "/.claude/superpowers/small.yaml"
    eq(3, headless("Superpower! run small epic=x", { dir = dir }).code)
    T.write(path, (declaration:gsub("More work", "Other work")))
    local done = headless("Superpower! changes 'not yet'", { dir = dir })
    eq(3, done.code, done.err)
    contains(done.err, "superpower: small continues with its edited declaration, v1.0\n")
    os.remove(path)
    done = headless("Superpower! approve", { dir = dir })
    eq(2, done.code, done.err)
    contains(done.err, "files have changed since the list of stage 2 was shown: .claude/superpowers/small.yaml")
    contains(done.err, "- .claude/superpowers/small.yaml")
    done = headless("Superpower! approve", { dir = dir })
    eq(0, done.code, done.err)
    contains(
      done.err,
      "superpower: small continues with its own copy of the declaration: the superpower file no longer exists\n"
    )
    contains(done.out, "Other work")
  end)

  it("goes back for changes and reaches the gate again (3); a reject that took effect is 0", function()
    local dir = project()
    eq(3, headless("Superpower! run small epic=x", { dir = dir }).code)
    eq(2, headless("Superpower! changes", { dir = dir }).code)
    local changes = headless("Superpower! changes smaller", { dir = dir })
    eq(3, changes.code)
    contains(changes.out, "CHANGES  stage 2/3: smaller")
    local rejected = headless("Superpower! reject no", { dir = dir })
    eq(0, rejected.code)
    contains(rejected.out, "REJECTED  stage 2/3: no")
    eq(1, headless("Superpower! resume", { dir = dir }).code)
    eq(2, headless("Superpower! approve", { dir = dir }).code)
  end)

  it("pauses on a failure (1); retry, skip and cancel", function()
    local dir = project()
    T.write(dir .. "/fail", "")
    local run = headless("Superpower! run small epic=x", { dir = dir })
    eq(1, run.code)
    contains(run.out, "RETRY  stage 1/3: attempt 2/3: exit status 1")
    contains(run.out, "FAILED  stage 1/3: Work on x: attempt 3/3: exit status 1")
    eq(1, headless("Superpower! retry please", { dir = dir }).code)
    eq(3, headless("Superpower! skip", { dir = dir }).code)
    local cancelled = headless("Superpower! cancel", { dir = dir })
    eq(0, cancelled.code)
    contains(cancelled.out, "CANCELLED  small")
    eq(1, headless("Superpower! resume", { dir = dir }).code)
  end)

  it("says how many other unfinished runs of the resumed name there are", function()
    local dir = project()
    for count = 0, 2 do
      eq(3, headless("Superpower! run small epic=" .. count, { dir = dir }).code)
      local resumed = headless("Superpower! resume small", { dir = dir })
      eq(3, resumed.code)
      local said = {
        "",
        "superpower: 1 other unfinished run: :Superpower runs\n",
        "superpower: 2 other unfinished runs: :Superpower runs\n",
      }
      eq(said[count + 1], Bang.without_list(resumed.err))
    end
  end)

  it("refuses (2) what is wrong, on standard error, in whole lines", function()
    local dir = project()
    for command, words in pairs({
      ["Superpower! run smal epic=x"] = '"smal"',
      ["Superpower! run small"] = "epic",
      ["Superpower! run small epic=x nope=1"] = "nope",
      ["Superpower! run small epic=x scope=all"] = "full",
      ["Superpower! run small epic"] = "expected key=value",
      ["Superpower! run"] = "name a superpower before its inputs",
      ["Superpower! approve"] = "superpower: ",
      ["Superpower! retry"] = "superpower: ",
      ["Superpower! cancel"] = "superpower: ",
      ["Superpower! resume"] = "superpower: ",
      ["Superpower! rnu small"] = 'did you mean "run"?',
      ["Superpower! why 2"] = "does not take a bang",
      ["Superpower!"] = "needs a verb",
    }) do
      local refused = headless(command, { dir = dir })
      eq({ 2, "" }, { refused.code, refused.out }, command)
      contains(refused.err, words, command)
      eq("\n", refused.err:sub(-1), command)
    end
    ok(not T.exists(dir .. "/.claude/state"), "a refusal leaves no trace")
  end)

  it("exits with 0 only for resuming a finished run, whoever recorded it", function()
    for _, squad in ipairs({ '{"active_superpower": "small", "status": "completed"}', "ours" }) do
      local dir = project()
      if squad == "ours" then
        eq(3, headless("Superpower! run small epic=x", { dir = dir }).code)
        eq(0, headless("Superpower! approve", { dir = dir }).code)
      else
        T.write(dir .. "/.claude/state/squad.json", squad)
      end
      for _, verb in ipairs({ "approve", "changes more", "reject", "retry", "skip", "pause", "cancel" }) do
        local done = headless("Superpower! " .. verb, { dir = dir })
        eq(2, done.code, verb .. done.err)
        contains(done.err, "complete")
      end
      eq(0, headless("Superpower! resume", { dir = dir }).code)
    end
  end)

  it("refuses (2) what is not trusted, and says how to trust", function()
    local dir = project()
    local run = headless("Superpower! run small epic=x", { dir = dir, trust = "ask" })
    eq({ 2, "" }, { run.code, run.out })
    contains(run.err, "trust")
  end)

  it("refuses (2) a declaration with an error, and names its place", function()
    local dir = project()
    T.write(dir .. "/.claude/superpowers/small.yaml", (declaration:gsub("human%-approval", "human_approval")))
    local run = headless("Superpower! run small epic=x", { dir = dir })
    eq(2, run.code)
    contains(run.err, "small.yaml:13:11")
    contains(run.err, 'unknown gate "human_approval"')
    lacks(run.err, "stack traceback")
  end)

  it("is paused by an interruption (1), and says so", function()
    local dir = project()
    T.write(dir .. "/agent", "#!/bin/sh\necho started >started\nsleep 30\n")
    local home = T.dir()
    local init = T.write(
      home .. "/init.lua",
      ([[
        vim.opt.runtimepath = { %q, vim.env.VIMRUNTIME }
        vim.g.superpower = { harness = "command", trust = "always", harnesses = { command = { cmd = { %q } } } }
      ]]):format(T.root, dir .. "/agent")
    )
    local done
    local job = vim.system(
      { vim.v.progpath, "-n", "-i", "NONE", "-u", init, "--headless", "-c", "Superpower! run small epic=x" },
      {
        cwd = dir,
        text = true,
        env = { HOME = home, XDG_STATE_HOME = home .. "/s", SUPERPOWER_NATIVE = T.library() },
      },
      function(result)
        done = result
      end
    )
    T.wait(function()
      return T.exists(dir .. "/started")
    end, 10000)
    job:kill("sigint")
    T.wait(function()
      return done
    end, 10000, "the end")
    eq(1, done.code)
    contains(T.read(dir .. "/.claude/logs/superpower.log"), "PAUSED (interrupted)")
    if vim.fn.has("nvim-0.12") == 0 then
      -- From 0.12 on Neovim exits at this signal, and the plugin prints nothing while it exits.
      contains(done.stdout, "PAUSED (interrupted)")
    end
    local squad = T.read(dir .. "/.claude/state/squad.json")
    contains(squad, "paused")
    lacks(squad, '"running"')
  end)

  it("cancels (0) another tool's run that cannot be taken over, and every other verb says how to go on", function()
    local dir = project()
    local squad = dir .. "/.claude/state/squad.json"
    T.write(squad, '{"active_superpower":"small","status":["x"]}')
    for _, verb in ipairs({ "resume", "approve", "pause", "run small epic=x" }) do
      local run = headless("Superpower! " .. verb, { dir = dir })
      eq(2, run.code)
      contains(run.err, '"status" is ["x"], not a word; correct it, or :Superpower cancel moves the file aside')
    end
    local run = headless("Superpower! cancel", { dir = dir })
    eq(0, run.code)
    contains(run.err, 'moved "squad.json", whose run cannot be taken over, to ')
    ok(not T.exists(squad), "it is moved")
    eq(3, headless("Superpower! run small epic=x", { dir = dir }).code)
  end)

  it("never asks about unsaved buffers, and stops at the first verb", function()
    local dir = project()
    T.write(dir .. "/notes.md", "x\n")
    local run = headless({ "edit notes.md", "call setline(1, 'y')", "Superpower! run small epic=x" }, { dir = dir })
    eq(3, run.code)
  end)
end)

describe("the demo without a terminal", function()
  it("plays to the end by approvals, each in a new editor", function()
    if not T.library() then
      T.skip("the library is not built")
    end
    local done = T.sh({ "sh", T.root .. "/scripts/demo.sh", "--headless" }, {
      env = { DEMO_DIR = T.dir(), DEMO_PACE = "0.02", SUPERPOWER_NATIVE = T.library(), NVIM = vim.v.progpath },
    })
    eq(0, done.code)
    local _, approvals = done.stdout:gsub("APPROVED  stage", "")
    eq(4, approvals)
    contains(done.stdout, "[superpower] COMPLETE  new-ui-feature")
  end)
end)
