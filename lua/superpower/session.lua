--- This editor's session with the engine: configures it, and calls it, or asks for what may take time. Its events are
--- handled in `events.lua`.
local requests = require("superpower.requests")
local errors = require("superpower.base.errors")
local configuration = require("superpower.config")
local engine = require("superpower.engine")
local notify = require("superpower.notify")

local M = {}

local configured ---@type superpower.Config?

--- Reports the problems of the configuration once.
local function report_problems()
  local problems = configuration.problems()
  if #problems > 0 then
    notify.warn(table.concat(problems, "\n"))
  end
end

---@return superpower.Error?
local function start()
  local config = configuration.get()
  if configured == config then
    return
  end
  local fields = configuration.for_engine(config)
  fields.headless = notify.headless()
  local _, err = engine.call("configure", { config = fields })
  if err then
    return err
  end
  configured = config
  report_problems()
end

--- Calls an operation of the engine.
---@param op string
---@param fields? table<string, any>
---@return any value, superpower.Error? err
function M.call(op, fields)
  local err = start()
  if err then
    return nil, err
  end
  return engine.call(op, fields or {})
end

--- Asks for what may take time. `callback` gets what `call` would return, on the main loop. Headless, it waits for the
--- answer.
---@param op string
---@param fields table<string, any>
---@param callback fun(value: any, err: superpower.Error?)
function M.ask(op, fields, callback)
  if notify.headless() then
    return callback(M.call(op, fields))
  end
  local err = start()
  if err then
    return callback(nil, err)
  end
  requests.ask(op, fields, callback)
end

--- Returns the project's root for the current buffer.
---@return string? root, superpower.Error? err
function M.project()
  local fields = { cwd = vim.uv.cwd() }
  if not fields.cwd then
    local words = "the working directory no longer exists: use :cd to change to another one"
    return nil, errors.new("no-directory", words)
  end
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype == "" and name ~= "" then
    fields.file = vim.fn.fnamemodify(name, ":p")
  end
  local value, err = M.call("project", fields)
  if err then
    return nil, err
  end
  return value.root
end

return M
