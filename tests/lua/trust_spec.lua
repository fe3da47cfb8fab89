-- Trust, with the real library: what a gate shows first, what a verb with a bang refuses, and adopting another tool's run.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local declaration = [[
name: ship
description: d
version: "1.0.0"
stages:
  - {agent: worker, description: Build it}
  - {gate: human-approval, description: Look at it}
  - {agent: deployer, description: Deploy it}
]]

local agent = [[#!/bin/sh
cat >/dev/null
echo "$1" >> calls
[ -x ./hook ] && ./hook "$1"
echo "done by $1"
]]

--- A project that asks for trust, with a home directory that all its editors share.
---@param hook? string what an agent does besides
local function project(hook)
  if not T.library() then
    T.skip("the library is not built")
  end
  local dir, home = T.dir(), T.dir()
  T.write(dir .. "/.claude/superpowers/ship.yaml", declaration)
  for _, name in ipairs({ "worker", "deployer" }) do
    T.write(("%s/.claude/agents/%s.md"):format(dir, name), ("---\nname: %s\n---\nWork.\n"):format(name))
  end
  T.write(dir .. "/agent", agent)
  T.write(dir .. "/hook", "#!/bin/sh\n" .. (hook or "true") .. "\n")
  vim.uv.fs_chmod(dir .. "/agent", tonumber("755", 8))
  vim.uv.fs_chmod(dir .. "/hook", tonumber("755", 8))
  return { dir = dir, home = home }
end

---@param place { dir: string, home: string }
---@param command string
---@param trust? string
local function headless(place, command, trust)
  local init = T.write(
    place.home .. "/init.lua",
    ([[
    vim.opt.runtimepath = { %q, vim.env.VIMRUNTIME }
    vim.opt.packpath = {}
    vim.g.superpower = { harness = "command", trust = %q, harnesses = { command = { cmd = { %q, "{agent}{skill}" } } } }
  ]]):format(T.root, trust or "ask", place.dir .. "/agent")
  )
  local done = vim
    .system({ vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", init, "-c", command }, {
      cwd = place.dir,
      env = {
        HOME = place.home,
        XDG_STATE_HOME = place.home .. "/state",
        XDG_DATA_HOME = place.home .. "/data",
        XDG_CONFIG_HOME = place.home .. "/config",
        SUPERPOWER_NATIVE = T.library(),
        USER = "ann",
      },
      text = true,
      timeout = 50000,
    })
    :wait()
  return { code = done.code, out = done.stdout, err = done.stderr }
end

--- Agrees to the refusal of a verb, as the trust window does.
local function agree(place, op, fields)
  local done = headless(
    place,
    ([[lua
    local session = require("superpower.session")
    local fields = vim.tbl_extend("force", { root = vim.uv.cwd() }, %s)
    local _, err = session.call(%q, fields)
    local _, failed = session.call("trust-grant", { root = fields.root, name = err.data.name, digest = err.data.digest })
    io.stderr:write(failed and vim.inspect(failed) or "granted")
    vim.cmd("qa!")]]):gsub("\n", " "):format(fields, op)
  )
  contains(done.err, "granted")
end

local function calls(place)
  return vim.split(vim.trim(T.read(place.dir .. "/calls") or ""), "\n", { trimempty = true })
end

