--- Opens what waits for the user: a permission, a manual stage, a question, or the gate.
local manual = require("superpower.ask.manual")
local permission = require("superpower.ask.permission")
local gate = require("superpower.gate")
local notify = require("superpower.notify")
local current = require("superpower.runs.current")

local M = {}

--- Opens what waits in the named run, else in the one that this editor drives or shows. Without a name, permissions of
--- every run count.
---@param run_id? string
function M.open(run_id)
  if not run_id and permission.open() then
    return
  end
  local root, err = current.root(run_id)
  if not root then
    return notify.engine_error(assert(err))
  end
  if not run_id then
    return manual.open(root) or gate.open(root)
  end
  current.ask(root, run_id, function(run, fault)
    if not run then
      return fault and notify.engine_error(fault)
    end
    local id = run.run_id
    if not permission.open({ run_id = id }) and not manual.open(root, id) then
      gate.open(root, { run_id = id })
    end
  end)
end

return M
