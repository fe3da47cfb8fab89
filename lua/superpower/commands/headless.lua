--- The bang: a verb without a user interface. It blocks until the run pauses or ends, writes the log's lines to
--- standard output and everything else to standard error, in whole lines, asks nothing, and quits with an exit code
--- for scripts.
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local status_code = require("superpower.commands.status_code")
local unattended = require("superpower.commands.unattended")
local engine = require("superpower.engine")
local events = require("superpower.events")
local notify = require("superpower.notify")
local current = require("superpower.runs.current")
local session = require("superpower.session")

local M = {}

--- The answers that can be given in advance, by the question that the engine would ask.
local answers = {
  ["changed-again"] = "answer=go-on",
  ["damaged-journal"] = "answer=repair",
  ["declaration-changed"] = "answer=old or answer=new",
  ["declaration-unusable"] = "answer=old",
  ["files-changed"] = "answer=go-on or answer=look-again",
  ["foreign-run"] = "answer=adopt",
}

local write_error ---@type string? why standard output could not be written

---@param text_of_lines string
local function write(text_of_lines)
  local fine, why = io.stdout:write(text_of_lines)
  if fine then
    fine, why = io.stdout:flush()
  end
  if not fine then
    write_error = write_error or why or "?"
  end
end

---@param line string
local function print_line(line)
  write(line .. "\n")
end

---@param words string
local function say(words)
  notify.stderr(words)
end

--- Handles the events that the engine has queued.
local function drain()
  for _ = 1, 100 do
    if engine.drain() == 0 then
      return
    end
  end
end

--- Stops the engine, which tries to write its checkpoints once more. Reports what stays unwritten, after everything
--- else.
local function stop()
  local stopped = session.call("stop", {})
  drain()
  for _, line in ipairs(stopped and stopped.unwritten or {}) do
    say(line)
  end
end

--- Ends the editor, after the queued events are printed. Lost lines and internal errors give exit code 1.
---@param code integer
local function quit(code)
  if not (pcall(unattended.done) and pcall(stop)) then
    notify.failed = true
  end
  if write_error then
    say("lines were lost: standard output cannot be written: " .. write_error)
  end
  if notify.failed or write_error then
    code = 1
  end
  pcall(vim.cmd, "cquit " .. code)
  os.exit(code)
end

--- Reports why nothing was done, and ends the editor.
---@param words string
---@param code? integer
function M.refuse(words, code)
  say(words)
  quit(code or 2)
end

--- Passes on what the program has printed, and ends the editor with its exit code.
---@param done vim.SystemCompleted
function M.pass_on(done)
  pcall(drain) -- print earlier events first
  write(done.stdout or "")
  io.stderr:write(done.stderr or "")
  quit(done.code)
end

--- Handles an internal error in a bang verb: reports one line and ends the editor. The trace goes to the log, if there
--- is one.
---@param trace string
function M.internal_error(trace)
  local said = notify.failed -- an earlier error, which may well be the cause
  notify.failed = true
  pcall(drain)
  if not said then
    say("internal error: " .. (trace:match("[^\n]+") or "?"))
  end
  local fine, info = pcall(engine.info) -- it may be what failed
  local log = fine and info and io.open(info.log, "a")
  if log then
    log:write(os.date("!%Y-%m-%dT%H:%M:%SZ "), trace, "\n")
    log:close()
  end
  quit(1)
end

--- Handles CTRL-C: stops the run as leaving the editor does, so that its record says that it is paused.
local function interrupt()
  session.call("stop", { grace_ms = 1000 })
  -- Print the remaining lines. Not with vim.wait: it returns at once while an interrupt is pending.
  for _ = 1, 10 do
    engine.drain()
    vim.uv.sleep(20)
  end
end

local waited ---@type string? the run that the verb waits for
local ended ---@type { state: string, reason?: string, detail?: string }? how it stopped

--- Records how the run ends, before the user's callbacks run, which may do anything.
---@param event table
local function note_end(event)
  if event.run_id == waited and event.type == "run-paused" then
    ended = { state = "paused", reason = event.reason, detail = event.detail }
  elseif event.run_id == waited and event.type == "run-finished" then
    ended = { state = event.state }
  end
end

--- Rewrites the hint of a pause at a gate: `resume` does not pass a gate, so the verbs that decide it are named.
---@param line string
---@return string
local function decidable(line)
  local head = line:match("^(.*PAUSED) — resume with: ")
  return head and head .. " — decide with: approve, changes or reject" or line
end

--- Handles a callback that quits the editor: stops the run as leaving the editor does, and prints the remaining lines.
---@param verb string
---@return integer code
local function on_quit(verb)
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
    return status_code.stopped(verb, ended)
  end
  local who = vim.v.dying > 0 and "a signal ended" or "a callback quit"
  io.stderr:write(("superpower: %s the editor before the run stopped: resume it\n"):format(who))
  return 1
end

--- Waits until a run pauses or ends, and returns how. It asks about that run by its id, since another one may become
--- current.
---@param root string
---@param run_id string
---@return { state: string, reason?: string, detail?: string }? ended nil: it was interrupted by CTRL-C
local function wait(root, run_id)
  local stopped = false
  local signal = vim.uv.new_signal() -- otherwise CTRL-C would end the editor before it can stop the run
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
      if err or not run then -- its state can no longer be read
        say(err and errors.text(err) or "the run is no longer there")
        return { state = "paused", reason = "interrupted" }
      elseif run.state ~= "running" then
        ended = run
      end
    end
  end
  -- Events that were queued after the end still belong to the run.
  vim.wait(30, function()
    unattended.turn()
    return false
  end, 10)
  return ended
end

---@param event table
local function on_event(event)
  if event.type == "log" then
    print_line(text.line(decidable(event.line)))
  end
end

---@param verb string
---@param err superpower.Error
local function refused(verb, err)
  local how = answers[err.code]
  local words = errors.text(err)
  pcall(drain) -- print earlier events first
  say(words .. (how and "\n  " .. how or ""))
  return quit(status_code.refused(verb, err))
end

--- Performs a verb and quits.
---@param verb string
---@param op string
---@param fields table<string, any>
function M.drive(verb, op, fields)
  events.tap("headless", on_event)
  events.on("run-paused", note_end)
  events.on("run-finished", note_end)
  unattended.watch(function()
    return on_quit(verb)
  end)
  local value, err
  if not fields.root then
    fields.root, err = session.project()
  end
  if op ~= "run" then
    fields.only = true -- refuse if several runs fit, since no run was shown
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
  if not value.run_id then -- another tool's run was cancelled, which has no id
    return quit(0)
  end
  waited = value.run_id
  local ending = wait(fields.root, waited)
  if ending and ending.state == "paused" and ending.reason ~= "gate" and (ending.detail or "") ~= "" then
    say(text.line(ending.detail))
  end
  quit(ending and status_code.stopped(verb, ending) or 1)
end

return M