describe("headless", function()
  it("refuses (2) with every verb what changed since it was trusted, by name, and takes the answer", function()
    local place = project()
    agree(place, "run", "{ name = 'ship' }")
    eq(3, headless(place, "Superpower! run ship").code)
    T.write(place.dir .. "/.claude/agents/deployer.md", "---\nname: deployer\n---\nSomething else.\n")
    T.write(place.dir .. "/.claude/settings.json", "{}")
    local refused = headless(place, "Superpower! approve")
    eq({ 2, "" }, { refused.code, refused.out })
    contains(refused.err, ".claude/agents/deployer.md (changed), .claude/settings.json (added)")
    contains(refused.err, "answer=trust")
    eq({ "worker" }, calls(place))
    local done = headless(place, "Superpower! approve answer=trust")
    eq(0, done.code, done.err)
    contains(done.out, "TRUSTED  .claude/agents/deployer.md (changed), .claude/settings.json (added)")
    eq({ "worker", "deployer" }, calls(place))
  end)

  it("starts nothing if the superpower's file was removed and an agent's rewritten", function()
    local place = project([[
      [ "$1" = worker ] && rm -f .claude/superpowers/ship.yaml && echo evil >> .claude/agents/deployer.md]])
    agree(place, "run", "{ name = 'ship' }")
    eq(3, headless(place, "Superpower! run ship").code)
    local refused = headless(place, "Superpower! approve")
    eq(2, refused.code, refused.err)
    eq({ "worker" }, calls(place))
  end)

  it("ends with 2 where a run pauses for trust, and resume says how to agree", function()
    local place = project([[ [ "$1" = worker ] && echo '{}' > .mcp.json ]])
    T.write(place.dir .. "/.claude/superpowers/ship.yaml", (declaration:gsub("  %- {gate[^\n]*\n", "")))
    agree(place, "run", "{ name = 'ship' }")
    local run = headless(place, "Superpower! run ship")
    eq(2, run.code)
    contains(run.out, "PAUSED (trust)")
    contains(run.err, ".mcp.json (added)")
    local refused = headless(place, "Superpower! resume")
    eq(2, refused.code)
    contains(refused.err, ".mcp.json (added)")
    eq({ "worker" }, calls(place))
    eq(0, headless(place, "Superpower! resume answer=trust").code)
    eq({ "worker", "deployer" }, calls(place))
  end)

  it("says which answers it takes", function()
    local place = project()
    local refused = headless(place, "Superpower! resume answer=maybe", "always")
    eq(2, refused.code)
    contains(refused.err, 'unknown answer "maybe"')
  end)
end)

describe("a gate", function()
  it("shows changed trusted files first, and approving trusts them", function()
    local place = project([[ [ "$1" = worker ] && echo evil >> .claude/agents/deployer.md ]])
    local nvim = T.child({
      plugin = true,
      columns = 110,
      lines = 30,
      cwd = place.dir,
      init = ([[vim.g.superpower = { harness = "command", harnesses = { command = { cmd = { %q, "{agent}{skill}" } } } }]]):format(
        place.dir .. "/agent"
      ),
    })
    nvim:cmd("Superpower run ship")
    nvim:wait_screen("what it will do")
    contains(nvim:text(), "Build it")
    nvim:wait_armed()
    nvim:feed("t")
    Shop.gate(nvim, "Changed since you trusted this superpower")
    local text = nvim:text()
    contains(text, "~ .claude/agents/deployer.md")
    ok(text:find("Changed since you trusted", 1, true) < text:find("worker finished stage 1", 1, true), text)
    nvim:feed("a")
    nvim:wait("(require('superpower').status() or {}).state == 'complete'", 15000)
    eq({ "worker", "deployer" }, calls(place))
  end)

  it("does not show what did not change", function()
    local place = project()
    local nvim = T.child({
      plugin = true,
      columns = 110,
      lines = 30,
      cwd = place.dir,
      init = ([[vim.g.superpower = { harness = "command", harnesses = { command = { cmd = { %q, "{agent}{skill}" } } } }]]):format(
        place.dir .. "/agent"
      ),
    })
    nvim:cmd("Superpower run ship")
    nvim:wait_screen("what it will do")
    nvim:wait_armed()
    nvim:feed("t")
    Shop.gate(nvim, "Look at it")
    lacks(nvim:text(), "Changed since you trusted")
  end)

  it("sends what it showed with an approval, and only then", function()
    local nvim = S.child()
    S.answer(
      nvim,
      "review",
      vim.tbl_extend("force", S.review, {
        trust = { digest = "d7", files = { { path = "CLAUDE.md", change = "added" } } },
      })
    )
    S.answer(nvim, "decide", { run_id = "0190-abc" })
    local run = S.at_gate()
    run.root = nvim.project
    S.answer(nvim, "status", run)
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_open()")
    nvim:cmd("Superpower changes more of it")
    nvim:wait("#require('superpower.engine').script.calls('decide') == 1")
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_open()")
    nvim:cmd("Superpower approve")
    nvim:wait("#require('superpower.engine').script.calls('decide') == 2")
    local decisions = S.calls(nvim, "decide")
    eq({ nil, "d7" }, { decisions[1].trust, decisions[2].trust })
  end)
end)

