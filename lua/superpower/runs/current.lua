--- The run that a verb acts on: the one that it names, else the one that this editor drives or shows, else the project's.
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local watch = require("superpower.runs.watch")
local session = require("superpower.session")

local M = {}

--- The root that a verb acts on: of the run that it names, where that is known here; else of the run that this editor
--- drives or shows, else of the buffer.
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

--- What an answer tells of a run: that of the project is remembered. Of a run that is named it is only told: it need not be
--- the one that the project is at.
---@param root string
---@param run_id? string
---@param run any
---@return superpower.Snapshot?
local function taken(root, run_id, run)
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

--- The newest state of a run, waited for: a journal may be read for it. For scripts, and where nobody looks.
---@param root string
---@param run_id? string else that of the project
---@return superpower.Snapshot? run, superpower.Error? err
function M.status(root, run_id)
  local run, err = session.call("status", { root = root, run_id = run_id })
  return not err and taken(root, run_id, run) or nil, err
end

--- The same without waiting for it.
---@param root string
---@param run_id? string else that of the project
---@param callback fun(run: superpower.Snapshot?, err: superpower.Error?)
function M.ask(root, run_id, callback)
  local asked = runs.now()
  session.ask("status", { root = root, run_id = run_id }, function(run, err)
    local known = runs.get(root)
    local newer = run and known and known.ours and known.run_id == run.run_id and known.received > asked
    if err or newer then
      return callback(newer and known or nil, err)
    end
    callback(taken(root, run_id, run))
  end)
end

--- What is said of other unfinished runs of a superpower that was named.
---@param others integer
---@return string
function M.others(others)
  return ("%d other unfinished %s: :Superpower runs"):format(others, others == 1 and "run" or "runs")
end

return M
