--- The run that a verb acts on: the one that it names, else the one that this editor drives or shows, else the project's.
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local watch = require("superpower.runs.watch")
local session = require("superpower.session")

local M = {}

--- The root that a verb acts on: of the run that it names, where that is known here; else of the run that this editor
--- drives or shows, else of the buffer.
---@param run_id? string
---@return string? root, superpower.Fault? err
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

--- The newest state of a project's run, asked from the engine and remembered. Of a run that is named it is only asked: it
--- need not be the one that the project is at.
---@param root string
---@param run_id? string
---@return superpower.Snapshot? run, superpower.Fault? err
function M.status(root, run_id)
  local run, err = session.call("status", { root = root, run_id = run_id })
  if err or run == nil or run == vim.NIL then
    return nil, err
  elseif run_id then
    return run
  end
  runs.put(run)
  if not notify.headless() then
    watch.start(root)
  end
  return run
end

return M
