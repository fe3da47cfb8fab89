--- The bang: a verb without a user interface. It blocks until the run next pauses or ends, writes the log's lines whole to
--- standard output and everything else whole to standard error, asks nothing, and quits with a code that a script can read.
local M = {}

--- What the engine would ask, and the answers that can be given beforehand.
local answers = {
  ["declaration-changed"] = "answer=old or answer=new",
  ["declaration-unusable"] = "answer=old",
  ["files-changed"] = "answer=go-on or answer=look-again",
}

--- Faults that are not a refusal of what was asked.
local broken = {
  ["library-missing"] = true,
  ["library-broken"] = true,
  ["protocol-mismatch"] = true,
  panic = true,
  stopped = true,
}

---@param message string
local function say(message)
  io.stderr:write("superpower: " .. message .. "\n")
  io.stderr:flush()
end

--- Checkpoints are tried once more; what stays unwritten, and everything else that waits, is said before.
---@param code integer
local function quit(code)
  local stopped = require("superpower.session").call("stop", {})
  require("superpower.engine").drain()
  for _, line in ipairs(stopped and stopped.unwritten or {}) do
    say(require("superpower.ui.text").line(line))
  end
  io.stdout:flush()
  vim.cmd("cquit " .. code)
end

--- The exit code of a run that no longer runs.
---@param verb string
---@param run { state: string, reason?: string }
---@return integer
function M.code(verb, run)
  if run.state == "complete" then
    return 0
  elseif run.state == "rejected" then
    return verb == "reject" and 0 or 1
  elseif run.state == "cancelled" then
    return verb == "cancel" and 0 or 1
  elseif run.state == "paused" and run.reason == "gate" then
    return 3
  elseif run.state == "paused" and run.reason == "user" and verb == "pause" then
    return 0
  end
  return 1
end

--- The exit code of a refusal. Only resuming a run that is over is no mistake: for any other verb nothing waits.
---@param verb string
---@param err superpower.Fault
---@param state string? how the run that it is about has ended
---@return integer
function M.refusal(verb, err, state)
  if err.code == "finished" and verb == "resume" then
    return state == "complete" and 0 or 1
  end
  return broken[err.code] and 1 or 2
end

--- CTRL-C: the run is stopped as on leaving the editor, so that its record says that it is paused.
local function interrupt()
  require("superpower.session").call("stop", { grace_ms = 1000 })
  -- The lines that it still has to say. Not by vim.wait: where an interruption is pending, it returns at once.
  for _ = 1, 10 do
    require("superpower.engine").drain()
    vim.uv.sleep(20)
  end
end

---@param verb string
---@param root string
---@param run_id string
---@return integer
local function wait(verb, root, run_id)
  local session = require("superpower.session")
  local ended ---@type { state: string, reason?: string }?
  require("superpower.events").tap("headless-end", function(event)
    if event.run_id == run_id and event.type == "run-paused" then
      ended = { state = "paused", reason = event.reason }
    elseif event.run_id == run_id and event.type == "run-finished" then
      ended = { state = event.state }
    end
  end)
  local stopped = false
  local signal = vim.uv.new_signal() -- without one CTRL-C would end the editor before it could stop the run
  if signal then
    signal:start("sigint", function()
      stopped = true
    end)
  end
  local asked = vim.uv.now()
  while not ended do
    local _, why = vim.wait(250, function()
      return ended ~= nil or stopped
    end, 10)
    if (stopped or why == -2) and not ended then
      interrupt()
      return 1
    end
    if not ended and vim.uv.now() - asked > 500 then
      asked = vim.uv.now()
      local run = session.status(root)
      if run and run.run_id == run_id and run.state ~= "running" then
        ended = { state = run.state, reason = run.reason }
      end
    end
  end
  -- What was queued behind the end still belongs to it.
  vim.wait(30, function()
    return false
  end, 10)
  local run = session.status(root)
  if run and run.run_id == run_id and run.state ~= "running" then
    ended = run
  end
  if ended.state == "paused" and ended.reason ~= "gate" and run and run.detail and run.detail ~= "" then
    say(require("superpower.ui.text").line(run.detail))
  end
  return M.code(verb, ended)
end

--- Performs a verb and quits.
---@param verb string
---@param op string
---@param fields table<string, any>
function M.drive(verb, op, fields)
  local session = require("superpower.session")
  require("superpower.events").tap("headless", function(event)
    if event.type == "log" then
      io.stdout:write(event.line .. "\n")
      io.stdout:flush()
    end
  end)
  local err
  if not fields.root then
    fields.root, err = session.project()
  end
  local value
  if not err then
    value, err = session.call(op, fields)
  end
  if err then
    local how = answers[err.code]
    local words = require("superpower.faults").text(err)
    if err.code == "untrusted" and verb ~= "run" then
      words = words:gsub(":Superpower run %S+", ":Superpower resume")
    end
    say(words .. (how and "\n  " .. how or ""))
    local state = err.data and err.data.state
    if err.code == "finished" and not state then
      local run = session.status(fields.root)
      state = run and run.state
    end
    return quit(M.refusal(verb, err, state))
  end
  quit(wait(verb, fields.root, value.run_id))
end

return M
