--- Describes how a gate was decided.
local session = require("superpower.session")

local M = {}

local words = { approve = "approved", changes = "changes requested", reject = "rejected" }

--- Describes a decision: what, by whom, and how.
---@param event { decision: string, comment?: string, by?: string, how?: string }
---@return string
function M.decided(event)
  local line = ("%s by %s"):format(words[event.decision] or event.decision, event.by or "someone else")
  if event.how and event.how ~= "" then
    line = ("%s (%s)"):format(line, event.how)
  end
  if event.comment and event.comment ~= "" then
    line = line .. ": " .. event.comment
  end
  return line
end

--- Describes the gate of a window, from the run's own record.
---@param gate superpower.GateRef
---@param run superpower.Snapshot? the window's run, if it still exists
---@param done fun(words: string)
function M.describe(gate, run, done)
  if not run then
    return done("This gate no longer waits: its run no longer exists")
  end
  session.ask("why", { root = run.root, run_id = run.run_id, stage = gate.stage }, function(why)
    for _, line in ipairs(why and why.lines or {}) do
      local decision = line:match(("^%%s*visit %d: (.+)$"):format(gate.visit))
      if decision then
        return done("Decided elsewhere: " .. decision)
      end
    end
    local state = run.state == "running" and "the run continues" or (run.summary or run.detail or run.state)
    done("This gate no longer waits: " .. state)
  end)
end

return M
