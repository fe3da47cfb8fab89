--- The engine's events: each is handed to those who hear its type, then to the user's own `User` autocommands, then to
--- those who see all of them. What the windows of this editor tell each other comes the same way.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local engine = require("superpower.engine")

local M = {}

local taps = {} ---@type table<string, fun(event: table)>
local heard = {} ---@type table<string, fun(event: table)[]>
local listening = false

--- Sees each event under a name; nil ends it.
---@param name string
---@param fn fun(event: table)?
function M.tap(name, fn)
  taps[name] = fn
end

--- Hears the events of a type, in the order in which this was called.
---@param type string
---@param fn fun(event: table)
function M.on(type, fn)
  heard[type] = heard[type] or {}
  table.insert(heard[type], fn)
end

---@type table<string, string> the engine's event to the `User` event
M.user = {
  ["run-started"] = "SuperpowerRunStarted",
  ["stage-started"] = "SuperpowerStageStarted",
  ["stage-finished"] = "SuperpowerStageFinished",
  ["gate-opened"] = "SuperpowerGateOpened",
  ["gate-decided"] = "SuperpowerGateDecided",
  ["run-paused"] = "SuperpowerRunPaused",
  ["run-finished"] = "SuperpowerRunFinished",
}

---@param event table
local function fire(event)
  local data = vim.deepcopy(event)
  data.type = nil
  actions.emit(function()
    vim.api.nvim_exec_autocmds("User", { pattern = M.user[event.type], modeline = false, data = data })
  end)
end

--- Tells those who hear of it.
---@param event table
function M.tell(event)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if type(event.superpower) == "string" then
    event.superpower = text.line(event.superpower) -- it may be anybody's
  end
  -- Each on its own: who raises keeps nothing from the others.
  local steps = vim.list_extend({}, heard[event.type] or {})
  table.insert(steps, M.user[event.type] and fire or nil)
  vim.list_extend(steps, vim.tbl_values(taps))
  local problem ---@type string?
  for _, step in ipairs(steps) do
    local fine, trace = xpcall(step, debug.traceback, event)
    problem = problem or (not fine and trace) or nil
  end
  if problem then
    error(problem, 0)
  end
end

--- Listens to the engine. Nothing is loaded for that.
function M.listen()
  if not listening then
    listening = true
    engine.on("*", M.tell)
  end
end

return M
