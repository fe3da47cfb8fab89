-- Verbs with a bang in a headless Neovim, in a small project with one agent and one gate.
--
--   local Bang = require("support.bang")
--   local dir = Bang.project()
--   local done = Bang.run("Superpower! run small epic=x", { dir = dir })      { code, out, err }
--   Bang.start(…) does the same without waiting, and returns a vim.SystemObj

local T = require("harness")

local Bang = {}

Bang.declaration = [[
name: small
description: A small one
version: "1.0"
inputs:
  - name: epic
    required: true
  - name: scope
    type: enum
    enum: [full, part]
stages:
  - agent: spec-kit
    description: "Work on {{epic}}"
  - gate: human-approval
    description: Is it right
  - agent: spec-kit
    description: More work
]]

Bang.agent = [[#!/bin/sh
cat >/dev/null
[ -e "$PWD/fail" ] && exit 1
[ -e "$PWD/ask" ] && echo "which one?" && exit 2
echo "done"
]]

---@class bang.Opts
---@field dir string
---@field trust? string
---@field env? table<string, string|false>
---@field init? string Lua, run before the plugin is loaded
---@field config? string more of `vim.g.superpower`, as Lua text
---@field cwd? string
---@field shell? string a shell's line in which "$@" is the editor
---@field home? string

---@param command string|string[]
---@param opts bang.Opts
---@param exit? fun(done: vim.SystemCompleted)
---@return vim.SystemObj
function Bang.start(command, opts, exit)
  local home = opts.home or T.dir()
  local init = T.write(
    T.dir() .. "/init.lua",
    ([[
    vim.opt.runtimepath = { %q, vim.env.VIMRUNTIME }
    vim.opt.packpath = {}
    vim.g.loaded_netrwPlugin = 1
    vim.g.superpower = { harness = "command", trust = %q, harnesses = { command = { cmd = { %q } } }, %s }
    %s
  ]]):format(T.root, opts.trust or "always", opts.dir .. "/agent", opts.config or "", opts.init or "")
  )
  local cmd = { vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", init }
  for _, one in ipairs(type(command) == "table" and command or { command }) do
    vim.list_extend(cmd, { "-c", one })
  end
  if opts.shell then
    cmd = vim.list_extend({ "sh", "-c", opts.shell, "sh" }, cmd)
  end
  local env = vim.tbl_extend("force", {
    HOME = home,
    XDG_STATE_HOME = T.state(),
    XDG_DATA_HOME = home .. "/data",
    XDG_CONFIG_HOME = home .. "/config",
    SUPERPOWER_NATIVE = T.library(),
    USER = "ann",
  }, opts.env or {})
  for name, value in pairs(env) do
    env[name] = value or nil
  end
  return vim.system(cmd, { cwd = opts.cwd or opts.dir, env = env, text = true, timeout = 30000 }, exit)
end

---@param command string|string[]
---@param opts bang.Opts
---@return { code: integer, out: string, err: string }
function Bang.run(command, opts)
  local done = Bang.start(command, opts):wait()
  return { code = done.code, out = done.stdout, err = done.stderr }
end

---@return string dir
function Bang.project()
  if not T.library() then
    T.skip("the library is not built")
  end
  local dir = T.dir()
  T.write(dir .. "/.claude/superpowers/small.yaml", Bang.declaration)
  T.write(dir .. "/.claude/agents/spec-kit.md", "---\nname: spec-kit\n---\nWork.\n")
  T.write(dir .. "/agent", Bang.agent)
  vim.uv.fs_chmod(dir .. "/agent", tonumber("755", 8))
  return dir
end

--- Standard error without the list of changes that a pause at a gate prints.
---@param err string
---@return string
function Bang.without_list(err)
  local rest = err:gsub("superpower: gate of stage %d+/%d+: [^\n]* %(review=%x+%)\n", "")
  return (rest:gsub("superpower:   [^\n]*\n", ""))
end

return Bang
