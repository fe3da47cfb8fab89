--- Sees what other editors do with the runs of a project: the state directory is watched, and what changed is read anew.
--- Only while a run of theirs goes on is it looked at besides, since an editor that is killed changes no file. Otherwise no
--- timer runs; where nothing changes nothing happens.
local events = require("superpower.events")
local runs = require("superpower.runs")
local session = require("superpower.session")

local M = {}

local handles = {} ---@type table<string, uv.uv_fs_event_t>
local due = {} ---@type table<string, true>
local often = 2000 -- ms
local looked = 0
-- What is asked in turn must not stand before the user's verbs many times over: once, and "again" if need be.
local asking = {} ---@type table<string, "once"|"again">

--- Whether what the disk says of a project is none of our business: this editor drives there.
---@param root string
---@return boolean
local function driving(root)
  local known = runs.get(root)
  return vim.v.exiting ~= vim.NIL or (known ~= nil and known.ours and known.state == "running")
end

---@param root string
local function look(root)
  due[root] = nil
  if driving(root) then
    return
  elseif asking[root] then
    asking[root] = "again"
    return
  end
  asking[root] = "once"
  -- Asked, not called: somebody else's long run is read anew at each of its steps.
  session.ask("status", { root = root }, function(run)
    local again = asking[root] == "again"
    asking[root] = nil
    if again then
      vim.schedule(function()
        look(root)
      end)
    end
    if not run or driving(root) then
      return
    end
    local known = runs.get(root)
    local died = known and known.run_id == run.run_id and known.state == "running" and run.reason == "interrupted"
    runs.put(run)
    events.tell({ type = "run-seen", root = root, run = run, died = died or false })
  end)
end

--- Whether those who drive are alive still.
local function tick()
  if runs.now() - looked < often then
    return
  end
  looked = runs.now()
  for root, run in pairs(runs.all()) do
    if run.state == "running" and not run.ours then
      look(root)
    end
  end
end

--- Watches a project, if it has a state directory.
---@param root string
function M.start(root)
  local path = vim.fs.joinpath(root, ".claude/state")
  if handles[root] or not vim.uv.fs_stat(path) then
    return
  end
  local handle = vim.uv.new_fs_event()
  if not handle then
    return
  end
  handles[root] = handle
  runs.listen("watch", function(what)
    if what == "tick" then
      tick()
    end
  end)
  handle:start(path, {}, function(err)
    if err then
      handle:close()
      handles[root] = nil
    elseif not due[root] then
      due[root] = true
      vim.schedule(function()
        vim.defer_fn(function()
          look(root)
        end, 150)
      end)
    end
  end)
  handle:unref()
end

return M
