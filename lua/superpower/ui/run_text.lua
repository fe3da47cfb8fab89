--- Describes a run in a few words: its state, time, tokens and cost.
local text = require("superpower.base.text")

local M = {}

--- Formats tokens and cost: `41.2k tokens · $0.38`. An unknown value is left out, not shown as zero.
---@param run superpower.Snapshot
---@return string
function M.usage(run)
  local usage, parts = run.usage or {}, {}
  if usage.tokens then
    local count = usage.tokens
    local shown = count < 1000 and tostring(count)
      or (count < 1000000 and ("%.1fk"):format(count / 1000) or ("%.1fM"):format(count / 1000000))
    table.insert(parts, shown .. " tokens")
  end
  if usage.cost then
    table.insert(parts, ("$%.2f"):format(usage.cost))
  end
  return table.concat(parts, " · ")
end

--- Whether the active stage is a manual one.
---@param run superpower.Snapshot
---@return boolean
function M.is_manual(run)
  local stage = run.state == "running" and run.stages[run.current_stage]
  return stage and stage.mark == "by-hand" or false
end

--- Returns what `:Superpower gate` opens for this run.
---@param run superpower.Snapshot
---@return "gate"|"answer"|"result"|nil
function M.waits_for(run)
  if M.is_manual(run) then
    return run.ours and "result" or nil
  elseif run.state == "paused" then
    return run.gate and "gate" or (run.reason == "needs-human" and "answer" or nil)
  end
end

--- Returns why a run is paused, in a word or two.
---@param reason string?
---@return string
function M.reason(reason)
  if reason == "needs-human" then
    return "asks you"
  end
  return reason ~= "user" and reason or "paused"
end

--- Returns that a run is paused, and why.
---@param reason string?
---@return string
function M.paused(reason)
  local why = M.reason(reason)
  return why == reason and "paused: " .. why or why
end

--- Formats a time of day, with its date if that is not today.
---@param ms integer since the epoch
---@param now? integer in seconds; default: the current time
---@return string
function M.clock(ms, now)
  local at = math.floor(ms / 1000)
  local today = os.date("%Y-%m-%d", at) == os.date("%Y-%m-%d", now)
  return os.date(today and "%H:%M" or "%Y-%m-%d %H:%M", at) --[[@as string]]
end

--- Returns the state in one or two words.
---@param run superpower.Snapshot
---@return string
function M.state(run)
  if run.silent then
    return "driver silent"
  elseif M.is_manual(run) then
    return run.pausing and "pausing" or "manual"
  elseif run.state == "paused" then
    return run.reason == "gate" and "gate" or M.paused(run.reason)
  elseif run.state == "running" and run.waiting_until then
    return "limited until " .. M.clock(run.waiting_until)
  elseif run.state == "running" and run.pausing then
    return "pausing"
  end
  return run.state
end

--- Returns the message about a gate that waits.
---@param run superpower.Snapshot
---@return string
function M.gate(run)
  local label = text.line(run.gate.label):gsub("[.?!]$", "%0 "):gsub("[^ ]$", "%0. ")
  return ("%s waits at gate %d/%d: %s:Superpower gate opens it"):format(
    run.superpower,
    run.gate.stage,
    run.total,
    label
  )
end

--- Returns how long the run has taken so far, in milliseconds.
---@param run superpower.Snapshot
---@param now integer
---@return integer
function M.elapsed(run, now)
  if not run.active_ms then
    return (run.ended_at or now) - run.started_at
  end
  return run.active_ms + (run.state == "running" and math.max(0, now - (run.received or now)) or 0)
end

return M
