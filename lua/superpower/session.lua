--- This editor's session with the engine: configured, and called, or asked for what may take its time. Its events are
--- heard through `events.lua`.
local requests = require("superpower.requests")
local errors = require("superpower.base.errors")
local configuration = require("superpower.config")
local engine = require("superpower.engine")
local notify = require("superpower.notify")

local M = {}

local configured ---@type superpower.Config?

--- Says a fault of the configuration once.
local function say_faults()
  local faults = configuration.faults()
  if #faults > 0 then
    notify.warn(table.concat(faults, "\n"))
  end
end

---@return superpower.Error?
local function start()
  local config = configuration.get()
  if configured == config then
    return
  end
  local told = configuration.for_engine(config)
  told.headless = notify.headless()
  local _, err = engine.call("configure", { config = told })
  if err then
    return err
  end
  configured = config
  say_faults()
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

--- Asks for what may take its time; `callback` gets what `call` would give, from the main loop. Headless, where nothing
--- else goes on, it is waited for.
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

--- The project's root for the current buffer.
---@return string? root, superpower.Error? err
function M.project()
  local fields = { cwd = vim.uv.cwd() }
  if not fields.cwd then
    local words = "the working directory is not there any more: change to one that is, with :cd"
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
