--- What waits for the human, whatever it is: a permission, a stage done by hand, a question, else the gate.
local manual = require("superpower.ask.manual")
local permission = require("superpower.ask.permission")
local gate = require("superpower.gate")
local notify = require("superpower.notify")
local current = require("superpower.runs.current")

local M = {}

--- Opens it: of the run that is named, else of the one that this editor drives or shows, and permissions of any.
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
