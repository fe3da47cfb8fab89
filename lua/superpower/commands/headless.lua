--- The bang: a verb without a user interface. It blocks until the run next pauses or ends, writes the log's lines whole to
--- standard output and everything else whole to standard error, asks nothing, and quits with a code that a script can read.
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local unattended = require("superpower.commands.unattended")
local engine = require("superpower.engine")
local events = require("superpower.events")
local notify = require("superpower.notify")
local current = require("superpower.runs.current")
local session = require("superpower.session")

local M = {}

--- What the engine would ask, and the answers that can be given beforehand.
local answers = {
  ["damaged-journal"] = "answer=repair",
  ["declaration-changed"] = "answer=old or answer=new",
  ["declaration-unusable"] = "answer=old",
  ["files-changed"] = "answer=go-on or answer=look-again",
  ["foreign-run"] = "answer=adopt",
}

--- Faults that are not a refusal of what was asked.
local broken = {
  ["bad-argument"] = true,
  ["library-missing"] = true,
  ["library-broken"] = true,
  ["protocol-mismatch"] = true,
  panic = true,
  stopped = true,
}

local unwritten ---@type string? why standard output could not be written

---@param line string
local function print_line(line)
  local fine, why = io.stdout:write(line .. "\n")
  if fine then
    fine, why = io.stdout:flush()
  end
  if not fine then
    unwritten = unwritten or why or "?"
  end
end

---@param words string
local function say(words)
  notify.stderr(words)
end

--- Hands out what the engine has said until now.
local function settle()
  for _ = 1, 100 do
    if engine.drain() == 0 then
      return
    end
  end
end

--- Checkpoints are tried once more, and what stays unwritten is said, behind everything else that waits.
local function stop()
  local stopped = session.call("stop", {})
  settle()
  for _, line in ipairs(stopped and stopped.unwritten or {}) do
    say(line)
  end
end

--- Ends the editor. What the engine has said before is printed first; lines that were lost, and errors of ours, are a 1.
---@param code integer
local function quit(code)
  if not (pcall(unattended.done) and pcall(stop)) then
    notify.failed = true
  end
  if unwritten then
    say("lines were lost: standard output cannot be written: " .. unwritten)
  end
  if notify.failed or unwritten then
    code = 1
  end
  pcall(vim.cmd, "cquit " .. code)
  os.exit(code)
end

--- Says why nothing was done, and ends the editor.
---@param words string
function M.refuse(words)
  say(words)
  quit(2)
end

--- Something of ours has raised in a bang verb: one line, and the end. The trace goes to the log, where there is one.
---@param trace string
function M.fall(trace)
  notify.failed = true
  pcall(settle)
  say("an error of superpower.nvim itself: " .. (trace:match("[^\n]+") or "?"))
  local info = engine.info()
  local log = info and io.open(info.log, "a")
  if log then
    log:write(os.date("!%Y-%m-%dT%H:%M:%SZ "), trace, "\n")
    log:close()
  end
  quit(1)
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
  elseif run.state == "paused" and run.reason == "trust" then
    return 2
  elseif run.state == "paused" and run.reason == "user" and verb == "pause" then
    return 0
  end
  return 1
end

--- The exit code of a refusal. Only resuming a run that is over is no mistake: for any other verb nothing waits.
---@param verb string
---@param err superpower.Error
---@return integer
function M.refusal(verb, err)
  if err.code == "finished" and verb == "resume" then
    return err.data and err.data.state == "complete" and 0 or 1
  end
  return broken[err.code] and 1 or 2
end

--- CTRL-C: the run is stopped as on leaving the editor, so that its record says that it is paused.
local function interrupt()
  session.call("stop", { grace_ms = 1000 })
  -- The lines that it still has to say. Not by vim.wait: where an interruption is pending, it returns at once.
  for _ = 1, 10 do
    engine.drain()
    vim.uv.sleep(20)
  end
end

local waited ---@type string? the run that is waited for
local ended ---@type { state: string, reason?: string, detail?: string }? how it came to rest

--- Takes note of how the run ends. Before the user's own callbacks hear of it, which may do anything.
---@param event table
local function note_end(event)
  if event.run_id == waited and event.type == "run-paused" then
    ended = { state = "paused", reason = event.reason, detail = event.detail }
  elseif event.run_id == waited and event.type == "run-finished" then
    ended = { state = event.state }
  end
end

--- A gate is not passed by `resume`: what decides it is said instead.
---@param line string
---@return string
local function decidable(line)
  local head = line:match("^(.*PAUSED) — resume with: ")
  return head and head .. " — decide with: approve, changes or reject" or line
end

--- Somebody has told the editor to quit: the run is stopped as on leaving it, and what is left to say of it is said.
---@param verb string
---@return integer code
local function left(verb)
  local rest, unwritten_checkpoints = engine.rest()
  for _, event in ipairs(rest) do
    if event.type == "log" then
      print_line(decidable(event.line))
    end
    note_end(event)
  end
  for _, line in ipairs(unwritten_checkpoints) do
    io.stderr:write("superpower: " .. line .. "\n")
  end
  if ended and ended.reason ~= "interrupted" then
    return M.code(verb, ended)
  end
  io.stderr:write("superpower: a callback left the editor before the run came to rest: resume it\n")
  return 1
end

--- Waits until a run pauses or ends, and says how. Asked of that run by its id, never of the one that is current.
---@param root string
---@param run_id string
---@return { state: string, reason?: string, detail?: string }? ended nil: it was interrupted here
local function wait(root, run_id)
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
      unattended.turn()
      return ended ~= nil or stopped
    end, 10)
    if (stopped or why == -2) and not ended then
      interrupt()
      return nil
    end
    if not ended and vim.uv.now() - asked > 500 then
      asked = vim.uv.now()
      local run, err = current.status(root, run_id)
      if err then
        say(errors.text(err))
        return { state = "paused", reason = "interrupted" } -- nobody can tell any more
      elseif run and run.state ~= "running" then
        ended = run
      end
    end
  end
  -- What was queued behind the end still belongs to it.
  vim.wait(30, function()
    unattended.turn()
    return false
  end, 10)
  return ended
end

---@param event table
local function hear(event)
  if event.type == "log" then
    print_line(text.line(decidable(event.line)))
  end
end

---@param verb string
---@param err superpower.Error
local function refused(verb, err)
  local how = answers[err.code]
  local words = errors.text(err)
  pcall(settle) -- what the engine has said before comes before
  say(words .. (how and "\n  " .. how or ""))
  return quit(M.refusal(verb, err))
end

--- Performs a verb and quits.
---@param verb string
---@param op string
---@param fields table<string, any>
function M.drive(verb, op, fields)
  events.tap("headless", hear)
  events.on("run-paused", note_end)
  events.on("run-finished", note_end)
  unattended.watch(function()
    return left(verb)
  end)
  local value, err
  if not fields.root then
    fields.root, err = session.project()
  end
  if op ~= "run" then
    fields.only = true -- nobody here has seen which one is meant
  end
  if not err then
    value, err = session.call(op, fields)
  end
  if err then
    return refused(verb, err)
  end
  if (value.others or 0) > 0 then
    say(current.others(value.others))
  end
  waited = value.run_id
  local ending = wait(fields.root, waited)
  if ending and ending.state == "paused" and ending.reason ~= "gate" and (ending.detail or "") ~= "" then
    say(text.line(ending.detail))
  end
  quit(ending and M.code(verb, ending) or 1)
end

return M
