-- What a declaration's author gets in the buffer: the real engine, a real Neovim, real keys.
local T = require("harness")
local describe, it, eq, contains = T.describe, T.it, T.eq, T.contains

local FLOW = [[
name: flow
description: One line
version: "1.0.0"
inputs:
  - name: scope
    type: enum
    enum: [full, tokens-only]
    default: full
  - name: epic
    required: true
stages:
  - name: plan
    agent: spec-kit
    description: "Plan {{epic}}"
    inputs: {epic: "{{epic}}"}
  - name: build
    skill: scaffold
    when: "{{scope}} == full && story.ui_true"
    depends_on: [plan]
    description: |
      After {{stages.plan.result}} of {{epic}}
    gate: human-approval
    rework: plan
]]

local FILES = {
  [".claude/agents/spec-kit.md"] = "---\nname: spec-kit\ndescription: Writes specs\n---\nYou write specs.\n",
  [".claude/agents/qa.md"] = "---\nname: qa\ndescription: Tests\n---\nYou test.\n",
  [".claude/skills/scaffold/SKILL.md"] = "---\nname: scaffold\ndescription: Makes files\n---\nDo.\n",
  ["docs/stories/login.md"] = "---\nui: true\n---\nLogin\n",
}

--- An editor with the declaration open, served.
local function editor(text, opts)
  if not T.library() then
    T.skip("the library is not built")
  end
  opts = opts or {}
  opts.files = vim.tbl_extend("force", FILES, { [".claude/superpowers/flow.yaml"] = text or FLOW }, opts.files or {})
  opts.columns = opts.columns or 110
  local nvim = T.child(opts)
  nvim:cmd("edit .claude/superpowers/flow.yaml")
  if opts.served ~= false then
    nvim:wait(
      "#vim.lsp.get_clients({ bufnr = 0, name = 'superpower' }) == 1 and vim.lsp.get_clients({bufnr=0})[1].initialized"
    )
    nvim:lua(
      "require('superpower.lsp.server').each(function(d) vim.wait(3000, function() return d.tick ~= nil end, 2) end)"
    )
  end
  return nvim
end

--- The faults as `code line:column-column`, sorted by place.
local function faults(nvim)
  return nvim:lua([[
    local out = {}
    for _, d in ipairs(vim.diagnostic.get(0)) do
      out[#out + 1] = ("%s %d:%d-%d"):format(d.code, d.lnum + 1, d.col, d.end_col)
    end
    return out
  ]])
end

local function wait_faults(nvim, expected)
  local found
  local fine = vim.wait(5000, function()
    found = faults(nvim)
    return vim.deep_equal(expected, found)
  end, 10)
  if not fine then
    eq(expected, found)
  end
end

--- Puts the cursor on the first letter of `text` in line `line`, or anywhere.
local function at(nvim, text, offset)
  nvim:lua(
    [[local text, offset = ...
      vim.fn.cursor(1, 1)
      assert(vim.fn.search("\\V" .. text, "cW") > 0, text)
      if offset > 0 then vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + offset) end]],
    text,
    offset or 0
  )
end

local function buffer(nvim)
  return nvim:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'")
end

describe("a declaration in a buffer", function()
  it("has its faults underlined while it is typed", function()
    local nvim = editor()
    eq({}, faults(nvim))
    at(nvim, "human-approval")
    nvim:feed("ea<BS>")
    wait_faults(nvim, { "unknown-gate 22:10-23" })
    eq("i", nvim:mode().mode, "still typing")
    local fault = nvim:lua("return vim.diagnostic.get(0)[1]")
    eq({ "superpower", 1 }, { fault.source, fault.severity })
    contains(fault.message, [[did you mean "human-approval"?]])
    nvim:feed("n")
    wait_faults(nvim, {})
    nvim:feed("<Esc>u")
    nvim:feed("<C-r>")
    nvim:wait("vim.api.nvim_get_mode().mode == 'n'")
    wait_faults(nvim, {})
  end)
end)
