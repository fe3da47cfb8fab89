--- The engine's events. Each goes to the handlers of its type, then to the user's `User` autocommands, then to the
--- taps. Events between windows of this editor use the same way.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local engine = require("superpower.engine")

local M = {}

local taps = {} ---@type table<string, fun(event: table)>
local handlers = {} ---@type table<string, fun(event: table)[]>
local listening = false

--- Adds a tap under a name, which receives every event; nil removes it.
---@param name string
---@param fn fun(event: table)?
function M.tap(name, fn)
  taps[name] = fn
end

--- Adds a handler for a type of event. Handlers are called in the order of this call.
---@param type string
---@param fn fun(event: table)
function M.on(type, fn)
  handlers[type] = handlers[type] or {}
  table.insert(handlers[type], fn)
end

---@type table<string, string> the `User` event for an event of the engine
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

--- Dispatches an event.
---@param event table
function M.emit(event)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if type(event.superpower) == "string" then
    event.superpower = text.line(event.superpower) -- the name comes from a file of the project
  end
  -- Each step is protected: an error in one does not stop the others.
  local steps = vim.list_extend({}, handlers[event.type] or {})
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

--- Starts listening to the engine. This loads nothing.
function M.listen()
  if not listening then
    listening = true
    engine.on("*", M.emit)
  end
end

return M
