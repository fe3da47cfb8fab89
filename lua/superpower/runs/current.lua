--- Finds the run that a verb acts on: the one that it names, else the one that this editor drives or shows, else the
--- project's.
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local watch = require("superpower.runs.watch")
local session = require("superpower.session")

local M = {}

--- Returns the root that a verb acts on: the root of the named run if it is known here, else of the run that this
--- editor drives or shows, else of the buffer.
---@param run_id? string
---@return string? root, superpower.Error? err
function M.root(run_id)
  local known = run_id and runs.root_of(run_id)
  if known then
    return known
  end
  local shown = runs.get()
  if shown and (shown.state == "running" or shown.state == "paused") then
    return shown.root
  end
  local root, err = session.project()
  if not root and shown then
    return shown.root
  end
  return root, err
end

--- Stores the run of an answer, if it is the project's current run. A run that was asked for by id is only returned,
--- since the project may be at another one.
---@param root string
---@param run_id? string
---@param run any
---@return superpower.Snapshot?
local function store(root, run_id, run)
  if run == nil or run == vim.NIL then
    return nil
  elseif run_id then
    return run
  end
  runs.put(run)
  if not notify.headless() then
    watch.start(root)
  end
  return run
end

--- Returns the newest state of a run, and waits for it: a journal may have to be read. For scripts and headless use.
---@param root string
---@param run_id? string default: the project's run
---@return superpower.Snapshot? run, superpower.Error? err
function M.status(root, run_id)
  local run, err = session.call("status", { root = root, run_id = run_id })
  return not err and store(root, run_id, run) or nil, err
end

--- The same, without waiting.
---@param root string
---@param run_id? string default: the project's run
---@param callback fun(run: superpower.Snapshot?, err: superpower.Error?)
function M.ask(root, run_id, callback)
  local asked = runs.now()
  session.ask("status", { root = root, run_id = run_id }, function(run, err)
    local known = runs.get(root)
    local newer = run and known and known.ours and known.run_id == run.run_id and known.received > asked
    if err or newer then
      return callback(newer and known or nil, err)
    end
    callback(store(root, run_id, run))
  end)
end

--- Returns the message about other unfinished runs of a superpower.
---@param others integer
---@return string
function M.others(others)
  return ("%d other unfinished %s: :Superpower runs"):format(others, others == 1 and "run" or "runs")
end

return M
