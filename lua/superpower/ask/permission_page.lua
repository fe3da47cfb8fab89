--- What the window of a permission shows: who asks for what, all of it, and what a yes would cover. Pure.
local edit_diff = require("superpower.ask.edit_diff")
local text = require("superpower.base.text")
local runs = require("superpower.runs")
local run_text = require("superpower.ui.run_text")

local M = {}

---@param request superpower.Permission
---@return string?
local function who(request)
  local run = runs.get(request.root)
  local stage = run and run.run_id == request.run_id and run.stages[request.stage] or nil
  return stage and stage.actor and stage.actor ~= "" and stage.actor or nil
end

--- `spec-kit asks for Bash`.
---@param request superpower.Permission
---@param width integer
---@return string
function M.question(request, width)
  return text.cut(text.line(("%s asks for %s"):format(who(request) or "The agent", request.tool or "something")), width)
end

---@param request superpower.Permission
---@param width integer
---@return superpower.Line[]
function M.lines(request, width)
  local out = {} ---@type superpower.Line[]
  for _, line in ipairs(text.wrap(text.line(request.title or request.tool or "?"), width)) do
    table.insert(out, { { line, "SuperpowerHeading" } })
  end
  table.insert(out, { { "" } })
  local input = request.input
  if type(input) == "table" then
    input = edit_diff.shown(input)
    local names = vim.tbl_keys(input)
    table.sort(names)
    for _, name in ipairs(names) do
      local value = input[name]
      local shown = type(value) == "string" and value or vim.json.encode(value)
      table.insert(out, { { text.line(name), "SuperpowerNote" } })
      for _, line in ipairs(text.lines(shown)) do -- all of it: what is not shown cannot be agreed to
        table.insert(out, { { "  " .. line, name == "diff" and edit_diff.group(line) or nil } })
      end
    end
  elseif type(input) == "string" then
    for _, line in ipairs(text.lines(input)) do
      table.insert(out, { { line } })
    end
  end
  local function note(words)
    for _, line in ipairs(text.wrap(text.line(words), width)) do
      table.insert(out, { { line, "SuperpowerNote" } })
    end
  end
  table.insert(out, { { "" } })
  note(("r allows exactly this to %s, for the rest of this run."):format(who(request) or "this agent"))
  if request.rule and request.rule ~= "" then
    note(("R allows what its tool proposes, until this agent ends: %s"):format(request.rule))
  end
  if request.until_time then
    local words = ("It is denied at %s if you do not answer."):format(run_text.clock(request.until_time * 1000))
    note(words)
  end
  return out
end

return M
