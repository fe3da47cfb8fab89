--- Finds the newest snapshot of a run, and whether it still waits at a gate. The run need not be its project's current
--- one. Then the engine is asked, and only once at a time, since each snapshot of the current run asks again.
local runs = require("superpower.runs")
local session = require("superpower.session")

local M = {}

local asking = {} ---@type table<string, fun(run: superpower.Snapshot?)[]> by run: the callbacks that wait for the answer

--- Returns a key that identifies one visit of a gate.
---@param run_id string
---@param gate string
---@return string
function M.key(run_id, gate)
  return run_id .. "/" .. gate
end

---@param root string
---@param run_id string
---@param found fun(run: superpower.Snapshot?) called at once if the run is known
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

--- Passes the run on if it still waits at that gate, else nil.
---@param run { root: string, run_id: string, gate: { id: string } }
---@param found fun(run: superpower.Snapshot?)
function M.still(run, found)
  M.of(run.root, run.run_id, function(now)
    local same = now and now.gate and M.key(now.run_id, now.gate.id) == M.key(run.run_id, run.gate.id)
    found(same and now or nil)
  end)
end

return M
