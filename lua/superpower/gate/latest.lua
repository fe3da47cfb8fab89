--- The newest of a run, and whether it waits at a gate still. It need not be the run that its project is at now: then the
--- engine is asked, once at a time, since each snapshot of the other run asks again.
local runs = require("superpower.runs")
local session = require("superpower.session")

local M = {}

local asking = {} ---@type table<string, fun(run: superpower.Snapshot?)[]> by run, who waits for the answer

--- What tells one gate's visit from every other.
---@param run_id string
---@param gate string
---@return string
function M.key(run_id, gate)
  return run_id .. "/" .. gate
end

---@param root string
---@param run_id string
---@param found fun(run: superpower.Snapshot?) called at once where it is known
function M.of(root, run_id, found)
  local now = runs.get(root)
  if now and now.run_id == run_id then
    return found(now)
  elseif asking[run_id] then
    return table.insert(asking[run_id], found)
  end
  asking[run_id] = { found }
  session.ask("status", { root = root, run_id = run_id }, function(run)
    local waiting = asking[run_id]
    asking[run_id] = nil
    for _, one in ipairs(waiting) do
      one(run ~= vim.NIL and run or nil)
    end
  end)
end

--- The run again, if it waits at that gate still.
---@param run { root: string, run_id: string, gate: { id: string } }
---@param found fun(run: superpower.Snapshot?)
function M.still(run, found)
  M.of(run.root, run.run_id, function(now)
    local same = now and now.gate and M.key(now.run_id, now.gate.id) == M.key(run.run_id, run.gate.id)
    found(same and now or nil)
  end)
end

return M
