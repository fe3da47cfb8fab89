--- Watches what other editors do with the runs of a project: when the state directory changes, the run is read again.
--- A run that another editor drives is also polled, since an editor that is killed changes no file. Otherwise no timer
--- is active.
local events = require("superpower.events")
local runs = require("superpower.runs")
local session = require("superpower.session")

local M = {}

local handles = {} ---@type table<string, uv.uv_fs_event_t>
local due = {} ---@type table<string, true>
local poll_interval = 2000 -- ms
local last_poll = 0
-- At most one question per project is queued, so that these do not delay the user's verbs; "again" asks once more
-- after the answer.
local asking = {} ---@type table<string, "once"|"again">

--- Whether this editor drives the project's run: it then knows more than the disk.
---@param root string
---@return boolean
local function driving(root)
  local known = runs.get(root)
  return vim.v.exiting ~= vim.NIL or (known ~= nil and known.ours and known.state == "running")
end

--- Reads the project's run again, unless it is driven by this editor or its driver.
---@param root string
function M.look(root)
  due[root] = nil
  if driving(root) then
    return
  elseif asking[root] then
    asking[root] = "again"
    return
  end
  asking[root] = "once"
  -- Asked, not called: reading another editor's long run at each of its steps would block the main loop.
  session.ask("status", { root = root }, function(run)
    local again = asking[root] == "again"
    asking[root] = nil
    if again then
      vim.schedule(function()
        M.look(root)
      end)
    end
    if not run or driving(root) then
      return
    end
    local known = runs.get(root)
    local died = known and known.run_id == run.run_id and known.state == "running" and run.reason == "interrupted"
    runs.put(run)
    events.emit({ type = "run-seen", root = root, run = run, died = died or false })
  end)
end

--- Polls the runs that other editors drive, to see whether their editors are still alive.
local function tick()
  if runs.now() - last_poll < poll_interval then
    return
  end
  last_poll = runs.now()
  for root, run in pairs(runs.all()) do
    if run.state == "running" and not run.ours then
      M.look(root)
    end
  end
end

--- Watches a project that has a state directory.
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
          M.look(root)
        end, 150)
      end)
    end
  end)
  handle:unref()
end

return M
