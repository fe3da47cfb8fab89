--- What waits for the human, whatever it is: a permission, a stage done by hand, a question, else the gate.
local M = {}

--- Opens it: of the run that is named, else of the one that this editor drives or shows, and permissions of any.
---@param run_id? string
function M.open(run_id)
  local permission, notify = require("superpower.permission"), require("superpower.notify")
  local current = require("superpower.runs.current")
  if not run_id and permission.open() then
    return
  end
  local root, err = current.root(run_id)
  if not root then
    return notify.fault(assert(err))
  end
  if run_id then
    local run, fault = current.status(root, run_id)
    if not run then
      return fault and notify.fault(fault)
    end
    run_id = run.run_id
    if permission.open({ run_id = run_id }) then
      return
    end
  end
  if not require("superpower.manual").open(root, run_id) then
    require("superpower.gate").open(root, { run_id = run_id })
  end
end

return M
