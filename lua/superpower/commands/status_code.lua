--- The exit codes of the bang.
local M = {}

--- Errors that are not refusals of the verb.
local internal = {
  ["bad-argument"] = true,
  ["library-missing"] = true,
  ["library-broken"] = true,
  ["protocol-mismatch"] = true,
  panic = true,
  stopped = true,
}

--- Returns the exit code for a run that has stopped.
---@param verb string
---@param run { state: string, reason?: string }
---@return integer
function M.stopped(verb, run)
  if run.state == "complete" then
    return 0
  elseif run.state == "rejected" then
    return verb == "reject" and 0 or 1
  elseif run.state == "cancelled" then
    return verb == "cancel" and 0 or 1
  elseif run.state == "paused" and run.reason == "gate" then
    return 3
  elseif run.state == "paused" and run.reason == "trust" then
    return 2
  elseif run.state == "paused" and run.reason == "user" and verb == "pause" then
    return 0
  end
  return 1
end

--- Returns the exit code of a refusal. Resuming a finished run is not a mistake; for any other verb it is.
---@param verb string
---@param err superpower.Error
---@return integer
function M.refused(verb, err)
  if err.code == "finished" and verb == "resume" then
    return err.data and err.data.state == "complete" and 0 or 1
  end
  return internal[err.code] and 1 or 2
end

return M
