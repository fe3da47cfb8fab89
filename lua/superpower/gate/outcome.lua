--- What became of a gate, in words.
local session = require("superpower.session")

local M = {}

local words = { approve = "approved", changes = "changes requested", reject = "rejected" }

--- Of one that another editor has decided.
---@param event { decision: string, comment?: string, by?: string }
---@return string
function M.decided(event)
  local line = ("%s by %s"):format(words[event.decision] or event.decision, event.by or "someone else")
  if event.comment and event.comment ~= "" then
    line = line .. ": " .. event.comment
  end
  return "Decided elsewhere: " .. line
end

--- Of a window's gate, read from the run's own record.
---@param gate superpower.GateRef
---@param run superpower.Snapshot? the window's run, if it is there still
---@param told fun(words: string)
function M.became(gate, run, told)
  if not run then
    return told("This gate no longer waits: its run is gone")
  end
  session.ask("why", { root = run.root, run_id = run.run_id, stage = gate.stage }, function(why)
    for _, line in ipairs(why and why.lines or {}) do
      local decision = line:match(("^%%s*visit %d: (.+)$"):format(gate.visit))
      if decision then
        return told("Decided elsewhere: " .. decision)
      end
    end
    local state = run.state == "running" and "the run goes on" or (run.summary or run.detail or run.state)
    told("This gate no longer waits: " .. state)
  end)
end

return M