--- The file as another tool writes it.
local squad = vim.json.encode({
  active_superpower = "new-ui-feature",
  current_stage = 4,
  status = "paused",
  inputs = { epic = "user-auth", feature_slug = "reset-password" },
})

describe("another tool's run", function()
  for _, way in ipairs({ "form", "ui" }) do
    it("is adopted in the editor: missing inputs are asked for, then its claim is shown (" .. way .. ")", function()
      local dir = Shop.project(T.dir())
      T.write(dir .. "/.claude/state/squad.json", squad)
      local nvim = Shop.child({ cwd = dir, init = Shop.config:gsub('"always"', ('"ask", inputs = %q'):format(way)) })
      if way == "form" then
        nvim:cmd("Superpower resume")
        nvim:wait_screen("new-ui-feature needs")
        contains(nvim:text(), "user-auth")
        nvim:feed("<CR>")
        vim.uv.sleep(100)
        nvim:feed("they forget it<CR>")
        vim.uv.sleep(100)
        nvim:feed("<C-s>")
      else
        nvim:lua([[vim.ui.input = function(_, done) done("they forget it") end]])
        nvim:cmd("Superpower resume")
      end
      nvim:wait_screen("so says squad.json", 15000)
      contains(nvim:text(), "stages 1–3 count as run, gate 2 as passed")
      eq(squad, T.read(dir .. "/.claude/state/squad.json"))
      nvim:wait_armed()
      nvim:feed("t")
      nvim:wait("(require('superpower').status() or {}).current_stage ~= nil", 15000)
      nvim:wait("require('superpower').status().reason == 'gate'", 20000)
      local inputs = vim.json.decode(T.read(dir .. "/.claude/state/squad.json")).inputs
      eq({ "user-auth", "they forget it" }, { inputs.epic, inputs.problem_statement })
      eq("", nvim:lua("return vim.v.errmsg"))
    end)
  end

  it("is adopted headless, with the missing inputs and the answer", function()
    local dir = Shop.project(T.dir())
    local place = { dir = dir, home = T.dir() }
    T.write(dir .. "/agent", "#!/bin/sh\ncat >/dev/null\necho done\n")
    vim.uv.fs_chmod(dir .. "/agent", tonumber("755", 8))
    T.write(dir .. "/.claude/state/squad.json", squad)
    local refused = headless(place, "Superpower! resume")
    eq(2, refused.code)
    contains(refused.err, "problem_statement")
    contains(refused.err, "resume KEY=VALUE")
    local given = [[problem_statement="they forget it"]]
    refused = headless(place, "Superpower! resume " .. given)
    eq(2, refused.code)
    contains(refused.err, "stages 1–3 count as run, gate 2 as passed: so says squad.json")
    agree(place, "resume", "{ inputs = { problem_statement = 'they forget it' } }")
    refused = headless(place, "Superpower! resume " .. given)
    eq(2, refused.code)
    contains(refused.err, "answer=adopt")
    eq(squad, T.read(dir .. "/.claude/state/squad.json"))
    local done = headless(place, "Superpower! resume answer=adopt " .. given)
    contains(done.out, "RESUMED  new-ui-feature  stage 4/13")
  end)

  it("asks nothing with trust = always, and reports the claim", function()
    local dir = Shop.project(T.dir())
    local place = { dir = dir, home = T.dir() }
    T.write(dir .. "/agent", "#!/bin/sh\ncat >/dev/null\necho done\n")
    vim.uv.fs_chmod(dir .. "/agent", tonumber("755", 8))
    T.write(dir .. "/.claude/state/squad.json", (squad:gsub('"epic"', '"mood":"good","epic"')))
    local done = headless(place, "Superpower! resume new-ui-feature problem_statement=x epic=other", "always")
    contains(done.out, "RESUMED  new-ui-feature  stage 4/13")
    contains(done.err, "so says squad.json")
    contains(done.err, 'does not declare "mood"')
    contains(done.err, 'the input "epic" of new-ui-feature stays "user-auth"')
  end)
end)
