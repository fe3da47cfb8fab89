--- Shows why a stage is what it is, as the engine explains it.
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local session = require("superpower.session")
local page = require("superpower.ui.page")

local M = {}

---@param lines string[]
---@return superpower.Line[]
function M.lines(lines)
  local out = {}
  for index, line in ipairs(lines) do
    local inner = line:match("^%s") ~= nil
    local group = index == 1 and "SuperpowerHeading" or (inner and "SuperpowerNote" or nil)
    table.insert(out, { { text.line(line), group } })
  end
  return out
end

---@param root string
---@param stage integer?
---@param run_id string?
---@param over superpower.Page?
function M.open(root, stage, run_id, over)
  session.ask("why", { root = root, stage = stage, run_id = run_id }, function(value, fault)
    if fault then
      return notify.engine_error(fault)
    end
    page.open({
      title = value.stage and ("Why stage %d"):format(value.stage) or "Why",
      filetype = "superpower-why",
      lines = M.lines(value.lines or {}),
      wrap = true,
      over = over,
    })
  end)
end

return M
