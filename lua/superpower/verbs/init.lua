--- The verbs, for the command and the Lua API. Each verb asks what it has to, acts, and calls back with `(err,
--- value)`.
local buffers = require("superpower.editor.buffers")
local events = require("superpower.events")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local current = require("superpower.runs.current")
local session = require("superpower.session")
local flow = require("superpower.verbs.flow")

local M = {}

---@param callback superpower.Callback?
---@return superpower.Callback
local function or_report(callback)
  return callback or function(err)
    if err then
      notify.engine_error(err)
    end
  end
end

--- Wraps the callback of a verb that drives: the run becomes this editor's, and an event reports it to the windows.
---@param root string
---@param callback superpower.Callback
---@return superpower.Callback
local function then_show(root, callback)
  return function(err, value)
    if err then
      return callback(err, value)
    end
    runs.show(root)
    callback(nil, value)
    current.ask(root, nil, function(run)
      if run then
        events.emit({ type = "verb-drives", root = root })
      end
    end)
  end
end

---@class superpower.Named
---@field run_id? string the run, by its id or the start of it; default: the run that verbs without a name act on
---@field root? string
---@field how? "key"|"command"|"lua" by what; a call unless it is said

--- Returns the given root, or the one that the verb acts on.
---@param opts superpower.Named
---@param callback superpower.Callback
---@return string?
local function at(opts, callback)
  local root, err = opts.root, nil
  if not root then
    root, err = current.root(opts.run_id)
  end
  if not root then
    callback(err, nil)
  end
  return root
end

---@param name string
---@param opts? { inputs?: table<string, any>, harness?: string, root?: string }
---@param callback? superpower.Callback
function M.run(name, opts, callback)
  opts = opts or {}
  local done = or_report(callback)
  local root, err = opts.root, nil
  if not root then
    root, err = session.project()
  end
  if not root then
    return done(err, nil)
  end
  buffers.ask_unsaved(root, function(continue)
    if not continue then
      return done({ code = "given-up", message = "nothing was started" })
    end
    local inputs = {}
    for key, value in pairs(opts.inputs or {}) do
      inputs[key] = value
    end
    flow.call("run", {
      root = root,
      name = name,
      inputs = inputs,
      harness = opts.harness,
    }, then_show(root, done))
  end)
end

---@param which string?
---@param opts? { root?: string, run_id?: string, answer?: string, inputs?: table<string, any>, how?: string }
---@param callback? superpower.Callback
function M.resume(which, opts, callback)
  opts = opts or {}
  local done = or_report(callback)
  local root = at(opts, done)
  if not root then
    return
  end
  buffers.ask_unsaved(root, function(continue)
    if not continue then
      return done({ code = "given-up", message = "nothing was started" })
    end
    flow.call(
      "resume",
      {
        root = root,
        which = which,
        run_id = opts.run_id,
        answer = opts.answer,
        inputs = opts.inputs,
        how = opts.how,
      },
      then_show(root, function(err, value)
        done(err, value)
        if not err then
          local event = { type = "verb-resumed", root = root, run_id = value.run_id, state = value.state }
          event.others = value.others
          events.emit(event)
        end
      end)
    )
  end)
end

---@param op string
---@param fields table
---@param callback? superpower.Callback
---@param shows? boolean
local function plain(op, fields, callback, shows)
  local done = or_report(callback)
  local root = at(fields, done)
  if root then
    fields.root = root
    flow.call(op, fields, shows and then_show(root, done) or done)
  end
end

---@param opts? superpower.Named
---@param callback? superpower.Callback
function M.pause(opts, callback)
  opts = opts or {}
  plain("pause", { root = opts.root, run_id = opts.run_id }, callback)
end

---@param opts? superpower.Named
---@param callback? superpower.Callback
function M.cancel(opts, callback)
  opts = opts or {}
  plain("cancel", { root = opts.root, run_id = opts.run_id, how = opts.how }, callback)
end

---@param opts? { comment?: string, root?: string, run_id?: string, how?: string }
---@param callback? superpower.Callback
function M.retry(opts, callback)
  opts = opts or {}
  local comment = opts.comment ~= "" and opts.comment or nil
  plain("retry", { comment = comment, root = opts.root, run_id = opts.run_id, how = opts.how }, callback, true)
end

---@param opts? superpower.Named
---@param callback? superpower.Callback
function M.skip(opts, callback)
  opts = opts or {}
  plain("skip", { root = opts.root, run_id = opts.run_id, how = opts.how }, callback, true)
end

---@class superpower.Decide
---@field decision "approve"|"changes"|"reject"
---@field comment? string
---@field run_id? string
---@field gate? string
---@field review? string the list of changes that it is for; the newest one where none is named
---@field look? integer the number by which the look at the files is given up
---@field trust? string the digest of what the gate showed as changed since it was trusted
---@field answer? string
---@field root? string
---@field how? "key"|"command"|"lua" by what; a call unless it is said

---@param opts superpower.Decide
---@param callback? superpower.Callback
function M.decide(opts, callback)
  plain("decide", {
    root = opts.root,
    decision = opts.decision,
    comment = opts.comment ~= "" and opts.comment or nil,
    run_id = opts.run_id,
    gate = opts.gate,
    review = opts.review,
    look = opts.look,
    trust = opts.decision == "approve" and opts.trust or nil,
    answer = opts.answer,
    how = opts.how,
  }, callback, true)
end

--- Ends the process that drives a project's runs.
---@param root string
function M.end_driver(root)
  session.ask("driver-end", { root = root }, function(value, err)
    if err then
      return notify.engine_error(err)
    end
    local ended = value.ended
    notify.info(
      ended and ("ended the driver (process %d)"):format(ended.pid) or "no process drives this project's runs"
    )
  end)
end

return M
