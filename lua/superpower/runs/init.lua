--- What this editor knows of runs: the newest snapshot of each project, its log lines, and which project's run it
--- drives or shows. Everything that shows a run listens here. One timer ticks while a run is active.
local text = require("superpower.base.text")
local notify = require("superpower.notify")

local M = {}

---@alias superpower.RunEvent "snapshot"|"log"|"tick"
---@alias superpower.Listener fun(what: superpower.RunEvent, root: string?)

local max_log_lines = 5000

local snapshots = {} ---@type table<string, superpower.Snapshot>
local logs = {} ---@type table<string, string[]>
local listeners = {} ---@type table<string, superpower.Listener>
local shown ---@type string? the root whose run this editor drives or shows
local timer ---@type uv.uv_timer_t?

---@param what superpower.RunEvent
---@param root string?
local function notify_listeners(what, root)
  for _, listener in pairs(listeners) do
    listener(what, root)
  end
end

---@return boolean
local function any_running()
  for _, run in pairs(snapshots) do
    if run.state == "running" then
      return true
    end
  end
  return false
end

local function update_timer()
  if any_running() and not notify.headless() then
    if not timer then
      timer = assert(vim.uv.new_timer())
      timer:start(
        100,
        100,
        vim.schedule_wrap(function()
          if timer and vim.v.exiting == vim.NIL then
            notify_listeners("tick")
          end
        end)
      )
    end
  elseif timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

--- Whether the timer is active.
---@return boolean
function M.ticking()
  return timer ~= nil
end

--- Registers a listener under a name; it replaces an earlier listener of the same name.
---@param name string
---@param listener superpower.Listener?
function M.listen(name, listener)
  listeners[name] = listener
end

--- Returns the time in milliseconds since the epoch.
---@return integer
function M.now()
  local seconds, micros = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(micros / 1000)
end

---@param run superpower.Snapshot
function M.put(run)
  run.received = M.now()
  run.superpower = text.line(run.superpower) -- the name comes from a file of the project
  snapshots[run.root] = run
  if run.ours or not shown then
    shown = run.root
  end
  update_timer()
  notify_listeners("snapshot", run.root)
end

--- Shows a run again that was changed here.
---@param root string
function M.redraw(root)
  notify_listeners("snapshot", root)
end

---@param root string
function M.forget(root)
  snapshots[root] = nil
  if shown == root then
    shown = nil
  end
  update_timer()
  notify_listeners("snapshot", root)
end

--- Makes a project's run the default of verbs without a name.
---@param root string
function M.show(root)
  shown = root
end

---@param root string?
---@return superpower.Snapshot?
function M.get(root)
  root = root or shown
  return root and snapshots[root] or nil
end

--- Returns the root of the run that this editor drives or shows.
---@return string?
function M.root()
  return shown
end

--- Returns the root of a known run, by its id or the start of it.
---@param run_id string
---@return string?
function M.root_of(run_id)
  for root, run in pairs(snapshots) do
    if vim.startswith(run.run_id, run_id) then
      return root
    end
  end
end

---@return table<string, superpower.Snapshot>
function M.all()
  return snapshots
end

--- Whether this editor drives a run, in any project.
---@return boolean
function M.driving()
  for _, run in pairs(snapshots) do
    if run.ours and run.state == "running" then
      return true
    end
  end
  return false
end

---@param root string
---@param line string
function M.append(root, line)
  local lines = logs[root] or {}
  logs[root] = lines
  table.insert(lines, line)
  if #lines > max_log_lines then
    logs[root] = vim.list_slice(lines, #lines - max_log_lines / 2)
  end
  notify_listeners("log", root)
end

---@param root string
---@return string[]
function M.log(root)
  return logs[root] or {}
end

return M
